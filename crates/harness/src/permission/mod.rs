//! Permission: whether a call that no policy objected to needs a person's yes.
//!
//! This is one step of the pipeline, not a listener, so its place in the order cannot change:
//!
//! * a policy that says *ask* always asks, in every mode;
//! * `pre_approved` and the modes only answer the question whether *the mode* would ask;
//! * what must never run is a guard (`tools.guards`), which comes later and which nothing here
//!   can overrule.
//!
//! The files a call touches are compared after symbolic links are resolved, so a link inside the
//! project does not make what it points to part of the project.

mod cases;
mod command;
mod mode;
mod paths;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use cases::cases;
pub use mode::{Mode, UnknownMode};
pub use paths::leads_to;

use crate::facts::Facts;
use crate::tools::{Effects, Proposal};

/// A change to the permissions of the rest of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// Another mode.
    SetMode(Mode),
    /// Calls of this tool need no yes any more.
    AllowTool(String),
}

/// The permissions of one session. Clones are the same permissions.
#[derive(Debug, Clone, Default)]
pub struct Permission(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    mode: Mode,
    allowed: BTreeSet<String>,
}

/// What the mode says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person must say yes.
    Ask,
    /// It may not run; the reason is for the model.
    Deny(String),
}

impl Permission {
    /// Permissions in the given mode.
    pub fn new(mode: Mode) -> Self {
        Self(Arc::new(Mutex::new(State {
            mode,
            allowed: BTreeSet::new(),
        })))
    }

    /// The mode in force.
    pub fn mode(&self) -> Mode {
        self.state().mode
    }

    /// Changes something for the rest of the session.
    pub fn apply(&self, update: Update) {
        match update {
            Update::SetMode(mode) => self.state().mode = mode,
            Update::AllowTool(name) => {
                self.state().allowed.insert(name);
            }
        }
    }

    /// What the mode says about a call, and about nothing else: policies and guards are not
    /// consulted here. `pre_approved` is a yes to what the mode would ask, no more: `plan` still
    /// refuses.
    pub fn judge(&self, proposal: &Proposal, pre_approved: bool) -> Verdict {
        let (mode, allowed) = {
            let state = self.state();
            (state.mode, state.allowed.contains(proposal.name()))
        };
        let free = is_free(proposal, mode);
        match mode {
            Mode::BypassPermissions => Verdict::Allow,
            Mode::Plan if !free => Verdict::Deny(format!(
                "tool {:?} has side effects, and the permission mode is plan",
                proposal.name()
            )),
            _ if free || allowed || pre_approved => Verdict::Allow,
            Mode::DontAsk => Verdict::Deny(format!(
                "tool {:?} needs approval, and the permission mode is dontAsk",
                proposal.name()
            )),
            _ => Verdict::Ask,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a call with these effects plainly changes nothing. Reading files outside the project
/// counts as reading; a shell command has to be one that is known to read, and inside it.
pub fn only_reads(effects: &Effects, facts: &Facts) -> bool {
    match effects {
        Effects::Reads(_) => true,
        Effects::Command(command) => command::is_read_only(command, &facts.cwd, &facts.project),
        Effects::Writes(_) | Effects::Unknown => false,
    }
}

/// Whether a mode lets a call run without a yes.
fn is_free(proposal: &Proposal, mode: Mode) -> bool {
    let Facts { project, cwd, .. } = proposal.facts();
    let inside = |paths: &[PathBuf]| paths.iter().all(|path| paths::is_inside(path, project));
    match proposal.effects() {
        Effects::Reads(paths) => inside(&paths),
        Effects::Writes(paths) => mode == Mode::AcceptEdits && inside(&paths),
        Effects::Command(command) => command::is_read_only(&command, cwd, project),
        Effects::Unknown => false,
    }
}
