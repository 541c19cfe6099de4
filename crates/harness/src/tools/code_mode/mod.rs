//! Programs that call tools.
//!
//! With `run_code` the model writes a JavaScript program instead of calling tools one by one. In it
//! every tool is an async function; what the program returns is what the model is shown. Each call
//! is a nested call: it goes through the whole pipeline, so that policies, guards and hooks gate it
//! as if the model had made it, and the log keeps it.
//!
//! ```js
//! const found = await tools.Grep({ pattern: "TODO", output_mode: "files_with_matches" });
//! const texts = await Promise.all(found.filenames.map((file) => tools.Read({ file_path: file })));
//! return texts.length;
//! ```
//!
//! A program has no files, no network, no modules and no timers, and limits on memory, depth and the
//! time it computes (`Limits`); waiting for tools does not count. A call that fails or is denied
//! rejects with the error's text. The run has its result when every call it made has one.

#[cfg(feature = "code-mode")]
mod engine;
#[cfg(feature = "code-mode")]
mod tool;

use std::sync::Arc;
#[cfg(feature = "code-mode")]
use std::sync::OnceLock;

#[cfg(feature = "code-mode")]
pub use engine::Limits;

use super::call::Proposal;
use super::code;
use super::outcome::Outcome;
use super::registry::{Registered, Registry};
use crate::model::ToolSpec;

/// The name of the tool that runs programs. No other tool can have it.
pub const RUN_CODE: &str = "run_code";

/// Whether programs may call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CodeMode {
    /// There is no `run_code`.
    #[default]
    Off,
    /// `run_code` stands beside the other tools.
    #[cfg(feature = "code-mode")]
    Beside,
    /// The model is told of `run_code` alone, and reaches the other tools from programs only.
    #[cfg(feature = "code-mode")]
    Only,
}

impl CodeMode {
    /// What the model is told it may call.
    pub(super) fn specs(self, registry: &Registry) -> Vec<ToolSpec> {
        match self {
            Self::Off => registry.specs(),
            #[cfg(feature = "code-mode")]
            Self::Beside => {
                let mut specs = registry.specs();
                specs.push(tool::spec(&specs));
                specs
            }
            #[cfg(feature = "code-mode")]
            Self::Only => vec![tool::spec(&registry.specs())],
        }
    }

    /// The tool of a call. Programs cannot run programs.
    #[cfg_attr(
        not(feature = "code-mode"),
        expect(unused_variables, reason = "without programs no call is nested in one")
    )]
    pub(super) fn find(
        self,
        registry: &Registry,
        name: &str,
        nested: bool,
    ) -> Option<Arc<Registered>> {
        match self {
            #[cfg(feature = "code-mode")]
            Self::Beside | Self::Only if name == RUN_CODE && !nested => run_code(),
            #[cfg(feature = "code-mode")]
            Self::Only if !nested => None,
            _ => registry.get(name),
        }
    }

    /// What becomes of a call that only a program may make, before any policy is asked.
    pub(super) fn refuses(self, proposal: &Proposal) -> Option<Outcome> {
        let only = match self {
            #[cfg(feature = "code-mode")]
            Self::Only => true,
            _ => false,
        };
        let name = proposal.name();
        (only && proposal.parent().is_none() && name != RUN_CODE).then(|| {
            Outcome::failed(
                format!(
                    "unknown tool {name:?}: only `run_code` is callable directly — call `{name}` \
                     from inside a `run_code` program instead"
                ),
                Some(code::UNKNOWN_TOOL),
            )
        })
    }
}

#[cfg(feature = "code-mode")]
fn run_code() -> Option<Arc<Registered>> {
    static RUN_CODE: OnceLock<Option<Arc<Registered>>> = OnceLock::new();
    let make = || Registered::new(Arc::new(tool::RunCode)).ok().map(Arc::new);
    RUN_CODE.get_or_init(make).clone()
}
