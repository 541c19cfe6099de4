//! The programs that run as hooks: the recorder and a `sleep` that keeps the pace.
//!
//! `rec NAME` reads all of its standard input, notes it, and does what `behave.json` in
//! `$CASE_DIR` says for that name: an object, or a list with one object for each call. In order:
//! a child is started, text is appended to `$CLAUDE_ENV_FILE`, early output is written, it
//! sleeps, waits for its turn, writes, and exits. A TERM, INT or HUP ends it with 143 unless the
//! behaviour ignores them.
//!
//! *Its turn*: hooks of one event start at once and finish as they please, but many outcomes
//! depend on who finished first. When the round being played has an order, a recorder waits until
//! the processes of those before it are gone, for at most `PATIENCE`.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, getppid, test_kill_process};
use serde_json::{Map, Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::json::python_dumps;
use crate::pace::{CHILD_SLEEP, Pace};

/// The folder below `$CASE_DIR` that belongs to the recorder and the runner.
pub const NOTES: &str = ".notes";
/// The variable with the number of the round a hook runs in.
pub const ROUND: &str = "CONFORMANCE_ROUND";
/// How long a recorder waits for those before it.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it looks.
const LOOK: Duration = Duration::from_millis(3);

/// Runs this program under the name it was started by, when that is one of ours.
///
/// Returns only when the program is the conformance command itself.
#[must_use]
pub fn started_as() -> Option<i32> {
    let mut args = std::env::args();
    let program = args.next()?;
    match Path::new(&program).file_name()?.to_str()? {
        "rec" => Some(record(&args.next().unwrap_or_else(|| "?".to_owned()))),
        "sleep" => Some(sleep(args)),
        _ => None,
    }
}

/// `sleep SECONDS…` at the pace of the environment.
fn sleep(args: impl Iterator<Item = String>) -> i32 {
    let pace = Pace::from_env();
    for arg in args {
        let Some(seconds) = seconds(&arg) else {
            return 1;
        };
        std::thread::sleep(pace.scaled(seconds));
    }
    0
}

fn seconds(word: &str) -> Option<f64> {
    let unit =
        |suffix: &str, factor: f64| Some(word.strip_suffix(suffix)?.parse::<f64>().ok()? * factor);
    word.parse().ok().or_else(|| {
        unit("s", 1.0)
            .or_else(|| unit("m", 60.0))
            .or_else(|| unit("h", 3600.0))
    })
}

/// Runs the recorder; the result is its exit code.
#[must_use]
pub fn record(name: &str) -> i32 {
    let Some(case) = std::env::var_os("CASE_DIR").map(PathBuf::from) else {
        return 0;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return 70;
    };
    let name = name.to_owned();
    // A read or a write that blocks for ever must not keep a signal from ending the process.
    let code = runtime.block_on(until_signal(case, name));
    runtime.shutdown_background();
    code
}

async fn until_signal(case: PathBuf, name: String) -> i32 {
    let kinds = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ];
    let [Ok(mut term), Ok(mut int), Ok(mut hup)] = kinds.map(signal) else {
        return 70;
    };
    let steps = Steps::new(case, &name);
    let behaviour = steps.behaviour.clone();
    let mut work = tokio::task::spawn_blocking(move || steps.run());
    loop {
        tokio::select! {
            done = &mut work => return done.unwrap_or(70),
            _ = term.recv() => {}
            _ = int.recv() => {}
            _ = hup.recv() => {}
        }
        if !is_true(&behaviour, "ignore_term") {
            let text = behaviour
                .get("stdout_on_term")
                .and_then(Value::as_str)
                .unwrap_or("");
            write_all(&mut io::stdout(), text);
            return 143;
        }
    }
}

struct Steps {
    notes: PathBuf,
    name: String,
    behaviour: Map<String, Value>,
    pace: Pace,
    /// The number of the round.
    number: String,
    /// Its order, when it has one.
    round: Value,
}

impl Steps {
    fn new(case: PathBuf, name: &str) -> Self {
        let notes = case.join(NOTES);
        let behaviour = read_json(&case.join("behave.json"));
        let behaviour = behaviour.get(name).cloned().unwrap_or_default();
        let behaviour = match behaviour {
            Value::Array(calls) => this_call(&notes, name, &calls),
            one => one,
        };
        let behaviour = behaviour.as_object().cloned().unwrap_or_default();
        let number = std::env::var(ROUND).unwrap_or_default();
        let round = read_json(&notes.join(format!("round-{number}.json")));
        let (name, pace) = (name.to_owned(), Pace::from_env());
        Self {
            notes,
            name,
            behaviour,
            pace,
            number,
            round,
        }
    }

    fn run(&self) -> i32 {
        let mut input = Vec::new();
        // Whatever was read counts; a closed input is an empty one.
        let _ = io::stdin().lock().read_to_end(&mut input);
        self.note(&input);
        self.start_child();
        self.append_env();
        let out = self
            .behaviour
            .get("stdout")
            .map(python_dumps_or_text)
            .unwrap_or_default();
        let early = is_true(&self.behaviour, "early");
        if early {
            write_all(&mut io::stdout(), &out);
        }
        if let Some(seconds) = self.behaviour.get("sleep").and_then(Value::as_f64) {
            std::thread::sleep(self.pace.scaled(seconds));
        }
        self.wait_for_turn();
        if !early {
            write_all(&mut io::stdout(), &out);
        }
        let err = self
            .behaviour
            .get("stderr")
            .and_then(Value::as_str)
            .unwrap_or("");
        write_all(&mut io::stderr(), err);
        self.finished();
        let exit = self
            .behaviour
            .get("exit")
            .and_then(Value::as_i64)
            .unwrap_or(0);
        i32::try_from(exit).unwrap_or(70)
    }

    /// Keeps what was read, for the runner to compare.
    fn note(&self, input: &[u8]) {
        let note = json!({"name": self.name, "round": self.number,
            "stdin": String::from_utf8_lossy(input)});
        let file = self.notes.join(format!("read-{}.json", std::process::id()));
        let _ = fs::write(file, note.to_string());
    }

    fn start_child(&self) {
        let quiet = match self.behaviour.get("child") {
            Some(Value::Bool(true)) => false,
            Some(Value::String(word)) => word == "quiet",
            _ => return,
        };
        let seconds = self.behaviour.get("child_sleep").and_then(Value::as_f64);
        let time = self
            .pace
            .scaled(seconds.unwrap_or(CHILD_SLEEP))
            .as_secs_f64();
        let output = || {
            if quiet {
                Stdio::null()
            } else {
                Stdio::inherit()
            }
        };
        // Not our own `sleep`: the time is scaled already, and the child must outlive us.
        let mut command = Command::new("/bin/sleep");
        command
            .arg(time.to_string())
            .stdin(Stdio::null())
            .stdout(output())
            .stderr(output());
        let _ = command.spawn();
    }

    fn append_env(&self) {
        let text = self.behaviour.get("env_append").and_then(Value::as_str);
        let file = std::env::var_os("CLAUDE_ENV_FILE");
        if let (Some(text), Some(file)) = (text, file) {
            let open = OpenOptions::new().create(true).append(true).open(file);
            let _ = open.and_then(|mut file| file.write_all(text.as_bytes()));
        }
    }

    /// Waits until everyone before us in this round's order has finished and is gone.
    fn wait_for_turn(&self) {
        let order = self
            .round
            .get("order")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let before = order
            .iter()
            .filter_map(Value::as_str)
            .take_while(|name| *name != self.name);
        let mine = order.iter().any(|name| name.as_str() == Some(&self.name));
        if !mine {
            return;
        }
        let deadline = Instant::now() + PATIENCE;
        let runner = self
            .round
            .get("runner")
            .and_then(Value::as_i64)
            .unwrap_or(0);
        for name in before {
            let file = self.notes.join(format!("done-{}-{name}.json", self.number));
            while !is_gone(&read_json(&file), runner) && Instant::now() < deadline {
                std::thread::sleep(LOOK);
            }
        }
        // Whoever waits for a process learns of its end a moment later.
        std::thread::sleep(LOOK * 5);
    }

    /// Says that this recorder has written everything, and who it is.
    fn finished(&self) {
        let parent = getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
        let note = json!({"pid": std::process::id(), "parent": parent});
        let file = self
            .notes
            .join(format!("done-{}-{}.json", self.number, self.name));
        let whole = self.notes.join(format!("part-{}.json", std::process::id()));
        let _ = fs::write(&whole, note.to_string()).and_then(|()| fs::rename(&whole, file));
    }
}

/// Whether the process of a `done` note, and the shell between it and the runner, have ended and
/// were waited for.
fn is_gone(note: &Value, runner: i64) -> bool {
    let Some(pid) = note.get("pid").and_then(Value::as_i64) else {
        return false;
    };
    let parent = note.get("parent").and_then(Value::as_i64).unwrap_or(0);
    ended(pid) && (parent == runner || parent <= 1 || ended(parent))
}

fn ended(pid: i64) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| test_kill_process(pid).is_err())
}

/// The entry of a list for this call: each call takes the next one, the last is repeated.
fn this_call(notes: &Path, name: &str, calls: &[Value]) -> Value {
    let taken = |n: &usize| {
        let file = notes.join(format!("call-{name}.{n}"));
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(file)
            .is_err()
    };
    let n = (0..10_000).find(|n| !taken(n)).unwrap_or(usize::MAX);
    calls.get(n).or(calls.last()).cloned().unwrap_or_default()
}

fn read_json(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn is_true(behaviour: &Map<String, Value>, key: &str) -> bool {
    behaviour.get(key) == Some(&Value::Bool(true))
}

fn python_dumps_or_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => python_dumps(other),
    }
}

/// Writes and flushes; a reader that has gone away is none of our business.
fn write_all(to: &mut impl Write, text: &str) {
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_reads_the_units_of_the_shell() {
        assert_eq!(seconds(".5"), Some(0.5));
        assert_eq!(seconds("2s"), Some(2.0));
        assert_eq!(seconds("1m"), Some(60.0));
        assert_eq!(seconds("x"), None);
    }

    #[test]
    fn each_call_takes_the_next_behaviour_and_the_last_repeats() {
        let folder = tempfile::tempdir().unwrap();
        let calls = [json!({"exit": 1}), json!({"exit": 2})];
        let exits: Vec<_> = (0..3)
            .map(|_| {
                this_call(folder.path(), "A", &calls)["exit"]
                    .as_i64()
                    .unwrap()
            })
            .collect();
        assert_eq!(exits, [1, 2, 2]);
        assert_eq!(this_call(folder.path(), "B", &calls)["exit"], 1);
        assert_eq!(this_call(folder.path(), "C", &[]), Value::Null);
    }

    #[test]
    fn a_process_is_gone_only_when_its_shell_is() {
        let me = i64::from(std::process::id());
        assert!(!is_gone(&Value::Null, me), "nobody has finished yet");
        assert!(!is_gone(&json!({"pid": me, "parent": 1}), 1));
        let mut child = Command::new("true").spawn().unwrap();
        let pid = i64::from(child.id());
        child.wait().unwrap();
        assert!(is_gone(&json!({"pid": pid, "parent": me}), me));
        assert!(!is_gone(&json!({"pid": pid, "parent": me}), 1));
    }
}
