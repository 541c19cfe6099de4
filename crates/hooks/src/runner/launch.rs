//! Starts one process, and says in words why one could not be started.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::Spec;
use super::group::Group;
use super::streams::{Streams, Theirs};

/// Where programs are looked up when the child's environment has no `PATH`, as `execvp` does.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// A process that runs.
pub(super) struct Launched {
    pub(super) group: Group,
    pub(super) streams: Streams,
    /// When the call that starts it began, and how long it took.
    pub(super) began: Instant,
    pub(super) took: Duration,
}

/// Starts a process in a group of its own. Blocks for about a quarter of a millisecond, so not for
/// the runtime's threads; but inside a runtime, where the pipes are registered.
///
/// # Errors
/// In words, with the program and the folder.
pub(super) fn launch(
    spec: &Spec,
    clock: &(dyn Fn() -> Instant + Send + Sync),
    cap: usize,
) -> Result<Launched, String> {
    let (theirs, streams) = Streams::new(Arc::clone(&spec.stdin), cap)
        .map_err(|error| format!("{}: no pipes for it: {error}", heading(spec)))?;
    let began = clock();
    let group = start(spec, theirs).map_err(|error| explain(spec, &error))?;
    let took = clock().saturating_duration_since(began);
    Ok(Launched {
        group,
        streams,
        began,
        took,
    })
}

fn start(spec: &Spec, pipes: Theirs) -> io::Result<Group> {
    let Some((name, arguments)) = spec.argv.split_first() else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let mut command = std::process::Command::new(find(spec, name).ok_or(io::ErrorKind::NotFound)?);
    command
        .arg0(name)
        .args(arguments)
        .current_dir(&spec.cwd)
        .env_clear()
        .envs(spec.env.iter().map(|(key, value)| (key, value)))
        .process_group(0)
        .stdin(pipes.stdin)
        .stdout(pipes.stdout)
        .stderr(pipes.stderr);
    Ok(Group::led_by(command.spawn()?))
}

/// The file to start, always with a `/`.
///
/// The lookup is ours because of two things the standard library does: it looks in `PATH` of the
/// *parent* where it can, and where the child's `PATH` differs it gives up the fast way to start a
/// process, which then costs 50 ms for each GB of our own memory.
fn find(spec: &Spec, name: &str) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if name.contains('/') {
        return Some(spec.cwd.join(name));
    }
    let folders = search_path(spec);
    let candidates = || std::env::split_paths(&folders).map(|dir| spec.cwd.join(dir).join(name));
    candidates()
        .find(|file| file.is_file() && access(file, Access::EXEC_OK).is_ok())
        // Like execvp: a file that is there but may not be run is a better answer than none.
        .or_else(|| candidates().find(|file| file.is_file()))
}

fn search_path(spec: &Spec) -> OsString {
    let set = spec.env.iter().rfind(|(key, _)| key == OsStr::new("PATH"));
    set.map_or_else(|| DEFAULT_PATH.into(), |(_, value)| value.clone())
}

fn heading(spec: &Spec) -> String {
    let program = spec.argv.first().map_or("", String::as_str);
    format!("cannot start `{program}` in `{}`", spec.cwd.display())
}

/// Says why a start failed. The kernel has one word, "not found", for a folder, a program and the
/// interpreter of a script that are not there; whoever reads this needs to know which.
fn explain(spec: &Spec, error: &io::Error) -> String {
    let why = folder_trouble(&spec.cwd).unwrap_or_else(|| program_trouble(spec, error));
    format!("{}: {why}", heading(spec))
}

fn folder_trouble(cwd: &Path) -> Option<String> {
    match std::fs::metadata(cwd) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Some("the folder does not exist".to_owned())
        }
        Err(error) => Some(format!("the folder cannot be entered: {error}")),
        Ok(found) if !found.is_dir() => Some("that is not a folder".to_owned()),
        Ok(_) => access(cwd, Access::EXEC_OK)
            .err()
            .map(|error| format!("the folder cannot be entered: {}", io::Error::from(error))),
    }
}

fn program_trouble(spec: &Spec, error: &io::Error) -> String {
    let Some(name) = spec.argv.first().filter(|name| !name.is_empty()) else {
        return "no program is named".to_owned();
    };
    let Some(file) = find(spec, name) else {
        return format!("no such program in PATH ({})", search_path(spec).display());
    };
    match error.kind() {
        io::ErrorKind::NotFound if file.exists() => {
            "the file is there, but the interpreter it names (in its `#!` line) is not".to_owned()
        }
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied if file.is_dir() => "that is a folder".to_owned(),
        io::ErrorKind::PermissionDenied => {
            format!("`{}` may not be executed (try `chmod +x`)", file.display())
        }
        io::ErrorKind::ArgumentListTooLong => too_large(spec),
        _ if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
            format!(
                "`{}` is no program of this system and has no `#!` line",
                file.display()
            )
        }
        _ => error.to_string(),
    }
}

fn too_large(spec: &Spec) -> String {
    let arguments: usize = spec.argv.iter().map(|argument| argument.len() + 1).sum();
    let size = |(key, value): &(OsString, OsString)| key.len() + value.len() + 2;
    let environment: usize = spec.env.iter().map(size).sum();
    let largest = spec
        .env
        .iter()
        .max_by_key(|entry| size(entry))
        .map_or_else(String::new, |e| {
            format!(
                "; the largest variable is {} with {} bytes",
                e.0.display(),
                e.1.len()
            )
        });
    format!(
        "arguments ({arguments} bytes) and environment ({environment} bytes) are more than the \
         system takes{largest}"
    )
}
