//! The file tools on real files.

use std::fs;
use std::path::Path;

use seamline_seams::Signal;
use serde_json::{Value, json};

use super::*;
use crate::json::Json;
use crate::tools::{JsonTool, ToolContext, Workspace};

struct Bench {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Bench {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let workspace = Workspace::new(folder.path());
        Self { folder, workspace }
    }

    /// The value and what the model is shown; an error's message twice.
    async fn call(&self, tool: &dyn JsonTool, args: Value) -> (Value, String) {
        let args = Json::from(args);
        let context = ToolContext::new(self.workspace.clone(), Signal::new());
        match tool.run(args.clone(), context).await {
            Err(error) => (json!(error.message), error.message),
            Ok(value) => {
                tool.check_value(&value).unwrap();
                let shown = tool.render(&args, &value).unwrap().to_text();
                (value.value().clone(), shown)
            }
        }
    }

    async fn shown(&self, tool: &dyn JsonTool, args: Value) -> String {
        self.call(tool, args).await.1
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }
}

fn searched() -> Bench {
    Bench::new(&[
        ("a.rs", "fn one() {}\nfn two() {}\n"),
        ("src/b.rs", "// One\nfn three() {\n    one();\n}\n"),
        ("src/c.txt", "one\n"),
        (".hidden/d.rs", "one\n"),
        (".gitignore", "ignored/\n"),
        (".git/config", "one\n"),
        ("ignored/e.rs", "one\n"),
        ("bin", "one\0two"),
    ])
}

/// A repository of its own, so that ignore files count.
fn repository() -> Bench {
    let bench = searched();
    fs::write(bench.root().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    bench
}

/// The measured value of a write, and a second one over it.
#[tokio::test]
async fn write_creates_and_updates() {
    let bench = Bench::new(&[]);
    let path = bench.root().join("deep/new.txt").display().to_string();
    let (value, shown) = bench
        .call(
            &Write,
            json!({"file_path": "deep/new.txt", "content": "hello\n"}),
        )
        .await;
    assert_eq!(
        value,
        json!({
            "type": "create",
            "filePath": path,
            "content": "hello\n",
            "structuredPatch": [],
            "originalFile": null,
            "userModified": false,
        })
    );
    assert_eq!(shown, format!("File created successfully at: {path}"));
    let (value, _) = bench
        .call(&Write, json!({"file_path": path, "content": "bye\n"}))
        .await;
    assert_eq!(
        (&value["type"], &value["originalFile"]),
        (&json!("update"), &json!("hello\n"))
    );
    assert_eq!(
        value["structuredPatch"][0]["lines"],
        json!(["-hello", "+bye"])
    );
}

/// The measured value of an edit; a new file; a refusal changes nothing.
#[tokio::test]
async fn edit_changes_what_it_says() {
    let bench = Bench::new(&[("x.txt", "one\ntwo\n")]);
    let path = bench.root().join("x.txt").display().to_string();
    let edit = |file: &str, old: &str, new: &str| json!({"file_path": file, "old_string": old, "new_string": new});
    let (value, _) = bench.call(&Edit::new(), edit(&path, "two", "TWO")).await;
    assert_eq!(
        value,
        json!({
            "filePath": path,
            "oldString": "two",
            "newString": "TWO",
            "originalFile": "one\ntwo\n",
            "structuredPatch": [{
                "oldStart": 1,
                "oldLines": 2,
                "newStart": 1,
                "newLines": 2,
                "lines": [" one", "-two", "+TWO"],
            }],
            "userModified": false,
            "replaceAll": false,
        })
    );
    bench
        .call(&Edit::new(), edit("new/y.txt", "", "fresh"))
        .await;
    assert_eq!(
        fs::read_to_string(bench.root().join("new/y.txt")).unwrap(),
        "fresh"
    );
    let refused = bench.shown(&Edit::new(), edit(&path, "three", "3")).await;
    assert!(refused.contains("not in the file"), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\nTWO\n");
    let missing = bench.shown(&Edit::new(), edit("z.txt", "a", "b")).await;
    assert!(missing.starts_with("File does not exist."), "{missing}");
}

/// The measured text for a missing file; folders and other files than text are refused.
#[tokio::test]
async fn read_refuses_what_is_no_text() {
    let bench = Bench::new(&[("dir/x", "")]);
    fs::write(bench.root().join("raw"), [0xff, 0xfe]).unwrap();
    let read = |path: &str| json!({ "file_path": path });
    let cwd = bench.root().display();
    let expected = format!("File does not exist. Note: your current working directory is {cwd}.");
    assert_eq!(bench.shown(&Read, read("nope")).await, expected);
    assert!(
        bench
            .shown(&Read, read("dir"))
            .await
            .contains("is a directory")
    );
    assert!(
        bench
            .shown(&Read, read("raw"))
            .await
            .contains("is not a text file")
    );
    assert_eq!(bench.shown(&Read, read("dir/x")).await, "1\t");
}

/// Names: `*` stays in a folder, ignored files and `.git` are left out, last changed comes first.
#[tokio::test]
async fn glob_finds_names() {
    let bench = repository();
    let old = std::time::SystemTime::UNIX_EPOCH;
    let file = fs::File::options()
        .write(true)
        .open(bench.root().join("a.rs"))
        .unwrap();
    file.set_modified(old).unwrap();
    let glob = |pattern: &str| json!({ "pattern": pattern });
    assert_eq!(bench.shown(&Glob, glob("*.rs")).await, "a.rs");
    let all = bench.shown(&Glob, glob("**/*.rs")).await;
    let mut names: Vec<&str> = all.lines().collect();
    assert_eq!(names.last(), Some(&"a.rs"), "{all}");
    names.sort_unstable();
    assert_eq!(names, [".hidden/d.rs", "a.rs", "src/b.rs"]);
    assert_eq!(bench.shown(&Glob, glob("*.nope")).await, "No files found");
    let below = bench
        .shown(&Glob, json!({"pattern": "*.rs", "path": "src"}))
        .await;
    assert_eq!(below, "src/b.rs", "relative to where the session is");
    assert!(
        bench
            .shown(&Glob, glob("a["))
            .await
            .contains("does not parse")
    );
    assert!(
        bench
            .shown(&Glob, json!({"pattern": "*", "path": "no"}))
            .await
            .contains("There is no")
    );
    let (value, _) = bench.call(&Glob, glob("*.rs")).await;
    assert_eq!(
        (&value["numFiles"], &value["totalMatches"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        (&value["truncated"], &value["countIsComplete"]),
        (&json!(false), &json!(true))
    );
}

/// What each way of searching shows.
#[tokio::test]
async fn grep_table() {
    let bench = repository();
    let cases = [
        (
            json!({}),
            "Found 4 files\n.hidden/d.rs\na.rs\nsrc/b.rs\nsrc/c.txt",
        ),
        (json!({"glob": "*.txt"}), "Found 1 file\nsrc/c.txt"),
        (
            json!({"type": "rust", "path": "src"}),
            "Found 1 file\nsrc/b.rs",
        ),
        (
            json!({"path": "a.rs", "output_mode": "content"}),
            "a.rs:1:fn one() {}",
        ),
        (
            json!({"path": "a.rs", "output_mode": "content", "-n": false}),
            "a.rs:fn one() {}",
        ),
        (
            json!({"path": "src/b.rs", "output_mode": "content", "-B": 1, "-A": 1}),
            "src/b.rs-2-fn three() {\nsrc/b.rs:3:    one();\nsrc/b.rs-4-}",
        ),
        (
            json!({"path": "src/b.rs", "output_mode": "content", "-i": true}),
            "src/b.rs:1:// One\nsrc/b.rs:3:    one();",
        ),
        (
            json!({"path": "src", "output_mode": "count", "-i": true}),
            "src/b.rs:2\nsrc/c.txt:1\n\n3 matching lines in 2 files",
        ),
        (
            json!({"head_limit": 1}),
            "Found 4 files\n.hidden/d.rs\n(Only the first 1 are shown: raise head_limit.)",
        ),
        (json!({"pattern": "nowhere"}), "No files found"),
        (
            json!({"pattern": "nowhere", "output_mode": "content"}),
            "No matches found",
        ),
        (
            json!({"pattern": "one.*two", "multiline": true, "output_mode": "content", "path": "a.rs"}),
            "a.rs:1:fn one() {}\na.rs:2:fn two() {}",
        ),
    ];
    for (more, expected) in cases {
        let mut args = json!({"pattern": "one"});
        args.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        assert_eq!(bench.shown(&Grep, args.clone()).await, expected, "{args}");
    }
    let (value, _) = bench
        .call(&Grep, json!({"pattern": "one", "path": "src/c.txt"}))
        .await;
    let names = json!(["src/c.txt"]);
    let mode = "files_with_matches";
    assert_eq!(
        value,
        json!({"mode": mode, "filenames": names, "numFiles": 1, "totalFiles": 1})
    );
    assert!(
        bench
            .shown(&Grep, json!({"pattern": "("}))
            .await
            .contains("does not parse")
    );
    assert!(
        bench
            .shown(&Grep, json!({"pattern": "x", "type": "no"}))
            .await
            .contains("file type")
    );
}
