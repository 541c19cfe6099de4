//! Exit codes: one documented table.
//!
//! They are part of the interface; `docs/exit-codes.md` says the same in prose. Where several
//! apply, the one that stands first here wins.

/// A hook denied, blocked, stopped or deferred.
pub(crate) const REFUSED: u8 = 2;
/// A hook wants the user to be asked.
pub(crate) const ASK: u8 = 3;
/// A hook failed: bad exit code, bad output, a timeout. Nothing was refused.
pub(crate) const HOOK_FAILED: u8 = 1;
/// Allowed, or nothing matched. For other commands: done.
pub(crate) const OK: u8 = 0;

/// The command line makes no sense, or the environment lacks what every command needs.
pub(crate) const USAGE: u8 = 64;
/// A configuration is broken: the real client would drop or refuse part of it.
pub(crate) const BROKEN: u8 = 65;
/// A file that the command was given, or keeps, cannot be read or written.
pub(crate) const IO: u8 = 74;
/// Project hooks that would run are not trusted.
pub(crate) const UNTRUSTED: u8 = 77;
/// Ended by Ctrl-C, or by a TERM signal.
pub(crate) const INTERRUPTED: u8 = 130;
