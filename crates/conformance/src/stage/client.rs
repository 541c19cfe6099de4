//! What a Codex client knows beside its files: its flags, the settings of the thread, and whether
//! starting the thread agrees to the project.

use seamline_hooks::config::{FlagError, SessionFlags};

use super::StageError;
use crate::case::CodexCase;
use crate::text::Names;

/// A Codex client.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// Settings of its command line.
    pub flags: SessionFlags,
    /// The same with those of the thread, which it lays over them.
    pub thread: SessionFlags,
    /// Whether starting a thread writes that a project nobody has judged is trusted (measured for
    /// a thread that may do everything).
    pub trusts_on_start: bool,
}

/// Settings of a thread that are none of the configuration.
const SWITCHES: [&str; 1] = ["bypass_hook_trust"];

impl Client {
    pub(super) fn of(case: &CodexCase, names: &Names) -> Result<Self, StageError> {
        let mut flags = SessionFlags::default();
        let words = case.cli_args.iter().map(|word| names.fill(word));
        let mut words = words.flat_map(apart);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_default();
            let given = match word.as_str() {
                "-c" | "--config" => flags.give(&value()),
                "--disable" => flags.give(&format!("features.{}=false", value())),
                "--enable" => flags.give(&format!("features.{}=true", value())),
                // Before `app-server` it has no effect (measured).
                "--dangerously-bypass-hook-trust" => Ok(()),
                other => {
                    let why = format!("the runner does not know the flag {other}");
                    return Err(StageError::Unsupported(why));
                }
            };
            about_hooks(given)?;
        }
        let mut thread = flags.clone();
        for (key, value) in &case.thread_config {
            if !SWITCHES.contains(&key.as_str()) {
                about_hooks(thread.set(key, names.fill_value(value)))?;
            }
        }
        Ok(Self {
            flags,
            thread,
            trusts_on_start: case.sandbox == "danger-full-access",
        })
    }
}

/// `--config=x` and `-cx` as two words.
fn apart(word: String) -> Vec<String> {
    let long = ["--config", "--enable", "--disable"]
        .into_iter()
        .find_map(|flag| Some((flag, word.strip_prefix(flag)?.strip_prefix('=')?)));
    let short = || {
        Some((
            "-c",
            word.strip_prefix("-c").filter(|rest| !rest.is_empty())?,
        ))
    };
    match long.or_else(short) {
        Some((flag, value)) => vec![flag.to_owned(), value.to_owned()],
        None => vec![word],
    }
}

/// Settings about other things change nothing here.
fn about_hooks(given: Result<(), FlagError>) -> Result<(), StageError> {
    match given {
        Ok(()) | Err(FlagError::Foreign(_)) => Ok(()),
        Err(error) => Err(StageError::Unsupported(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn client(case: Value) -> Result<Client, StageError> {
        let case: CodexCase = serde_json::from_value(case).unwrap();
        Client::of(&case, &Names::default())
    }

    /// The thread's settings lie over the flags; what is not about hooks changes nothing.
    #[test]
    fn flags_and_thread_settings_are_told_apart() {
        let found = client(json!({
            "cli_args": ["-chooks.Stop=[]", "--disable", "hooks", "--config=model=\"x\""],
            "thread_config": {"features": {"hooks": true}, "bypass_hook_trust": true},
        }));
        let found = found.unwrap();
        let mut flags = SessionFlags::default();
        flags.give("hooks.Stop=[]").unwrap();
        flags.give("features.hooks=false").unwrap();
        assert_eq!(found.flags, flags);
        flags.give("features={hooks=true}").unwrap();
        assert_eq!(found.thread, flags);
        assert!(found.trusts_on_start);
        assert!(
            !client(json!({"sandbox": "read-only"}))
                .unwrap()
                .trusts_on_start
        );
        assert!(client(json!({"cli_args": ["--frobnicate"]})).is_err());
    }
}
