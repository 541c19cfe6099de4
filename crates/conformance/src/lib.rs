//! Plays measured cases against the engine and compares.
//!
//! A *case* is one line of a case file: a hook configuration, what its hooks put out and how they
//! exited, and what a real client was seen to do. The runner sets the case up on disk
//! ([`stage`]), fires its moments ([`moments`]) at a [`level`], and [`compare`]s what it saw with
//! what the case expects. It builds inputs and compares; it computes no outcome of its own and
//! knows no case by its name.
//!
//! ```text
//! case file -> Row -> Stage on disk -> engine level: moments -> engine  -> Observed -> compare -> report
//!                                  -> turn level:   harness + bridge ->
//! ```
//!
//! Hooks of a measured configuration call a recorder; ours is this program under another name
//! ([`rec`]).

pub mod bench;
pub mod case;
pub mod cli;
pub mod compare;
pub mod contract;
pub mod documented;
pub mod json;
pub mod level;
pub mod moments;
pub mod observed;
pub mod pace;
pub mod play;
pub mod rec;
pub mod report;
pub mod rounds;
pub mod stage;
pub mod text;
