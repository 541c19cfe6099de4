//! `async fn(Event, Next) -> Result<Reply<Decision>, BoxError>`: a waterfall is a stack of these.

mod answerers;
mod around;
mod chain;
mod contain;
mod contributors;
mod crew;
mod fault;
mod guards;
mod name;
mod observers;
mod reply;
mod scope;
mod table;
mod token;
mod waterfall;

pub use answerers::{Answerers, Asked, Question};
pub use around::{Around, Inner, Wrap};
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

pub use tokio_util::sync::CancellationToken as Signal;

/// Any error a listener may return.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
