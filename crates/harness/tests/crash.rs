//! A process that is killed at any moment loses nothing that matters: its log loads, is repaired,
//! goes on, and nothing with side effects is done twice.
//!
//! The test program starts itself as the process to be killed. That one works through a list of
//! tasks, each a tool call that leaves a line in a witness file, and is killed from outside when its
//! log has grown to a size that was drawn beforehand. The next process takes the session up. Where
//! programs are there (feature `code-mode`), every second batch of calls is made by one.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "in a test a broken expectation is a panic"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};
use seamline_harness::agent::Agent;
use seamline_harness::content::Content;
use seamline_harness::model::{Block, Chunk, Message, Request, StopReason};
use seamline_harness::permission::Mode;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::session::{Event, Place, Session};
use seamline_harness::testing::FnModel;
use seamline_harness::tools::{Effects, PreDecision, Registry, Tool, ToolContext, ToolError, code};
use seamline_seams::{Context, Scope, Source};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How many processes are killed.
const KILLS: usize = 200;
/// What a session has to do.
const TASKS: u32 = 30;
/// Where the killed process works.
const FOLDER: &str = "SEAMLINE_CRASH_FOLDER";
/// Nothing here should take long; what takes this long hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// Adds a line to the witness file: the side effect that must not happen twice.
struct Work(PathBuf);

#[derive(Serialize, Deserialize)]
struct Task {
    task: u32,
}

impl Tool for Work {
    type Args = Task;
    type Value = u32;

    fn name(&self) -> &str {
        "Work"
    }
    fn description(&self) -> &str {
        "Does a task."
    }
    fn schema(&self) -> Value {
        json!({"type": "object", "required": ["task"], "properties": {"task": {"type": "integer"}}})
    }
    fn concurrency_safe(&self, args: &Task) -> bool {
        args.task.is_multiple_of(3)
    }
    fn effects(&self, _: &Task, _: &Path) -> Effects {
        Effects::Unknown
    }
    async fn run(&self, args: Task, _: ToolContext) -> Result<u32, ToolError> {
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(&self.0);
        let line = format!("{}\n", args.task);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(|error| ToolError::new(error.to_string()))?;
        tokio::task::yield_now().await;
        Ok(args.task)
    }
    fn render(&self, _: &Task, value: &u32) -> Content {
        Content::text(format!("did {value}"))
    }
}

/// Three calls, or a program that makes them.
fn calls(at: usize, tasks: &[u32]) -> Vec<Chunk> {
    let first = tasks.first().copied().unwrap_or_default();
    if cfg!(feature = "code-mode") && first / 3 % 2 == 1 {
        let code = format!(
            "for (const task of {tasks:?}) try {{ await tools.Work({{task}}) }} catch (denied) {{}}"
        );
        return vec![Chunk::ToolCall {
            id: format!("call_{at}_{first}"),
            name: "run_code".to_owned(),
            arguments: json!({ "code": code }).to_string(),
        }];
    }
    let call = |task: &u32| Chunk::ToolCall {
        id: format!("call_{at}_{task}"),
        name: "Work".to_owned(),
        arguments: json!({ "task": task }).to_string(),
    };
    tasks.iter().map(call).collect()
}

/// Calls the next tasks that were not begun as far as the request tells, three at a time.
fn next_tasks(request: &Request) -> Vec<Chunk> {
    let begun = begun(request);
    let open: Vec<u32> = (0..TASKS).filter(|task| !begun.contains(task)).collect();
    let next: Vec<u32> = open.into_iter().take(3).collect();
    let done = next.is_empty();
    let mut chunks = calls(request.messages.len(), &next);
    chunks.insert(
        0,
        Chunk::Text(if done { "All done." } else { "Next." }.to_owned()),
    );
    chunks.push(Chunk::End(match done {
        true => StopReason::EndTurn,
        false => StopReason::ToolUse,
    }));
    chunks
}

/// Every task that a request shows as done, denied or perhaps done.
fn begun(request: &Request) -> BTreeSet<u32> {
    let mut calls = BTreeMap::new();
    let mut begun = BTreeSet::new();
    for message in &request.messages {
        match &**message {
            Message::Assistant { blocks } => calls.extend(blocks.iter().filter_map(tasks_of)),
            Message::ToolResult {
                call_id, content, ..
            } => {
                if let Some(tasks) = calls.get(call_id)
                    && !content.to_text().contains("was not started")
                {
                    begun.extend(tasks);
                }
            }
            _ => {}
        }
    }
    begun
}

fn tasks_of(block: &Block) -> Option<(String, Vec<u32>)> {
    let Block::ToolCall { id, arguments, .. } = block else {
        return None;
    };
    let tasks = match arguments.value()["code"].as_str() {
        None => vec![arguments.to::<Task>().ok()?.task],
        Some(code) => {
            let (_, list) = code.split_once('[')?;
            let (list, _) = list.split_once(']')?;
            serde_json::from_str(&format!("[{list}]")).ok()?
        }
    };
    Some((id.clone(), tasks))
}

/// Denies one task of seven, and adds a context to one of five.
fn listen(agent: &Agent, scope: &Scope) {
    let pre = &agent.tool_seams().pre;
    let _registered = pre.on(scope, "policy", |proposal, next| async move {
        let by = Source::new("policy");
        let reply = next.run().await?;
        let Ok(Task { task }) = proposal.arguments().to::<Task>() else {
            return Ok(reply);
        };
        let reply = match task % 5 {
            0 => reply.with_context(Context {
                source: by.clone(),
                text: format!("about {task}"),
            }),
            _ => reply,
        };
        let reason = "not this one".to_owned();
        Ok(reply.map(|decision| match task % 7 {
            0 => PreDecision::Deny { reason, by },
            _ => decision,
        }))
    });
}

fn place(folder: &Path) -> Place {
    Place::new(folder, "/project")
}

fn log(folder: &Path) -> Option<PathBuf> {
    let place = place(folder);
    let id = place.sessions().unwrap().into_iter().next()?;
    Some(place.log(id))
}

/// The process that is killed. Without its variable it is no test of anything.
#[test]
fn the_process_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let finished = runtime
        .enable_all()
        .build()
        .unwrap()
        .block_on(work(&folder));
    std::process::exit(if finished { 0 } else { 3 });
}

async fn work(folder: &Path) -> bool {
    let session = match log(folder) {
        Some(log) => Session::load(&log).unwrap().session,
        None => Session::create(&place(folder)).unwrap(),
    };
    let registry = Registry::new();
    registry.add(Work(folder.join("witness"))).unwrap();
    let model = FnModel(|request: Request, _| stream::iter(next_tasks(&request)).map(Ok).boxed());
    let builder = Agent::builder(model, session);
    let builder = builder.tools(registry).mode(Mode::BypassPermissions);
    #[cfg(feature = "code-mode")]
    let builder = builder.code_mode(seamline_harness::tools::CodeMode::Beside);
    let agent = builder.build();
    let scope = Scope::root("test");
    listen(&agent, &scope);
    let outcome = agent.send("go on").await;
    agent.close("done").await.unwrap();
    outcome.end == TurnEndReason::Completed
}

fn spawn(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_process_that_is_killed", "--nocapture"])
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Draws numbers that look random and are the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// Lets the log grow by `bytes`, goes round `turns` times, and kills; `true` if it was alive.
fn kill(mut child: Child, folder: &Path, bytes: u64, turns: u64) -> bool {
    let size = || log(folder).map_or(0, |log| fs::metadata(log).map_or(0, |log| log.len()));
    let (goal, began) = (size() + bytes, Instant::now());
    while size() < goal && child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < DEADLINE, "it hangs");
    }
    (0..turns).for_each(|_| std::hint::spin_loop());
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(status.signal() == Some(9) || status.success(), "{status:?}");
    status.signal() == Some(9)
}

/// How often each task left its trace.
fn traces(folder: &Path) -> BTreeMap<u32, usize> {
    let mut traces = BTreeMap::new();
    for line in fs::read_to_string(folder.join("witness"))
        .unwrap_or_default()
        .lines()
    {
        *traces.entry(line.parse().unwrap()).or_default() += 1;
    }
    traces
}

/// The log loads, what it says agrees with what was done, and it says the same when read again.
/// Says whether there was a turn to be repaired.
fn inspect(folder: &Path) -> bool {
    let Some(log) = log(folder) else {
        // There is no session yet, so nothing was done.
        assert!(traces(folder).is_empty());
        return false;
    };
    let loaded = Session::load(&log).unwrap_or_else(|error| panic!("{error}"));
    let (entries, history) = (loaded.session.entries(), loaded.session.history());
    let repaired = loaded.repaired_turn.is_some();
    drop(loaded);
    let again = Session::read(&log).unwrap();
    assert_eq!((&again.entries, &again.history), (&entries, &history));

    let traces = traces(folder);
    let twice: Vec<_> = traces.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "done twice: {twice:?}");
    let mut calls = BTreeMap::new();
    for entry in &entries {
        match &entry.event {
            Event::ToolCall(call) if call.name == "Work" => {
                calls.insert(
                    call.call_id.clone(),
                    call.arguments.to::<Task>().unwrap().task,
                );
            }
            Event::ToolResult(result) => {
                let Some(task) = calls.get(&result.call_id) else {
                    continue;
                };
                let done = traces.contains_key(task);
                match result.error.as_ref().map(|error| error.code.as_str()) {
                    None if !result.is_error => assert!(done, "task {task} is said to be done"),
                    Some(code::TOOL_OUTCOME_UNKNOWN) => {}
                    _ => assert!(!done, "task {task} is said not to be done"),
                }
            }
            _ => {}
        }
    }
    let known: Vec<u32> = calls.into_values().collect();
    let unknown: Vec<_> = traces.keys().filter(|task| !known.contains(task)).collect();
    assert!(
        unknown.is_empty(),
        "done without a trace in the log: {unknown:?}"
    );
    repaired
}

#[test]
fn a_killed_session_goes_on_and_does_nothing_twice() {
    let mut draw = Draw(20_261_201);
    let (mut killed, mut repaired, mut unknown) = (0, 0, 0);
    while killed < KILLS {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        // A few kills a session, so that repaired logs are repaired again; then it may finish.
        for _ in 0..4 {
            let (bytes, turns) = (draw.below(9_000), draw.below(20_000));
            if kill(spawn(folder), folder, bytes, turns) {
                killed += 1;
            }
            repaired += usize::from(inspect(folder));
        }
        let status = spawn(folder).wait().unwrap();
        assert!(status.success(), "{status:?}");
        assert!(!inspect(folder), "a session that ended needs no repair");
        let log = fs::read_to_string(log(folder).unwrap()).unwrap();
        unknown += log.matches(code::TOOL_OUTCOME_UNKNOWN).count();
    }
    // Else the kills came too early or too late to show anything.
    assert!(repaired > KILLS / 4, "{repaired} of {killed} in a turn");
    eprintln!("{killed} killed, {repaired} in a turn, {unknown} calls of unknown outcome");
    assert!(unknown > 0, "none in a call");
}
