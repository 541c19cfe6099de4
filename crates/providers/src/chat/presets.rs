//! Where the usual servers listen, and where their keys are looked for.

use std::time::Duration;

use super::Options;

/// How long nothing may come of an answer, unless it is configured. A local server may have to load
/// the model and read a long conversation first.
pub const IDLE: Duration = Duration::from_secs(300);

/// One known server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preset {
    /// What it is called in `--model NAME/MODEL`.
    pub name: &'static str,
    /// Everything before `/chat/completions`.
    pub base_url: &'static str,
    /// The variable that holds the key.
    pub key_env: Option<&'static str>,
    start: Option<&'static str>,
    pull: Option<&'static str>,
    echo_reasoning: bool,
}

/// All of them.
pub const PRESETS: &[Preset] = &[
    local(
        "ollama",
        "http://127.0.0.1:11434/v1",
        "ollama serve",
        Some("ollama pull MODEL"),
    ),
    local("vllm", "http://127.0.0.1:8000/v1", "vllm serve MODEL", None),
    local(
        "lmstudio",
        "http://127.0.0.1:1234/v1",
        "lms server start",
        Some("lms get MODEL"),
    ),
    Preset {
        echo_reasoning: true,
        ..remote(
            "deepseek",
            "https://api.deepseek.com/v1",
            "DEEPSEEK_API_KEY",
        )
    },
    remote("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
];

const fn local(
    name: &'static str,
    base_url: &'static str,
    start: &'static str,
    pull: Option<&'static str>,
) -> Preset {
    Preset {
        name,
        base_url,
        key_env: None,
        start: Some(start),
        pull,
        echo_reasoning: false,
    }
}

const fn remote(name: &'static str, base_url: &'static str, key_env: &'static str) -> Preset {
    Preset {
        name,
        base_url,
        key_env: Some(key_env),
        start: None,
        pull: None,
        echo_reasoning: false,
    }
}

impl Preset {
    /// The preset of this name.
    pub fn named(name: &str) -> Option<Self> {
        PRESETS.iter().copied().find(|preset| preset.name == name)
    }

    /// Its options, without a key.
    pub fn options(&self) -> Options {
        Options {
            start: self.start.map(str::to_owned),
            pull: self.pull.map(str::to_owned),
            echo_reasoning: self.echo_reasoning,
            ..Options::new(self.name, self.base_url)
        }
    }
}
