//! Finds the session that somebody means.

use std::path::PathBuf;
use std::time::SystemTime;

use seamline_harness::session::{Place, Session, SessionId};
use seamline_hooks::config::nearest;

use crate::commands::run::internal;
use crate::error::CliError;
use crate::places::Places;

/// How many sessions a hint names.
const NAMED: usize = 3;

/// The project's sessions on the disk.
pub(crate) fn place(places: &Places) -> Place {
    Place::new(&places.state, &places.roots.project)
}

/// The sessions of the project, the one that was written last first.
pub(crate) fn by_use(places: &Places) -> Result<Vec<SessionId>, CliError> {
    let place = place(places);
    let written = |id: SessionId| {
        let log = std::fs::metadata(place.log(id)).and_then(|log| log.modified());
        (log.unwrap_or(SystemTime::UNIX_EPOCH), id)
    };
    let ids = place.sessions().map_err(internal)?;
    let mut sessions: Vec<_> = ids.into_iter().map(written).collect();
    sessions.sort_unstable();
    Ok(sessions.into_iter().rev().map(|(_, id)| id).collect())
}

/// The session of the project that was used last.
pub(crate) fn latest(places: &Places) -> Result<SessionId, CliError> {
    by_use(places)?
        .first()
        .copied()
        .ok_or_else(|| CliError::Usage {
            message: "there is no session of this project yet".to_owned(),
            hint: Some("sessions belong to the folder they began in; -C names another".to_owned()),
        })
}

/// The session of the project whose id is `wanted` or begins with it; `latest` is the one used last.
pub(crate) fn find(wanted: &str, places: &Places) -> Result<SessionId, CliError> {
    if wanted == "latest" {
        return latest(places);
    }
    let sessions = by_use(places)?;
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
    let ids: Vec<String> = sessions.iter().map(ToString::to_string).collect();
    let known = ids.iter().map(String::as_str).chain(["latest"]);
    let hint = match (elsewhere(wanted, places), nearest(wanted, known)) {
        (Some(project), _) => format!(
            "it belongs to {}: name that folder with -C",
            project.display()
        ),
        (None, Some(meant)) => format!("did you mean {meant}?"),
        (None, None) if ids.is_empty() => {
            "this project has none; sessions belong to the folder they began in".to_owned()
        }
        (None, None) => {
            let last: Vec<&str> = ids.iter().take(NAMED).map(String::as_str).collect();
            format!("the last used are {}", last.join(", "))
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
