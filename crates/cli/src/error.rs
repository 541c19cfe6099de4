//! The one error type. It owns exit codes and hints.
//!
//! A hook that fails, denies or cannot be started is not an error: it is what the command was
//! asked to find out. Errors are what keeps a command from doing its work.

use std::io;
use std::path::PathBuf;

use owo_colors::OwoColorize;
use seamline_hooks::trust::{CodexFileError, TrustError};

use crate::exit;
use crate::render::caret::Pointer;

/// Why a command could not do what it was told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The command line makes no sense.
    #[error("{message}")]
    Usage {
        /// What is wrong, naming the value.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// `HOME` is not set.
    #[error(
        "HOME is not set (or is not an absolute path), so your own configuration cannot be found"
    )]
    NoHome,
    /// A text that should be JSON is not.
    #[error("{0}")]
    BadJson(Box<Pointer>),
    /// seamline's own configuration says what it cannot.
    #[error("{0}")]
    BadConfig(Box<Pointer>),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The trust store cannot be read or written.
    #[error("{0}")]
    Trust(#[from] TrustError),
    /// Something cannot be written.
    #[error("cannot write {what}: {source}")]
    Write {
        /// What.
        what: String,
        /// Why.
        source: io::Error,
    },
    /// A script for the scripted model is not one; the words name file, line and column.
    #[error("{message}")]
    Script {
        /// What is wrong.
        message: String,
    },
    /// Something of our own went wrong: a log that cannot be written, a bug.
    #[error("{message}")]
    Internal {
        /// What.
        message: String,
    },
    /// A session log that cannot be gone on with.
    #[error("{message}")]
    Damaged {
        /// File, line and what is wrong.
        message: String,
    },
    /// A configuration is broken.
    #[error("the hook configuration is broken; nothing was run")]
    Broken {
        /// What is broken.
        findings: Vec<Pointer>,
        /// Whether a managed file is among it.
        managed: bool,
    },
    /// Hooks that would run are not trusted.
    #[error("{}; nothing was run", untrusted_count(.lines.len()))]
    Untrusted {
        /// One line per handler.
        lines: Vec<String>,
    },
}

fn untrusted_count(count: usize) -> String {
    match count {
        1 => "1 hook that would run is not trusted".into(),
        many => format!("{many} hooks that would run are not trusted"),
    }
}

impl CliError {
    /// A usage error without a hint.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            hint: None,
        }
    }

    /// The exit code of the process.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } | Self::NoHome | Self::BadJson(_) | Self::Script { .. } => {
                exit::USAGE
            }
            Self::Trust(TrustError::Codex(CodexFileError::Broken { .. })) => exit::BROKEN,
            Self::Unreadable { .. }
            | Self::Write { .. }
            | Self::Trust(_)
            | Self::Internal { .. } => exit::IO,
            Self::Broken { .. } | Self::BadConfig(_) | Self::Damaged { .. } => exit::BROKEN,
            Self::Untrusted { .. } => exit::UNTRUSTED,
        }
    }

    fn hint(&self) -> Option<&str> {
        match self {
            Self::Usage { hint, .. } => hint.as_deref(),
            Self::NoHome => {
                Some("set HOME; CODEX_HOME, XDG_STATE_HOME and XDG_CONFIG_HOME may point elsewhere")
            }
            Self::Broken { managed: true, .. } => {
                Some("a managed file is broken, which no option lifts: tell whoever manages it")
            }
            Self::Broken { .. } => {
                Some("repair it, or go on without the broken part: --ignore-broken-hooks")
            }
            Self::Damaged { .. } => {
                Some("seamline sessions show ID shows what can be read; nothing was changed")
            }
            Self::Untrusted { .. } => Some(
                "look at them, then: seamline hooks trust --all (or KEY), or --trust-project-hooks for this once",
            ),
            _ => None,
        }
    }

    /// The error as it is printed, several lines long, with colours.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        match self {
            Self::BadJson(pointer) | Self::BadConfig(pointer) => return pointer.render(),
            Self::Broken { findings, .. } => {
                text.extend(findings.iter().map(Pointer::render));
            }
            Self::Untrusted { lines } => {
                for line in lines {
                    text.push_str(&format!("  {line}\n"));
                }
            }
            _ => {}
        }
        text.push_str(&format!("{} {self}\n", "error:".red().bold()));
        if let Some(hint) = self.hint() {
            text.push_str(&format!("{} {hint}\n", "help:".cyan()));
        }
        text
    }
}
