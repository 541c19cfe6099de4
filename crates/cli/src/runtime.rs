//! The one async runtime of a command.

use std::future::Future;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::CliError;

/// As many open files as are asked for. Every running hook takes about five, and hundreds may run
/// at once; macOS refuses more than this (`OPEN_MAX`), and programs that walk through all
/// descriptors suffer from more.
const OPEN_FILES: u64 = 10_240;

/// Runs a command to its end. What waits for the keyboard then is left waiting.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    raise_open_files();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| CliError::Internal {
            message: format!("cannot start the runtime: {error}"),
        })?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    done
}

/// Raises the soft limit of open files towards the hard one; hooks inherit it. Where that is
/// refused, the limit stays as it was.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    if let Some(current) = raised(limit.current, limit.maximum) {
        let current = Some(current);
        let _ = setrlimit(Resource::Nofile, Rlimit { current, ..limit });
    }
}

/// The soft limit to set, if it is to be changed. `None` means no limit.
fn raised(current: Option<u64>, maximum: Option<u64>) -> Option<u64> {
    let wanted = maximum.unwrap_or(OPEN_FILES).min(OPEN_FILES);
    current.filter(|current| *current < wanted).map(|_| wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_open_files_only_rises_and_never_past_the_hard_one() {
        for (current, maximum, set) in [
            (Some(256), None, Some(OPEN_FILES)),
            (Some(1024), Some(4096), Some(4096)),
            (Some(1024), Some(1 << 20), Some(OPEN_FILES)),
            (Some(4096), Some(4096), None),
            (Some(1 << 16), Some(1 << 20), None),
            (None, None, None),
        ] {
            assert_eq!(raised(current, maximum), set, "{current:?} {maximum:?}");
        }
    }
}
