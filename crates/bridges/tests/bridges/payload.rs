//! What hooks read: the keys of the event's row, in its order, each with a value.

use seamline_harness::model::scripted::Play;
use seamline_harness::permission::Mode;
use seamline_hooks::DialectId::{self, Claude, Codex};
use seamline_hooks::EventRow;
use serde_json::{Map, Value, json};

use crate::bench::{Bench, bash, soon};

const BOTH: [&str; 7] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "Stop",
    "SessionEnd",
];

fn in_order_of(row: &EventRow, object: &Map<String, Value>) {
    let present = |key: &&str| object.contains_key(*key);
    let of_row = row.keys.iter().map(|key| key.trim_end_matches('?'));
    let expected: Vec<&str> = of_row.filter(present).collect();
    let keys: Vec<&str> = object.keys().map(String::as_str).collect();
    assert_eq!(keys, expected, "{}", row.name);
    let required = row.keys.iter().filter(|key| !key.ends_with('?'));
    let missing: Vec<_> = required.filter(|key| !present(key)).collect();
    assert!(missing.is_empty(), "{}: {missing:?}", row.name);
    let null: Vec<_> = object.iter().filter(|(_, value)| value.is_null()).collect();
    assert!(null.is_empty(), "{}: {null:?}", row.name);
}

/// Compared twice: as the witness is shown it, and as the hook itself read it.
#[tokio::test]
async fn every_event_has_the_keys_of_its_row_in_order_and_nothing_is_null() {
    for dialect in DialectId::ALL {
        let mut bench = Bench::new([bash("echo hi"), bash("exit 3"), Play::text("Done.")]);
        bench = bench.mode(Mode::Default);
        let mut events = BOTH.to_vec();
        if dialect == Claude {
            events.extend(["PostToolUseFailure", "PostToolBatch"]);
        }
        let allow = json!({"decision": {"behavior": "allow"}});
        for event in &events {
            let tail = match *event {
                "PermissionRequest" => crate::bench::answers(event, allow.clone()),
                _ => "true".to_owned(),
            };
            bench = bench.on(dialect, event, format!("cat > read.{event}; {tail}"));
        }
        let (_, running) = bench.go().await;
        let folder = running.path("");
        let fired = running.fired.clone();
        soon(running.agent.close("test")).await.unwrap();
        for event in events {
            let payloads = fired.payloads(event);
            let last = payloads
                .last()
                .unwrap_or_else(|| panic!("{dialect} {event}"));
            let row = dialect.table().event(event).unwrap();
            for payload in &payloads {
                in_order_of(row, payload.value().as_object().unwrap());
            }
            let read = std::fs::read_to_string(folder.join(format!("read.{event}"))).unwrap();
            assert_eq!(
                read.trim_end_matches('\n'),
                last.text(),
                "{dialect} {event}"
            );
            assert_eq!(read.ends_with('\n'), dialect == Claude);
        }
        soon(running.scope.dispose()).await;
    }
}

#[tokio::test]
async fn a_payload_has_the_facts_of_the_session() {
    for dialect in DialectId::ALL {
        let bench = Bench::shell("echo hi").on(dialect, "PreToolUse", "pwd > where");
        let project = bench.project().to_str().unwrap().to_owned();
        let (outcome, running) = bench.go().await;
        let payload = &running.fired.payloads("PreToolUse")[0];
        let log = running.session.path().unwrap().to_str().unwrap();
        assert_eq!(payload.str_field("cwd"), Some(project.as_str()));
        assert_eq!(
            running.text("where").trim(),
            project,
            "a hook runs in the session's folder"
        );
        assert_eq!(payload.str_field("transcript_path"), Some(log));
        assert_eq!(
            payload.str_field("permission_mode"),
            Some("bypassPermissions")
        );
        let id = running.session.id().to_string();
        assert_eq!(payload.str_field("session_id"), Some(id.as_str()));
        let turn = outcome.turn.unwrap().1.to_string();
        let key = match dialect {
            Claude => "prompt_id",
            Codex => "turn_id",
        };
        assert_eq!(payload.str_field(key), Some(turn.as_str()));
        let model = (dialect == Codex).then_some("test-model");
        assert_eq!(payload.str_field("model"), model);
        assert_eq!(payload.value()["tool_input"], json!({"command": "echo hi"}));
        running.end().await;
    }
}

/// Numbers keep their text on the way to a hook.
#[tokio::test]
async fn an_input_reaches_the_hook_as_the_model_wrote_it() {
    let call = r#"{"command":"true","timeout":1000,"x":1.10,"big":123456789012345678901}"#;
    let call = Play::call("Bash", seamline_harness::json::Json::parse(call).unwrap());
    let (_, running) = Bench::new([call])
        .on(Claude, "PreToolUse", "true")
        .go()
        .await;
    let text = running.fired.payloads("PreToolUse")[0].text().to_owned();
    assert!(
        text.contains(r#""x":1.10,"big":123456789012345678901"#),
        "{text}"
    );
    running.end().await;
}

#[tokio::test]
async fn without_a_log_the_transcript_is_empty_in_claude_and_null_in_codex() {
    for (dialect, path) in [(Claude, json!("")), (Codex, json!(null))] {
        let bench = Bench::shell("echo hi").on(dialect, "PreToolUse", "true");
        let (_, running) = bench.ephemeral().go().await;
        let payload = &running.fired.payloads("PreToolUse")[0];
        assert_eq!(payload.value()["transcript_path"], path, "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn a_claude_hook_finds_the_sessions_folder_in_its_environment() {
    let bench =
        Bench::shell("echo hi").on(Claude, "PreToolUse", "echo $CLAUDE_PROJECT_DIR > where");
    let project = bench.project().to_str().unwrap().to_owned();
    let (_, running) = bench.go().await;
    assert_eq!(running.text("where").trim(), project);
    running.end().await;
}

/// Hooks of both protocols read our permission mode in their own word for it.
#[tokio::test]
async fn the_permission_mode_is_the_dialects_word() {
    for dialect in DialectId::ALL {
        for mode in Mode::ALL {
            let bench = Bench::new([bash("true"), Play::text("Done.")])
                .mode(mode)
                .on(dialect, "PreToolUse", "true");
            let (_, running) = bench.go().await;
            let payloads = running.fired.payloads("PreToolUse");
            let word = seamline_bridges::permission_mode(dialect, mode);
            let payload = payloads.first().unwrap();
            assert_eq!(
                payload.str_field("permission_mode"),
                Some(word),
                "{dialect} {mode}"
            );
            running.end().await;
        }
    }
}
