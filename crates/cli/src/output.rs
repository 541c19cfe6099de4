//! Writes results to standard output and everything else to standard error.
//!
//! Colours survive only on a terminal, and not when `NO_COLOR` is set. A reader that has gone away
//! (`| head`) is nobody's failure.

use std::io::{ErrorKind, Write};

use crate::error::CliError;

/// Writes a result.
pub(crate) fn result(text: &str) -> Result<(), CliError> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::Write {
            what: "standard output".into(),
            source: error,
        }),
        _ => Ok(()),
    }
}

/// Writes something that is not the result. There is nowhere to report a failure to.
pub(crate) fn diagnostic(text: &str) {
    let mut err = anstream::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
