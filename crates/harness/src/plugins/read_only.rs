//! An agent that may look and not touch.

use seamline_seams::{Denial, Scope};

use super::Seams;
use crate::permission::only_reads;

/// Denies every call that does not plainly only read.
///
/// It is a guard, so no policy, approval or permission mode overrules it. A tool that does not
/// declare its [`Effects`](crate::tools::Effects) counts as one that has some, and a shell command
/// passes only where it is known to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOnly;

impl ReadOnly {
    /// The name it registers under.
    pub const NAME: &str = "read-only";

    /// Guards the calls of these seams until `scope` is disposed.
    pub fn install<'a>(self, scope: &Scope, seams: impl Into<Seams<'a>>) {
        let tools = seams.into().tools;
        tools.guards.add(scope, Self::NAME, |call| {
            let reads = only_reads(&call.effects(), call.facts());
            (!reads).then(|| {
                let name = call.name();
                Denial::new(format!(
                    "tool {name:?} may have side effects, and this agent may only read"
                ))
            })
        });
    }
}
