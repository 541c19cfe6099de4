//! Being asked to end: by Ctrl-C, or politely by a TERM signal.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CliError;

/// Requests to end, from the moment of [`listen`](Self::listen) on. From then on they no longer
/// end the process by themselves.
pub(crate) struct Interrupts {
    ctrl_c: Signal,
    terminate: Signal,
}

impl Interrupts {
    /// Starts to listen. To be called before anything is started that a signal has to end.
    pub(crate) fn listen() -> Result<Self, CliError> {
        let listen = |kind| {
            signal(kind).map_err(|error| CliError::Internal {
                message: format!("cannot listen for signals: {error}"),
            })
        };
        Ok(Self {
            ctrl_c: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Returns at the next request.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.ctrl_c.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
