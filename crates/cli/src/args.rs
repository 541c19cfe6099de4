//! The command line, as far as commands share it.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, ValueEnum};
use seamline_hooks::config::{FlagError, SessionFlags};
use seamline_hooks::{DialectId, Profile};

use crate::commands::Command;
use crate::error::CliError;

/// Runs and explains the hooks of Claude Code and Codex.
#[derive(Debug, Parser)]
#[command(
    name = "seamline",
    version,
    max_term_width = 100,
    infer_subcommands = false
)]
pub(crate) struct Cli {
    /// The project folder, instead of the current one.
    #[arg(short = 'C', global = true, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// A protocol by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectName {
    /// Claude Code: `.claude/settings.json` and its layers.
    Claude,
    /// Codex: `.codex/hooks.json`, `config.toml` and their layers.
    Codex,
}

impl From<DialectName> for DialectId {
    fn from(name: DialectName) -> Self {
        match name {
            DialectName::Claude => Self::Claude,
            DialectName::Codex => Self::Codex,
        }
    }
}

/// Which configuration a command is about.
#[derive(Debug, Clone, Args)]
pub(crate) struct Selection {
    /// Only this protocol; without it, each that has a configuration.
    #[arg(long, value_enum, value_name = "NAME")]
    pub dialect: Option<DialectName>,
    /// Read FILE instead of the user's and the project's files (managed ones still count). Without
    /// --dialect, `codex` or `claude` in its name decides which protocol it speaks, then a folder
    /// `.codex` or `.claude` around it, then `.toml`.
    #[arg(long, value_name = "FILE")]
    pub hooks_config: Option<PathBuf>,
    /// By which description of the protocols hooks are read and run.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = ProfileName::Measured)]
    pub profile: ProfileName,
    #[command(flatten)]
    pub settings: Settings,
}

/// Codex settings for this once.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Settings {
    /// Set a Codex setting for this once, as its own `-c` does: hooks.*, features.*, projects.*. VALUE is
    /// TOML or else text.
    #[arg(short = 'c', long = "codex-config", value_name = "KEY=VALUE", value_parser = setting)]
    pub codex_config: Vec<String>,
}

impl Settings {
    /// As the loader takes them.
    pub(crate) fn flags(&self) -> Result<SessionFlags, CliError> {
        let mut flags = SessionFlags::default();
        for text in &self.codex_config {
            let given = flags.give(text);
            given.map_err(|error| CliError::usage(format!("-c {text}: {error}")))?;
        }
        Ok(flags)
    }
}

fn setting(text: &str) -> Result<String, FlagError> {
    SessionFlags::default().give(text).map(|()| text.to_owned())
}

/// A value of `--profile`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// As the newest clients were measured to behave.
    Measured,
    /// As seamline's commission describes them: Codex matchers are always regular expressions,
    /// `timeoutSec` is heard, output is read leniently, reasons are joined.
    Seeds,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Measured => Self::Measured,
            ProfileName::Seeds => Self::Seeds,
        }
    }
}

impl Selection {
    /// The protocols that are asked for by name or by the name of the file; empty when the command
    /// line leaves it open.
    pub(crate) fn named(&self) -> Option<DialectId> {
        self.dialect
            .map(Into::into)
            .or_else(|| self.hooks_config.as_deref().map(spoken_by))
    }
}

/// The protocol that a configuration file speaks, from its path alone: its name decides where that
/// says `codex` or `claude`, then the nearest folder `.codex` or `.claude`, then the ending; otherwise it
/// is Claude's. What other folders are called says nothing.
fn spoken_by(file: &Path) -> DialectId {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    match (name.contains("codex"), name.contains("claude")) {
        (true, false) => return DialectId::Codex,
        (false, true) => return DialectId::Claude,
        _ => {}
    }
    for folder in file.components().rev() {
        match folder.as_os_str().to_str() {
            Some(".codex") => return DialectId::Codex,
            Some(".claude") => return DialectId::Claude,
            _ => {}
        }
    }
    if file.extension().is_some_and(|end| end == "toml") {
        DialectId::Codex
    } else {
        DialectId::Claude
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_says_which_protocol_a_file_speaks() {
        for (path, dialect) in [
            (".codex/hooks.json", DialectId::Codex),
            (".claude/settings.json", DialectId::Claude),
            ("codex-notes/.claude/settings.json", DialectId::Claude),
            ("codex/hooks.json", DialectId::Claude),
            ("claude/a.toml", DialectId::Codex),
            ("fixtures/11-codex-shared.json", DialectId::Codex),
            ("some/config.toml", DialectId::Codex),
            ("hooks/hooks.json", DialectId::Claude),
        ] {
            assert_eq!(spoken_by(Path::new(path)), dialect, "{path}");
        }
    }
}
