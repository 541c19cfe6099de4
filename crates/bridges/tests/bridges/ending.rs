//! Disposing while hooks run, and hooks that nobody waits for.

use seamline_harness::agent::Pending;
use seamline_harness::model::scripted::Play;
use seamline_hooks::DialectId::{self, Claude};
use serde_json::json;
use tokio::task::JoinSet;

use crate::bench::{Bench, answers, bash, ending, soon, until};

/// Writes its group's leader and sleeps, with a child that would outlive it.
const SLEEPS: &str = "sleep 600 & echo $$ > pid; wait; echo late > late";

/// Whether a process of this group runs. Where process 1 reaps late, dead ones stay visible for a
/// while; on Linux `/proc` tells.
fn group_lives(pid: &str) -> bool {
    if let Ok(processes) = std::fs::read_dir("/proc") {
        return processes.flatten().any(|process| {
            let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
            let fields = stat.rsplit_once(") ").map(|(_, fields)| fields);
            let fields: Vec<_> = fields.into_iter().flat_map(str::split_whitespace).collect();
            fields.get(2) == Some(&pid.trim()) && !matches!(fields[0], "Z" | "X")
        });
    }
    let status = std::process::Command::new("sh")
        .args(["-c", &format!("kill -0 -{} 2>/dev/null", pid.trim())])
        .status();
    status.unwrap().success()
}

#[tokio::test]
async fn disposing_ends_a_sleeping_hook_and_its_group_and_nothing_is_called_after() {
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
    ];
    let mut all = JoinSet::new();
    for dialect in DialectId::ALL {
        for event in events {
            all.spawn(disposed_while_it_sleeps(dialect, event));
        }
    }
    all.join_all().await;
}

async fn disposed_while_it_sleeps(dialect: DialectId, event: &'static str) {
    let running = Bench::shell("echo hi").on(dialect, event, SLEEPS).start();
    let turn = running.agent.send("go");
    until(|| running.text("pid").ends_with('\n')).await;
    let pid = running.text("pid");
    assert!(group_lives(&pid));
    soon(running.scope.dispose()).await;
    until(|| !group_lives(&pid)).await;
    soon(turn).await;
    assert!(!running.exists("late"), "{dialect} {event}");
    let kinds: Vec<_> = running
        .hook_events()
        .into_iter()
        .map(|(kind, ..)| kind)
        .collect();
    assert_eq!(kinds, ["hook/invoked", "hook/result"], "{dialect} {event}");
    std::fs::remove_file(running.path("pid")).unwrap();
    soon(running.agent.send("again")).await;
    assert!(
        !running.exists("pid"),
        "{dialect} {event}: called after dispose"
    );
    running.end().await;
}

/// A gate that was to decide and never could is no yes.
#[tokio::test]
async fn what_a_disposed_hook_was_still_judging_does_not_pass() {
    for dialect in DialectId::ALL {
        let running = Bench::shell("touch ran")
            .on(dialect, "PreToolUse", SLEEPS)
            .start();
        let turn = running.agent.send("go");
        until(|| running.text("pid").ends_with('\n')).await;
        soon(running.scope.dispose()).await;
        soon(turn).await;
        assert!(!running.exists("ran"), "{dialect}");
        assert!(
            running.shown().contains("were ended before they decided"),
            "{dialect}"
        );
        running.end().await;

        let running = Bench::new([])
            .on(dialect, "UserPromptSubmit", SLEEPS)
            .start();
        let turn = running.agent.send("go");
        until(|| running.text("pid").ends_with('\n')).await;
        soon(running.scope.dispose()).await;
        let outcome = soon(turn).await;
        let reason = "its UserPromptSubmit hooks were ended before they decided";
        assert_eq!(ending(&outcome), ("rejected", Some(reason)), "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn cancelling_the_turn_ends_its_hooks() {
    for dialect in DialectId::ALL {
        let running = Bench::new([])
            .on(dialect, "UserPromptSubmit", SLEEPS)
            .start();
        let turn = running.agent.send("go");
        until(|| running.text("pid").ends_with('\n')).await;
        let pid = running.text("pid");
        running.agent.cancel(Pending::Drop);
        soon(turn).await;
        until(|| !group_lives(&pid)).await;
        assert_eq!(running.requests(), 0, "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn a_hook_in_background_is_not_awaited_and_its_context_reaches_a_later_step() {
    let context = answers("PreToolUse", json!({"additionalContext": "from behind"}));
    let command = format!("until [ -e go ]; do sleep 0.02; done; {context}");
    let handler = json!({"type": "command", "command": command, "async": true});
    // The second call lasts until the hook's end is in the log (where its own text is too).
    let logged = "grep -q 'hook/[r]esult' \"$(find ../state -name log.jsonl)\"";
    let wait = bash(&format!("touch go; until {logged}; do sleep 0.02; done"));
    let bench = Bench::new([bash("echo first"), wait, Play::text("Done.")]);
    let (_, running) = bench
        .on_matching(Claude, "PreToolUse", "Bash", handler)
        .go()
        .await;
    assert!(
        running
            .asked(1)
            .iter()
            .all(|message| !message.starts_with("context"))
    );
    assert!(running.asked(2).contains(&"context from behind".to_owned()));
    running.end().await;
}

#[tokio::test]
async fn disposing_ends_a_hook_in_background_and_its_run_leaves_a_pair() {
    let handler = json!({"type": "command", "command": SLEEPS, "async": true});
    let (_, running) = Bench::shell("echo hi")
        .on(Claude, "PreToolUse", handler)
        .go()
        .await;
    until(|| running.text("pid").ends_with('\n')).await;
    let pid = running.text("pid");
    soon(running.scope.dispose()).await;
    until(|| !group_lives(&pid)).await;
    let events = running.hook_events();
    let kinds: Vec<_> = events.iter().map(|(kind, ..)| kind.as_str()).collect();
    assert_eq!(kinds, ["hook/invoked", "hook/result"]);
    assert_eq!(events[1].2["status"], "cancelled");
    running.end().await;
}
