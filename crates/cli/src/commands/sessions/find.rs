//! Finds the session that somebody means.

use std::path::PathBuf;

use seamline_harness::session::{Place, Session, SessionId};

use crate::commands::run::internal;
use crate::error::CliError;
use crate::places::Places;

/// How many sessions a hint names.
const NAMED: usize = 3;

/// The project's sessions on the disk.
pub(crate) fn place(places: &Places) -> Place {
    Place::new(&places.state, &places.roots.project)
}

/// The newest session of the project.
pub(crate) fn newest(places: &Places) -> Result<SessionId, CliError> {
    let sessions = place(places).sessions().map_err(internal)?;
    sessions.first().copied().ok_or_else(|| CliError::Usage {
        message: "there is no session of this project yet".to_owned(),
        hint: Some("sessions belong to the folder they began in; -C names another".to_owned()),
    })
}

/// The session of the project whose id is `wanted` or begins with it; `latest` is the newest.
pub(crate) fn find(wanted: &str, places: &Places) -> Result<SessionId, CliError> {
    if wanted == "latest" {
        return newest(places);
    }
    let sessions = place(places).sessions().map_err(internal)?;
    let mut fits = sessions
        .iter()
        .filter(|id| !wanted.is_empty() && id.to_string().starts_with(wanted));
    match (fits.next(), fits.next()) {
        (Some(one), None) => Ok(*one),
        (Some(_), Some(_)) => Err(CliError::Usage {
            message: format!("several sessions begin with {wanted:?}"),
            hint: Some("write more of the id".to_owned()),
        }),
        (None, _) => Err(unknown(wanted, &sessions, places)),
    }
}

fn unknown(wanted: &str, sessions: &[SessionId], places: &Places) -> CliError {
    let hint = match elsewhere(wanted, places) {
        Some(project) => format!(
            "it belongs to {}: name that folder with -C",
            project.display()
        ),
        None if sessions.is_empty() => {
            "this project has none; sessions belong to the folder they began in".to_owned()
        }
        None => {
            let newest: Vec<_> = sessions
                .iter()
                .take(NAMED)
                .map(ToString::to_string)
                .collect();
            format!("the newest are {}", newest.join(", "))
        }
    };
    CliError::Usage {
        message: format!("there is no session {wanted:?} of this project"),
        hint: Some(hint),
    }
}

/// The project of a session with exactly this id.
fn elsewhere(wanted: &str, places: &Places) -> Option<PathBuf> {
    let id: SessionId = wanted.parse().ok()?;
    let projects = std::fs::read_dir(places.state.join("sessions")).ok()?;
    let logs = projects
        .flatten()
        .map(|project| project.path().join(id.to_string()).join("log.jsonl"));
    let log = logs.into_iter().find(|log| log.exists())?;
    Session::read(&log).ok()?.project
}
