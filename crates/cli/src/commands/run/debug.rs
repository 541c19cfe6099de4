//! `--debug-hooks`: what every hook read and wrote, one folder per run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use seamline_bridges::Witness;
use seamline_hooks::Fired;
use seamline_hooks::payload::Payload;
use seamline_hooks::trace::Run;
use serde_json::json;

use crate::error::CliError;
use crate::output;

/// A folder that gets `NNN-EVENT-DIALECT/` for each run.
#[derive(Debug)]
pub(super) struct DebugFolder {
    folder: PathBuf,
    next: AtomicUsize,
}

impl DebugFolder {
    /// Makes the folder; what is in it already stays, and is counted on from.
    pub(super) fn create(folder: &Path) -> Result<Self, CliError> {
        let failed = |source| CliError::Write {
            what: folder.display().to_string(),
            source,
        };
        fs::create_dir_all(folder).map_err(failed)?;
        let taken = fs::read_dir(folder).map_err(failed)?.count();
        Ok(Self {
            folder: folder.to_owned(),
            next: AtomicUsize::new(taken + 1),
        })
    }

    fn keep(&self, event: &str, payload: &Payload, run: &Run) -> std::io::Result<()> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let name = format!("{number:03}-{event}-{}", run.handler.dialect);
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        let newline = if run.handler.dialect.table().trailing_newline {
            "\n"
        } else {
            ""
        };
        fs::write(
            folder.join("stdin.json"),
            format!("{}{newline}", payload.text()),
        )?;
        fs::write(folder.join("stdout"), &run.stdout)?;
        fs::write(folder.join("stderr"), &run.stderr)?;
        let about = json!({
            "event": event,
            "dialect": run.handler.dialect.as_str(),
            "handler": run.handler.key.0,
            "source": run.handler.source,
            "line": run.handler.position.line,
            "argv": run.argv,
            "cwd": run.cwd,
            "exit": format!("{:?}", run.exit),
            "exit_code": run.exit_code(),
            "status": run.status.as_str(),
            "duration_ms": run.duration.as_secs_f64() * 1e3,
        });
        fs::write(folder.join("run.json"), format!("{about:#}\n"))
    }
}

impl Witness for DebugFolder {
    fn fired(&self, event: &'static str, payload: &Payload, fired: &Fired) {
        for run in &fired.trace.runs {
            if let Err(error) = self.keep(event, payload, run) {
                let folder = self.folder.display();
                output::diagnostic(&format!("warning: --debug-hooks {folder}: {error}\n"));
            }
        }
    }
}
