//! `async fn(Event, Next) -> Result<Reply<Decision>, BoxError>`: a waterfall is a stack of these.
//!
//! The first registered is the outermost. Each decides alone, or runs `Next` and passes on or
//! replaces what comes back; at the bottom lies a built-in default. That is one of six ways to
//! let others interfere, and this crate has one container for each. The container's type says
//! what its listeners may do, and what they may not does not compile:
//!
//! | container | one listener is | it cannot |
//! |---|---|---|
//! | [`Waterfall`] policy | `async fn(Event, Next) -> Result<Reply<Decision>, BoxError>` | ask the rest twice, or give another seam's decision |
//! | [`Around`] wrapper | `async fn(Event, Signal, Inner) -> Result<Outcome, BoxError>` | do the work uncancellably, or change what it is |
//! | [`Guards`] invariant | `fn(&Event) -> Option<Denial>` | allow |
//! | [`Answerers`] approval | `async fn(Question, Signal) -> Option<Answer>` | answer twice, or let silence pass for yes |
//! | [`Contributors`] | `async fn(Event) -> Contribution` | block, or veto |
//! | [`Observers`] witness | `fn(&Event)` | affect anything |
//!
//! ```
//! use seamline_seams::*;
//!
//! struct Pre; // asked before a command runs
//! #[derive(Debug, PartialEq)]
//! enum Verdict { Allow, Deny(&'static str) }
//! impl Policy for Pre {
//!     const NAME: &'static str = "shell.pre";
//!     type Event = String;
//!     type Decision = Verdict;
//! }
//! struct Run; // stands around the command while it runs
//! impl Wrap for Run {
//!     const NAME: &'static str = "shell.run";
//!     type Event = String;
//!     type Outcome = Result<String, Fault>;
//! }
//! async fn no_rm(command: String, next: Next<Pre>) -> Result<Reply<Verdict>, BoxError> {
//!     if command.starts_with("rm ") { return Ok(Verdict::Deny("no rm").into()) }
//!     Ok(next.run().await?)
//! }
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let (app, faults) = (Scope::root("app"), FaultLog::new());
//! let (pre, run) = (Waterfall::<Pre>::new(&faults), Around::<Run>::new(&faults));
//! let guards = Guards::<String>::new("shell.guards", &faults);
//! pre.on(&app, "no-rm", no_rm);
//! guards.add(&app, "no-sudo", |it| it.contains("sudo").then(|| Denial::new("no sudo")));
//! run.on(&app, "pass-on", |_, signal, inner| async { Ok(inner.run(signal).await) });
//! let reply = pre.dispatch("rm -r /".into(), |_| async { Verdict::Allow }).await.unwrap();
//! assert_eq!(reply.decision, Verdict::Deny("no rm"));
//! # let ended = run.dispatch("ls".into(), Signal::new(), |ls, _| async { Ok(ls) }).await; assert_eq!(ended.unwrap(), "ls"); assert!(guards.check(&"sudo ls".into()).is_some()); }
//! ```
//!
//! Everything is registered through a [`Scope`], which owns it: disposing the scope returns when
//! nothing of it runs and nothing of it will be called. Whatever goes wrong in a listener is a
//! [`Fault`], recorded once in a [`FaultLog`]. The [`guide`] has a page on each of these.
//!
//! # What it costs
//!
//! A dispatch without listeners allocates nothing. With listeners it is a few allocations each,
//! polled inline on the caller's task: no spawning, no locks held while a listener runs.
//!
//! # What is deliberately absent
//!
//! Priorities (what must win whatever the order is a guard); a map of seams by type (a pipeline's
//! seams are the named fields of a struct); a way to change a policy's event, or to do wrapped work
//! twice, except on seams that say so ([`Rewrites`], [`Repeats`]); any knowledge of tools, agents or hooks.

mod answerers;
mod around;
mod chain;
mod contain;
mod contributors;
mod crew;
mod fault;
mod guards;
pub mod guide;
mod name;
mod observers;
mod reply;
mod scope;
mod table;
mod token;
mod waterfall;

pub use answerers::{Answerers, Asked, Question};
pub use around::{Around, Inner, Repeats, Wrap};
pub use contributors::{Collected, Contributors, Late};
pub use fault::{Fault, FaultKind, FaultLog};
pub use guards::{Denial, Denied, Guards};
pub use name::Name;
pub use observers::Observers;
pub use reply::{Context, Halt, Notice, Reply, Riders, Source, When};
pub use scope::Scope;
pub use table::{Listener, Registration};
pub use token::{Token, TokenMint};
pub use waterfall::{Next, Policy, Rewrites, Waterfall};

/// A cancellation signal: cancelled once, seen by all clones and children.
pub use tokio_util::sync::CancellationToken as Signal;

/// Any error a listener may return.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

#[cfg(not(panic = "unwind"))]
compile_error!(
    "seamline-seams contains a listener's panic by unwinding: set `panic = \"unwind\"` in the \
     profile"
);

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
