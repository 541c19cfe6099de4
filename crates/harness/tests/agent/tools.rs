//! The tools that come with the harness, in a run.

use seamline_harness::agent::Change;
use seamline_harness::model::scripted::{Play, ScriptBlock};
use seamline_harness::permission::Mode;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::tools::builtin;
use serde_json::json;

use crate::bench::{Bench, context, soon};

fn bench(turns: impl IntoIterator<Item = Play>) -> Bench {
    let mut bench = Bench::new(turns);
    bench.registry = builtin::registry().unwrap();
    bench
}

/// Write, read, edit, find and run in one turn; what hooks would see is Claude Code's.
#[tokio::test]
async fn all_of_them() {
    let bench = bench([
        Play::call(
            "Write",
            json!({"file_path": "src/a.txt", "content": "one\ntwo\n"}),
        ),
        Play::call(
            "Edit",
            json!({"file_path": "src/a.txt", "old_string": "two", "new_string": "2"}),
        ),
        Play::blocks([
            ScriptBlock::call("Read", json!({"file_path": "src/a.txt"})),
            ScriptBlock::call("Glob", json!({"pattern": "**/*.txt"})),
            ScriptBlock::call("Grep", json!({"pattern": "^2$", "output_mode": "content"})),
            ScriptBlock::call("Grep", json!({"pattern": "one"})),
        ]),
        Play::call("Bash", json!({"command": "cd src && cat a.txt"})),
        Play::call("Read", json!({"file_path": "a.txt"})),
        Play::text("done"),
    ]);
    let seen = bench.seen.clone();
    bench
        .tool_seams
        .result
        .on(&bench.scope, "values", move |result| {
            let value = result.outcome.result.as_ref().unwrap().value.value();
            let keys: Vec<&str> = value
                .as_object()
                .unwrap()
                .keys()
                .map(String::as_str)
                .collect();
            seen.note(format!("{} {}", result.call.name(), keys.join(" ")));
        });
    bench
        .seams
        .changed
        .on(&bench.scope, "moved", |changed| async move {
            let Change::Cwd { old, new } = changed.change else {
                return Vec::new();
            };
            assert_eq!(changed.facts.cwd, new);
            vec![context(&format!(
                "moved to {}",
                new.strip_prefix(old).unwrap().display()
            ))]
        });
    let outcome = soon(bench.run("go")).await;
    assert_eq!(outcome.end, TurnEndReason::Completed, "{:#?}", bench.log());
    let path = bench.project().join("src/a.txt").display().to_string();
    let asked = bench.asked(5);
    let results: Vec<&str> = asked
        .iter()
        .filter_map(|message| message.strip_prefix("result "))
        .collect();
    assert_eq!(
        results,
        [
            format!("File created successfully at: {path}").as_str(),
            format!("The file {path} has been updated successfully.").as_str(),
            "1\tone\n2\t2\n3\t",
            "src/a.txt",
            "src/a.txt:2:2",
            "Found 1 file\nsrc/a.txt",
            "one\n2",
            "1\tone\n2\t2\n3\t",
        ]
    );
    assert!(
        asked.contains(&"context moved to src".to_owned()),
        "{asked:?}"
    );
    assert_eq!(
        bench.seen.all()[..3],
        [
            "Write type filePath content structuredPatch originalFile userModified",
            "Edit filePath oldString newString originalFile structuredPatch userModified replaceAll",
            "Read type file",
        ]
    );
    let edited = asked
        .iter()
        .find(|message| message.contains("old_string"))
        .unwrap();
    assert!(
        edited.contains("\"replace_all\":false"),
        "defaults are filled in: {edited}"
    );
}

/// In the default mode, reading in the project is free; editing and running is not, and nobody
/// is there to ask.
#[tokio::test]
async fn the_default_mode_asks() {
    let bench = bench([
        Play::blocks([
            ScriptBlock::call("Glob", json!({"pattern": "*"})),
            ScriptBlock::call("Bash", json!({"command": "pwd"})),
            ScriptBlock::call("Bash", json!({"command": "touch x"})),
            ScriptBlock::call("Write", json!({"file_path": "x", "content": ""})),
            ScriptBlock::call("Read", json!({"file_path": "/etc/hostname"})),
        ]),
        Play::text("done"),
    ]);
    let agent = bench.builder().mode(Mode::Default).build();
    soon(agent.send("go")).await;
    let denied: Vec<bool> = bench.asked(1)[2..]
        .iter()
        .map(|result| result.contains("requires approval"))
        .collect();
    assert_eq!(denied, [false, false, true, true, true]);
    assert!(!bench.project().join("x").exists());
    assert!(
        bench.notices()[0].contains("choose a permission mode"),
        "{:?}",
        bench.notices()
    );
}
