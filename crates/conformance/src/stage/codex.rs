//! Sets up a case of Codex: `$OUT`, `$OUT/proj`, `$OUT/home/.codex` and the texts that hooks put
//! out.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Client, Stage, StageError};
use crate::bench::Bench;
use crate::case::CodexCase;
use crate::pace::{Pace, VARIABLE};

/// The test server, and what `$MCP_SERVER` is.
const SERVER: &str = "mcp_server.py";
const SERVER_TEXT: &str = include_str!("../../fixtures/mcp_server.py");
/// Where a case has the organisation's files.
const SYSTEM: &str = "/etc";

impl Stage {
    /// Sets up `case`.
    ///
    /// # Errors
    /// When a file cannot be written, or the case needs something the runner does not do.
    pub fn codex(case: &CodexCase, bench: &Bench) -> Result<Self, StageError> {
        // The configured timeouts of a discovery row are compared, and nothing in it sleeps.
        let pace = match case.order.is_empty() {
            true => Pace::of(&[&case.hooks_json]),
            false => Pace::of_order(&[&case.hooks_json]),
        };
        let mut stage = Self::new("proj", "home", pace)?;
        stage.name_codex(case);
        stage.client = Client::of(case, &stage.names)?;
        stage.codex_env(case, bench);
        stage.codex_files(case)?;
        stage.hook_texts(case)?;
        Ok(stage)
    }

    /// Codex's own folder.
    #[must_use]
    pub fn codex_home(&self) -> PathBuf {
        self.home.join(".codex")
    }

    /// `$OUT` is no placeholder in configurations: it is a variable of every hook, and a
    /// handler's hash covers the text as it was written.
    fn name_codex(&mut self, case: &CodexCase) {
        let (home, project, codex) = (self.home.clone(), self.project.clone(), self.codex_home());
        let server = self.root.join(SERVER);
        self.name_paths(&[
            ("HOME", &home),
            ("CWD", &project),
            ("CODEX_HOME", &codex),
            ("MCP_SERVER", &server),
        ]);
        let session = self.names.fill("$UUID1");
        for (name, value) in [
            ("SESSION_ID", session.as_str()),
            ("THREAD", session.as_str()),
            ("YYYY", "2026"),
            ("MM", "01"),
            ("DD", "02"),
            ("TS", "2026-01-02T03-04-05"),
            ("T", "0"),
            ("CHUNK", "000000"),
        ] {
            self.names.set(name, value);
        }
        if let Some(start) = &case.start_dir {
            self.start = self.names.fill(start).into();
        }
    }

    fn codex_env(&mut self, case: &CodexCase, bench: &Bench) {
        self.set_env("PATH", bench.path(self.pace.scales()));
        self.set_env("HOME", self.home.clone());
        self.set_env("CODEX_HOME", self.codex_home());
        self.set_env("FAKE_KEY", "x");
        self.set_env("OUT", self.root.clone());
        self.set_env("TMPDIR", self.root.join("tmp"));
        self.set_env("NO_PROXY", "127.0.0.1,localhost");
        self.set_env(VARIABLE, self.pace.word());
        for (name, value) in &case.env {
            self.set_env(name, self.names.fill(value));
        }
    }

    fn codex_files(&self, case: &CodexCase) -> Result<(), StageError> {
        self.write(
            &self.codex_home().join("config.toml"),
            &self.config_toml(case),
        )?;
        if case.files.is_empty() && !case.hooks_json.is_null() {
            let text = json!({"hooks": case.hooks_json}).to_string();
            self.write(&self.codex_home().join("hooks.json"), &text)?;
        }
        for (path, text) in &case.files {
            let path = PathBuf::from(self.here(path));
            if !path.starts_with(&self.root) {
                let why = format!("{} has no folder that a test may choose", path.display());
                return Err(StageError::Unsupported(why));
            }
            self.write(&path, &self.here(text))?;
        }
        if case.git_init {
            self.write(&self.project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
            self.make_folder(&self.project.join(".git/objects"))?;
            self.make_folder(&self.project.join(".git/refs"))?;
        }
        if case.mcp_server.is_some() || case.toml_extra.contains("$MCP_SERVER") {
            self.write(&self.root.join(SERVER), SERVER_TEXT)?;
        }
        self.make_folder(&self.root.join("tmp"))?;
        self.make_folder(&self.start)
    }

    /// A text with the folders of this stage, the organisation's included.
    fn here(&self, text: &str) -> String {
        let codex = self.system.join("codex").display().to_string();
        let filled = self.names.fill(text);
        filled.replace(&format!("{SYSTEM}/codex"), &codex)
    }

    /// A text with the organisation's folder named as in the case.
    #[must_use]
    pub fn there(&self, text: &str) -> String {
        text.replace(&self.system.display().to_string(), SYSTEM)
    }

    fn config_toml(&self, case: &CodexCase) -> String {
        let text = |value: &str| Value::from(value).to_string();
        format!(
            "model = {}\nmodel_provider = \"fake\"\napproval_policy = {}\nsandbox_mode = {}\n{}\n\
             [model_providers.fake]\nname = \"fake\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
             wire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\nrequest_max_retries = 0\n\
             stream_max_retries = 0\n[analytics]\nenabled = false\n{}",
            text(&case.model),
            text(&case.approval),
            text(&case.sandbox),
            self.here(&case.top_extra),
            self.here(&case.toml_extra),
        )
    }

    /// What the handlers of the standard form put out.
    fn hook_texts(&self, case: &CodexCase) -> Result<(), StageError> {
        let folder = self.root.join("h");
        for (texts, kind) in [(&case.hook_stdout, "out"), (&case.hook_stderr, "err")] {
            for (n, text) in texts.iter().enumerate() {
                self.write(&folder.join(format!("{n}.{kind}")), text)?;
            }
        }
        Ok(())
    }

    /// The words that hooks wrote to `$OUT/fired`, in the order written.
    #[must_use]
    pub fn fired_words(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.root.join("fired")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Whether `path`, as a tool was given it, is inside the project and there.
    #[must_use]
    pub fn has_project_file(&self, path: &Path) -> bool {
        self.project.join(path).starts_with(&self.project) && self.project.join(path).exists()
    }
}
