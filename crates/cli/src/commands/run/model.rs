//! `--model`: who answers.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use seamline_harness::model::Model;
use seamline_harness::model::scripted::{ScriptError, Scripted};

use super::rehearsal::Rehearsal;
use super::scratch::Scratch;
use super::served;
use crate::error::CliError;
use crate::own::Own;
use crate::places::Places;

/// A value of `--model`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ModelName {
    /// `scripted:FILE`.
    Scripted(PathBuf),
    /// `rehearsal`.
    Rehearsal,
    /// `SERVER/MODEL`.
    Served {
        /// A preset, or a name of the configuration.
        server: String,
        /// The model as the server calls it.
        model: String,
    },
}

impl FromStr for ModelName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(file) = text.strip_prefix("scripted:") {
            return match file {
                "" => Err("expected scripted:FILE".into()),
                file => Ok(Self::Scripted(file.into())),
            };
        }
        match text.split_once('/') {
            Some((server, model)) if !server.is_empty() && !model.is_empty() => Ok(Self::Served {
                server: server.to_owned(),
                model: model.to_owned(),
            }),
            None if text == "rehearsal" => Ok(Self::Rehearsal),
            _ => Err(
                "expected SERVER/MODEL (for example ollama/qwen3:8b), scripted:FILE or rehearsal"
                    .into(),
            ),
        }
    }
}

/// A model and where it works.
pub(super) struct Chosen {
    pub(super) model: Arc<dyn Model>,
    pub(super) name: String,
    /// What it is told before everything else.
    pub(super) system: String,
    /// The copy of the project that a rehearsal works in.
    pub(super) scratch: Option<Scratch>,
}

impl Chosen {
    /// The folder the agent works in.
    pub(super) fn project(&self, places: &Places) -> PathBuf {
        self.scratch.as_ref().map_or_else(
            || places.roots.project.clone(),
            |scratch| scratch.path().to_path_buf(),
        )
    }
}

/// The error for a run without a model: it says how to get one.
pub(super) fn none_chosen() -> CliError {
    CliError::Usage {
        message: "no model: say who answers with --model".to_owned(),
        hint: Some(
            "--model rehearsal needs nothing and shows your hooks at work in a copy of this project; \
             --model ollama/MODEL asks a server of yours (or vllm, lmstudio, deepseek, openai); --model \
             scripted:FILE plays a file of answers"
                .to_owned(),
        ),
    }
}

impl ModelName {
    /// `trust_project`: whether the project's part of our configuration counts (never for models).
    pub(super) fn choose(&self, places: &Places, trust_project: bool) -> Result<Chosen, CliError> {
        match self {
            Self::Served { server, model } => {
                let own = Own::read(places, trust_project)?;
                served::served(server, model, &own, places)
            }
            Self::Scripted(file) => scripted(file),
            Self::Rehearsal => {
                let scratch = Scratch::copy(&places.roots.project)?;
                let model = Arc::new(Rehearsal::of(scratch.path()));
                Ok(Chosen {
                    model,
                    name: "rehearsal".to_owned(),
                    system: String::new(),
                    scratch: Some(scratch),
                })
            }
        }
    }
}

fn scripted(file: &Path) -> Result<Chosen, CliError> {
    let model = Scripted::read(file).map_err(|error| match error {
        ScriptError::Io { path, source } => CliError::Unreadable { path, source },
        parse => CliError::Script {
            message: parse.to_string(),
        },
    })?;
    Ok(Chosen {
        model: Arc::new(model),
        name: "scripted".to_owned(),
        system: String::new(),
        scratch: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_or_refused_with_what_there_is() {
        assert_eq!("rehearsal".parse(), Ok(ModelName::Rehearsal));
        assert_eq!(
            "scripted:a.yaml".parse(),
            Ok(ModelName::Scripted("a.yaml".into()))
        );
        for (text, server, model) in [
            ("ollama/qwen3:8b", "ollama", "qwen3:8b"),
            ("vllm/Qwen/Qwen3-8B", "vllm", "Qwen/Qwen3-8B"),
        ] {
            let (server, model) = (server.to_owned(), model.to_owned());
            assert_eq!(text.parse(), Ok(ModelName::Served { server, model }));
        }
        for wrong in ["", "scripted:", "scripted", "ollama/", "/x", "rehearsal:x"] {
            let error = wrong.parse::<ModelName>().unwrap_err();
            assert!(error.contains("scripted:FILE"), "{wrong}: {error}");
        }
    }
}
