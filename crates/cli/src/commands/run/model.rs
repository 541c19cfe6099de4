//! `--model`: who answers.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use seamline_harness::model::Model;
use seamline_harness::model::scripted::{ScriptError, Scripted};

use super::rehearsal::Rehearsal;
use super::scratch::Scratch;
use crate::error::CliError;
use crate::places::Places;

/// A value of `--model`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ModelName {
    /// `scripted:FILE`.
    Scripted(PathBuf),
    /// `rehearsal`.
    Rehearsal,
}

impl FromStr for ModelName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("scripted", "")) => Err("expected scripted:FILE".into()),
            Some(("scripted", file)) => Ok(Self::Scripted(file.into())),
            None if text == "rehearsal" => Ok(Self::Rehearsal),
            _ => Err(
                "expected scripted:FILE or rehearsal (models over HTTP are not built in yet)"
                    .into(),
            ),
        }
    }
}

/// A model and where it works.
pub(super) struct Chosen {
    pub(super) model: Arc<dyn Model>,
    pub(super) name: String,
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
             --model scripted:FILE plays a file of answers; models over HTTP are not built in yet"
                .to_owned(),
        ),
    }
}

impl ModelName {
    pub(super) fn choose(&self, places: &Places) -> Result<Chosen, CliError> {
        match self {
            Self::Scripted(file) => scripted(file),
            Self::Rehearsal => {
                let scratch = Scratch::copy(&places.roots.project)?;
                let model = Arc::new(Rehearsal::of(scratch.path()));
                Ok(Chosen {
                    model,
                    name: "rehearsal".to_owned(),
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
        for wrong in ["", "scripted:", "scripted", "ollama/x", "rehearsal:x"] {
            let error = wrong.parse::<ModelName>().unwrap_err();
            assert!(error.contains("scripted:FILE"), "{wrong}: {error}");
        }
    }
}
