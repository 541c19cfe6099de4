//! Configurations that are edited while an engine is at work.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seamline_hooks::config::{Loaded, Roots, load};
use seamline_hooks::engine::{EngineParts, Reread};
use seamline_hooks::mcp::NoServers;
use seamline_hooks::payload::Payload;
use seamline_hooks::runner::{Exit, Finished};
use seamline_hooks::testing::FakeExec;
use seamline_hooks::trust::TrustState;
use seamline_hooks::{DialectId, Engine, Firing, HandlerKey};
use tokio_util::sync::CancellationToken;

/// Reads the project's file again; hooks named `secret` are agreed to by nobody.
struct Again(PathBuf);

impl Reread for Again {
    fn reread(&self) -> Result<(Loaded, BTreeMap<HandlerKey, TrustState>), String> {
        let (loaded, trust) = read(&self.0);
        if let Some(found) = loaded.broken().next() {
            let line = found.position.unwrap().line;
            return Err(format!("line {line}: {}", found.message));
        }
        let mut handlers = loaded.handlers.iter();
        if handlers.any(|handler| handler.action.summary() == "secret") {
            return Err("nobody has agreed to `secret`".to_owned());
        }
        Ok((loaded, trust))
    }
}

fn read(root: &Path) -> (Loaded, BTreeMap<HandlerKey, TrustState>) {
    let loaded = load(DialectId::Codex, &Roots::new(root.join("home"), root));
    let handlers = loaded.handlers.iter();
    let trust = handlers.map(|handler| (handler.key.clone(), TrustState::Trusted));
    let trust = trust.collect();
    (loaded, trust)
}

struct Bench {
    folder: tempfile::TempDir,
    exec: FakeExec,
    engine: Engine,
}

impl Bench {
    fn new(commands: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_path_buf();
        write(&root, &hooks(commands));
        let exec = FakeExec::new();
        exec.otherwise(Finished::new(Exit::Code(0)));
        let (loaded, trust) = read(&root);
        let engine = Engine::new(EngineParts {
            loaded,
            trust,
            exec: Arc::new(exec.clone()),
            mcp: Arc::new(NoServers),
            base_env: Vec::new(),
            home: root.join("home"),
            spill_dir: root.join("spill"),
            project: root.clone(),
        });
        let engine = engine.reread_by(Arc::new(Again(root)));
        Self {
            folder,
            exec,
            engine,
        }
    }

    fn write(&self, text: &str) {
        write(self.folder.path(), text);
    }

    /// The commands that one event starts.
    async fn fire(&self) -> Vec<String> {
        let before = self.exec.commands().len();
        let firing = Firing {
            event: "PreToolUse",
            payload: Payload::from_text(r#"{"tool_name":"Bash"}"#).unwrap(),
            cwd: PathBuf::from("/"),
            env: Vec::new(),
            signal: CancellationToken::new(),
            ran_elsewhere: Vec::new(),
        };
        self.engine.fire(firing).await;
        self.exec.commands().split_off(before)
    }
}

fn hooks(commands: &[&str]) -> String {
    let handlers = commands.iter();
    let handlers = handlers.map(|it| format!(r#"{{"type":"command","command":"{it}"}}"#));
    let handlers: Vec<_> = handlers.collect();
    format!(
        r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{}]}}]}}}}"#,
        handlers.join(",")
    )
}

fn write(root: &Path, text: &str) {
    let file = root.join(".codex/hooks.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// An edit takes effect at the next look, and is announced with what is new and what is gone.
#[tokio::test]
async fn an_edit_takes_effect_and_is_announced() {
    let bench = Bench::new(&["one", "two"]);
    assert_eq!(bench.engine.refresh(), None);
    assert_eq!(bench.fire().await, ["one", "two"]);
    bench.write(&hooks(&["two", "three"]));
    let said = bench.engine.refresh().unwrap();
    assert!(said.contains(".codex/hooks.json was edited"), "{said}");
    let change = "2 in force, new: PreToolUse three, gone: PreToolUse one";
    assert!(said.ends_with(change), "{said}");
    assert_eq!(bench.fire().await, ["two", "three"]);
    assert_eq!(bench.engine.refresh(), None);
}

/// A gate is not lost to an edit that breaks its file, or that nobody has agreed to: what was in force
/// stays, and it is said why. Mended, it takes effect.
#[tokio::test]
async fn what_must_not_take_effect_does_not() {
    let bench = Bench::new(&["gate"]);
    for (text, why) in [
        ("{\"hooks\":", "line 1"),
        (hooks(&["secret"]).as_str(), "nobody has agreed to `secret`"),
    ] {
        bench.write(text);
        let said = bench.engine.refresh().unwrap();
        assert!(
            said.contains("stay as they were") && said.contains(why),
            "{said}"
        );
        assert_eq!(bench.fire().await, ["gate"]);
        assert_eq!(bench.engine.refresh(), None, "said once");
    }
    bench.write(&hooks(&["mended"]));
    assert!(bench.engine.refresh().is_some());
    assert_eq!(bench.fire().await, ["mended"]);
}

/// Files that come and go are edits too; one that says the same as before is not worth a word.
#[tokio::test]
async fn files_that_come_and_go() {
    let bench = Bench::new(&["one"]);
    let file = bench.folder.path().join(".codex/hooks.json");
    bench.write(&hooks(&["one"]));
    assert_eq!(bench.engine.refresh(), None);
    fs::remove_file(&file).unwrap();
    let said = bench.engine.refresh().unwrap();
    assert!(said.ends_with("0 in force, gone: PreToolUse one"), "{said}");
    assert!(bench.fire().await.is_empty());
    let toml = bench.folder.path().join(".codex/config.toml");
    fs::write(
        toml,
        "[[hooks.PreToolUse]]\nhooks = [{type = \"command\", command = \"t\"}]\n",
    )
    .unwrap();
    assert!(bench.engine.refresh().is_some());
    assert_eq!(bench.fire().await, ["t"]);
}

/// A file of the same length that takes the place of another is noticed.
#[tokio::test]
async fn a_file_that_takes_its_place() {
    let bench = Bench::new(&["one"]);
    let file = bench.folder.path().join(".codex/hooks.json");
    let other = bench.folder.path().join("other");
    fs::write(&other, hooks(&["two"])).unwrap();
    let old = fs::metadata(&file).unwrap().modified().unwrap();
    fs::File::options()
        .write(true)
        .open(&other)
        .unwrap()
        .set_modified(old)
        .unwrap();
    fs::rename(other, file).unwrap();
    assert!(bench.engine.refresh().is_some());
    assert_eq!(bench.fire().await, ["two"]);
}

/// Without somebody to read it again, a configuration stays as it was read.
#[test]
fn nobody_to_read_it_again() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &hooks(&["one"]));
    let (loaded, trust) = read(root.path());
    let engine = Engine::new(EngineParts {
        loaded,
        trust,
        exec: Arc::new(FakeExec::new()),
        mcp: Arc::new(NoServers),
        base_env: Vec::new(),
        home: root.path().to_path_buf(),
        spill_dir: root.path().to_path_buf(),
        project: root.path().to_path_buf(),
    });
    assert!(!engine.can_change());
    write(root.path(), &hooks(&["two"]));
    assert_eq!(engine.refresh(), None);
    assert!(engine.listens("PreToolUse"));
}
