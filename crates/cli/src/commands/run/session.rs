//! The session of a run: a new one, or one that goes on.

use std::path::Path;

use clap::Args;
use seamline_harness::agent::{Agent, TurnOutcome};
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::session::{
    Event, ForkError, Loaded, Place, Session, SessionError, SessionId,
};

use super::{RunArgs, internal};
use crate::commands::sessions::find;
use crate::error::CliError;
use crate::places::Places;
use crate::render::visible;

/// Where a run begins.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Begin {
    /// Go on with this session of the project: its id, the beginning of it, or `latest`.
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// Go on with the session of the project that was used last.
    #[arg(long = "continue", id = "continue")]
    latest: bool,
    /// Begin a new session with the past of this one, up to its end or to the end of turn TURN.
    #[arg(long, value_name = "ID[@TURN]")]
    fork: Option<String>,
}

/// A session that is ready to go on.
pub(super) struct Begun {
    pub(super) session: Session,
    /// What the user should know about its log.
    pub(super) notes: Vec<String>,
}

/// Opens or makes the session that the command line asks for.
pub(super) fn begin(args: &RunArgs, places: &Places, project: &Path) -> Result<Begun, CliError> {
    let begin = &args.begin;
    let goes_on = begin.latest || begin.resume.is_some() || begin.fork.is_some();
    if goes_on && project != places.roots.project {
        return Err(CliError::usage(
            "a rehearsal works in a copy of the project and can only begin a session of its own",
        ));
    }
    if args.prompt.is_none() && !goes_on {
        return Err(no_prompt());
    }
    let begun = match (&begin.resume, &begin.fork, begin.latest) {
        (Some(id), ..) => resume(find::find(id, places)?, places)?,
        (_, _, true) => resume(find::latest(places)?, places)?,
        (_, Some(wanted), _) => fork(wanted, places)?,
        _ if args.ephemeral => Begun::new(Session::ephemeral(project)),
        _ => Begun::new(Session::create(&Place::new(&places.state, project)).map_err(internal)?),
    };
    if args.prompt.is_none() && !begun.put_a_call_off() {
        return Err(no_prompt());
    }
    Ok(begun)
}

fn no_prompt() -> CliError {
    CliError::Usage {
        message: "there is no prompt, and no call that was put off to take up".to_owned(),
        hint: Some("write the prompt behind the options".to_owned()),
    }
}

fn resume(id: SessionId, places: &Places) -> Result<Begun, CliError> {
    let log = find::place(places).log(id);
    let Loaded {
        session,
        torn_bytes,
        repaired_turn,
    } = Session::load(&log).map_err(refused)?;
    let mut begun = Begun::new(session);
    if torn_bytes > 0 {
        let note =
            format!("the last line of the log was cut off and is dropped ({torn_bytes} bytes)");
        begun.notes.push(note);
    }
    if let Some(turn) = repaired_turn {
        let note = format!("turn {turn} was not ended when its process was; it is closed now");
        begun.notes.push(note);
    }
    Ok(begun)
}

fn fork(wanted: &str, places: &Places) -> Result<Begun, CliError> {
    let (id, turn) = match wanted.split_once('@') {
        None => (wanted, None),
        Some((id, turn)) => {
            let number = turn.parse().map_err(|_| {
                CliError::usage(format!("--fork {wanted}: {turn:?} is no number of a turn"))
            })?;
            (id, Some(number))
        }
    };
    let place = find::place(places);
    let log = place.log(find::find(id, places)?);
    let session = Session::fork(&log, &place, turn).map_err(|error| match error {
        ForkError::Log(error) => refused(error),
        no_boundary => CliError::usage(no_boundary.to_string()),
    })?;
    Ok(Begun::new(session))
}

/// Why a log cannot be gone on with. One that is damaged can be looked at.
fn refused(error: SessionError) -> CliError {
    match error {
        SessionError::Corrupt { .. } | SessionError::Format { .. } => CliError::Damaged {
            message: visible(&error.to_string()),
        },
        error => internal(error),
    }
}

impl Begun {
    fn new(session: Session) -> Self {
        let notes = Vec::new();
        Self { session, notes }
    }

    /// Whether the last turn put a call off that nobody took up.
    fn put_a_call_off(&self) -> bool {
        let entries = self.session.entries();
        let end = entries.iter().rev().find_map(|entry| match &entry.event {
            Event::TurnEnd(end) => Some(matches!(end.reason, TurnEndReason::Deferred { .. })),
            _ => None,
        });
        end.unwrap_or(false)
    }

    /// One turn: of the prompt, or of the call that was put off.
    pub(super) async fn play(&self, agent: &Agent, prompt: Option<&str>) -> TurnOutcome {
        match prompt {
            Some(prompt) => agent.send(prompt).await,
            None => match agent.resume() {
                Some(resumed) => resumed.await,
                None => agent.send("").await,
            },
        }
    }
}
