//! Configurations that are edited during a turn.

use seamline_harness::model::scripted::Play;
use seamline_hooks::DialectId::{self, Claude, Codex};
use serde_json::json;

use crate::bench::{Bench, bash, refuses};

fn file(dialect: DialectId) -> &'static str {
    match dialect {
        Claude => ".claude/settings.json",
        Codex => ".codex/hooks.json",
    }
}

/// A gate that is put up during a turn gates the next call, and the user hears of it first; the call
/// that put it up was proposed before and is not judged by it.
#[tokio::test]
async fn a_gate_that_is_put_up_gates_the_next_call() {
    for dialect in DialectId::ALL {
        let put_up = format!("mv gate {}", file(dialect));
        let bench = Bench::new([bash(&put_up), bash("touch ran"), Play::text("Done.")])
            .on(dialect, "Stop", "true")
            .rereads();
        let handler = json!({"type": "command", "command": refuses("not now")});
        let gate = json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}});
        std::fs::write(bench.project().join("gate"), gate.to_string()).unwrap();
        let (_, running) = bench.go().await;
        let results = running.results();
        let results: Vec<_> = results.iter().map(|result| result.is_error).collect();
        assert_eq!(results, [false, true], "{dialect}");
        assert!(!running.exists("ran"), "{dialect}");
        let notices = running.notices();
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(
            notices[0].contains("1 in force, new: PreToolUse"),
            "{notices:?}"
        );
        running.end().await;
    }
}

/// A gate that is taken down during a turn is gone, and the user hears of that.
#[tokio::test]
async fn a_gate_that_is_taken_down_is_gone_and_said_to_be() {
    let call = || bash("touch ran");
    let running = Bench::new([call(), Play::text("No."), call(), Play::text("Done.")])
        .on(Codex, "PreToolUse", refuses("not now"))
        .rereads();
    let path = running.project().join(file(Codex));
    let running = running.start();
    running.send("go").await;
    assert!(!running.exists("ran"));
    std::fs::remove_file(path).unwrap();
    running.send("go").await;
    assert!(running.exists("ran"));
    assert!(
        running
            .notices()
            .iter()
            .any(|text| text.contains("gone: PreToolUse"))
    );
    running.end().await;
}
