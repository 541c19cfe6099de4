//! Sets up a case of Claude Code: `$CASE/cwd`, `$CASE/home`, settings and the recorder's orders.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

use super::{Stage, StageError};
use crate::bench::Bench;
use crate::case::ClaudeCase;
use crate::pace::{Pace, VARIABLE};
use crate::rec::NOTES;

/// The project's settings file, below the project folder.
const SETTINGS: &str = ".claude/settings.json";

impl Stage {
    /// Sets up `case`.
    ///
    /// # Errors
    /// When a file cannot be written, or the case needs something the runner does not do.
    pub fn claude(case: &ClaudeCase, bench: &Bench) -> Result<Self, StageError> {
        let behave = Value::Object(case.behave.clone());
        let files = json!([case.files, case.home_files]);
        let pace = Pace::of(&[&behave, &case.hooks_config, &files]);
        let mut stage = Self::new("cwd", "home", pace)?;
        stage.name_claude(case, bench);
        stage.claude_env(case, bench);
        stage.claude_files(case)?;
        stage.set_behaviour(&case.behave)?;
        stage.set_up(case)?;
        Ok(stage)
    }

    /// Writes what the recorders do from here on.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_behaviour(&self, behave: &Map<String, Value>) -> Result<(), StageError> {
        let behave = self.names.fill_value(&Value::Object(behave.clone()));
        self.write(&self.root.join("behave.json"), &behave.to_string())
    }

    fn name_claude(&mut self, case: &ClaudeCase, bench: &Bench) {
        let (root, home, project) = (self.root.clone(), self.home.clone(), self.project.clone());
        let elsewhere = root.join("elsewhere");
        let tmp = root.join("tmp");
        self.name_paths(&[
            ("CASE", &root),
            ("HOME", &home),
            ("CWD", &project),
            ("REC", &bench.recorder()),
            ("ORACLE", &elsewhere),
            ("CLAUDE_TMP", &tmp),
            ("USERHOME", &home),
            ("MCP_SERVER", &root.join("mcp_server")),
            ("CC_SOCK", &tmp.join("sock")),
        ]);
        let slug = project.display().to_string();
        let slug = slug.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        self.names.set("CWD_SLUG", slug);
        for (name, uuid) in [("SESSION_ID", "$UUID_900001"), ("AGENT_ID", "$UUID_900002")] {
            let value = self.names.fill(uuid);
            self.names.set(name, value);
        }
        self.names.set("TIMESTAMP", "2026-01-01T00:00:00.000Z");
        self.names.set("HOSTNAME", "localhost");
        // Refused, until a test server runs.
        self.names.set("PORT", "9");
        if let Some(start) = &case.start_dir {
            self.start = self.names.fill(start).into();
        }
    }

    fn claude_env(&mut self, case: &ClaudeCase, bench: &Bench) {
        self.set_env("PATH", bench.path(self.pace.scales()));
        self.set_env("HOME", self.home.clone());
        self.set_env("CASE_DIR", self.root.clone());
        self.set_env(VARIABLE, self.pace.word());
        for (name, value) in [
            ("TERM", "xterm-256color"),
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"),
            ("ANTHROPIC_API_KEY", "sk-fake"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("IS_SANDBOX", "1"),
        ] {
            self.set_env(name, value);
        }
        for (name, value) in &case.env {
            self.set_env(name, self.names.fill(value));
        }
    }

    fn claude_files(&self, case: &ClaudeCase) -> Result<(), StageError> {
        if let Some(managed) = &case.managed_settings {
            return Err(StageError::Unsupported(format!(
                "managed settings have no folder that a test may choose: {managed}"
            )));
        }
        if !case.files.contains_key(SETTINGS)
            && let Some(text) = settings(case)
        {
            self.write(
                &self.project.join(SETTINGS),
                &self.names.fill_value(&text).to_string(),
            )?;
        }
        for (folder, files) in [(&self.project, &case.files), (&self.home, &case.home_files)] {
            for (path, text) in files {
                self.write(&folder.join(self.names.fill(path)), &self.names.fill(text))?;
            }
        }
        for folder in [
            NOTES,
            "tmp",
            "elsewhere/bin",
            "elsewhere/tmp",
            "elsewhere/logs",
        ] {
            self.make_folder(&self.root.join(folder))?;
        }
        self.make_folder(&self.start)
    }

    /// Runs the commands that come before the client's start.
    fn set_up(&self, case: &ClaudeCase) -> Result<(), StageError> {
        for text in &case.setup_commands {
            let (command, folder) = command_and_folder(text);
            let folder = folder.map_or_else(|| self.project.clone(), |f| self.names.fill(f).into());
            run(&self.names.fill(command), &folder)?;
        }
        Ok(())
    }
}

/// The project's settings: `hooks` and the other keys, or none at all.
fn settings(case: &ClaudeCase) -> Option<Value> {
    let has_hooks = match &case.hooks_config {
        Value::Null => false,
        Value::Object(map) => !map.is_empty(),
        _ => true,
    };
    if !has_hooks && case.settings_other.is_empty() {
        return None;
    }
    let mut map = Map::new();
    if !case.hooks_config.is_null() {
        map.insert("hooks".to_owned(), case.hooks_config.clone());
    }
    map.extend(case.settings_other.clone());
    Some(Value::Object(map))
}

/// Splits `COMMAND (in FOLDER)`.
fn command_and_folder(text: &str) -> (&str, Option<&str>) {
    let split = text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once(" (in "));
    split.map_or((text, None), |(command, folder)| (command, Some(folder)))
}

fn run(command: &str, folder: &Path) -> Result<(), StageError> {
    let status = Command::new("/bin/sh")
        .arg("-c")
        .arg(command)
        .current_dir(folder)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(StageError::Unsupported(format!(
            "setup `{command}`: {status}"
        ))),
        Err(source) => Err(StageError::Io {
            path: folder.to_owned(),
            source,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setup_command_may_name_its_folder() {
        assert_eq!(
            command_and_folder("git init -q . (in $CWD)"),
            ("git init -q .", Some("$CWD"))
        );
        assert_eq!(command_and_folder("true"), ("true", None));
    }

    #[test]
    fn settings_are_written_only_when_there_are_some() {
        let mut case = ClaudeCase::default();
        assert_eq!(settings(&case), None);
        case.hooks_config = json!({});
        assert_eq!(settings(&case), None);
        case.settings_other.insert("env".into(), json!({}));
        assert_eq!(settings(&case), Some(json!({"hooks": {}, "env": {}})));
        case.hooks_config = json!("x");
        assert_eq!(settings(&case), Some(json!({"hooks": "x", "env": {}})));
    }
}
