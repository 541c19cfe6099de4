//! A program that calls tools without an agent has hooks judge its calls too.

use std::path::Path;
use std::sync::Arc;

use seamline_bridges::{Bridge, BridgeOptions, Witness};
use seamline_harness::Facts;
use seamline_harness::json::Json;
use seamline_harness::permission::{Mode, Permission};
use seamline_harness::tools::pipeline::{Pipeline, Settled, Written};
use seamline_harness::tools::{ToolSeams, Workspace, builtin};
use seamline_hooks::{DialectId, Profile};
use seamline_seams::{FaultLog, Scope, Signal};
use serde_json::json;

use crate::bench::{Fires, engine, soon};

/// A call of Bash in a folder, judged by one hook on one event.
async fn call(
    (dialect, event, hook): (DialectId, &str, &str),
    command: &str,
    folder: &Path,
) -> (Settled, Fires) {
    let home = folder.canonicalize().unwrap();
    let project = home.join("project");
    std::fs::create_dir_all(&project).unwrap();
    let hooks = json!({event: [{"hooks": [{"type": "command", "command": hook}]}]});
    let engine = engine((dialect, Profile::default()), &hooks, &home, &project);
    let fired = Fires::default();
    let witness: Arc<dyn Witness> = Arc::new(fired.clone());
    let bridge = Bridge::new(Arc::new(engine), BridgeOptions::of(dialect), None, witness);
    let (scope, seams) = (Scope::root("alone"), ToolSeams::new(&FaultLog::new()));
    assert!(bridge.register_without_agent(&scope, &seams));
    let again = bridge.register_without_agent(&scope, &seams);
    assert!(!again, "a bridge serves one pipeline");
    let pipeline = Pipeline::new(
        seams,
        builtin::registry().unwrap(),
        Permission::new(Mode::BypassPermissions),
        Workspace::new(project.clone()),
    );
    let written = Written {
        call_id: "c1".to_owned(),
        name: "Bash".to_owned(),
        arguments: Json::from(json!({ "command": command })),
    };
    let facts = Arc::new(Facts::outside(project));
    let settled = soon(pipeline.run(written, facts, Signal::new())).await;
    soon(scope.dispose()).await;
    (settled, fired)
}

/// The body does not run, the hook works in the program's folder, and there is neither a turn nor a
/// log to name.
#[tokio::test]
async fn a_hook_denies_a_call_that_has_no_agent() {
    for dialect in DialectId::ALL {
        let folder = tempfile::tempdir().unwrap();
        let hook = "touch hooked; echo no >&2; exit 2";
        let (settled, fired) =
            call((dialect, "PreToolUse", hook), "touch ran", folder.path()).await;
        assert!(settled.result.outcome.is_error(), "{dialect}");
        assert!(
            settled.result.outcome.content().to_text().contains("no"),
            "{dialect}"
        );
        let project = folder.path().join("project");
        assert_eq!(
            (
                project.join("hooked").exists(),
                project.join("ran").exists()
            ),
            (true, false)
        );
        let payload = fired.payloads("PreToolUse")[0].value().clone();
        let (turn, log) = match dialect {
            DialectId::Claude => (payload.get("prompt_id").is_none(), json!("")),
            DialectId::Codex => (payload["turn_id"] == "", json!(null)),
        };
        assert!(turn, "{payload}");
        assert_eq!(payload["transcript_path"], log, "{dialect}");
    }
}

#[tokio::test]
async fn the_context_of_a_hook_comes_with_the_result_of_a_call_that_has_no_agent() {
    let said = json!({"hookSpecificOutput": {
        "hookEventName": "PostToolUse", "additionalContext": "look"}});
    let hook = format!("echo '{said}'");
    for dialect in DialectId::ALL {
        let folder = tempfile::tempdir().unwrap();
        let (settled, _) = call((dialect, "PostToolUse", &hook), "echo fine", folder.path()).await;
        assert!(!settled.result.outcome.is_error(), "{dialect}");
        let contexts: Vec<_> = settled.contexts.iter().map(|by| by.text.as_str()).collect();
        assert_eq!(contexts.len(), 1, "{dialect}");
        assert!(contexts[0].contains("look"), "{dialect}");
    }
}
