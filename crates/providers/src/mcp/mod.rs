//! MCP servers as processes that speak on standard input and output.
//!
//! [`config`] reads which servers there are, [`Servers`] runs them: each is started once, when it is
//! first needed or by [`Servers::start`], and ended by [`Servers::close`]. The protocol is rmcp's.
//!
//! A server that does not start, says nothing, talks nonsense or dies is data: its calls fail with
//! words that name the server and its command, and everything waits under a deadline. A server that
//! has died stays dead for the session.
//!
//! Each server leads a process group. When it is ended it is told so first, by the end of its input;
//! then the whole group gets TERM, and KILL when it takes longer.

pub mod config;
mod process;
mod server;
mod servers;

pub use servers::{Servers, ServersBuilder};
