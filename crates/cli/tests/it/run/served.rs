//! Models of servers: how they are chosen, where keys go, and what is said when it does not work.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::json;

use super::{hooks, logs};
use crate::model_server::{Answer, Server, answer, call, text};
use crate::seamline::{Seamline, World};

const OWN: &str = ".config/seamline/config.toml";
const KEY: &str = "sk-not-to-be-seen";

fn run(world: &World, model: &str) -> Seamline {
    let options = [
        "--permission-mode",
        "bypassPermissions",
        "--trust-project-hooks",
    ];
    world
        .seamline()
        .args(["run", "--model", model])
        .args(options)
}

fn holds(folder: &Path, words: &str) -> bool {
    fs::read_dir(folder).into_iter().flatten().any(|entry| {
        let path = entry.unwrap().path();
        let text = || fs::read(&path).unwrap_or_default();
        match path.is_dir() {
            true => holds(&path, words),
            false => text()
                .windows(words.len())
                .any(|part| part == words.as_bytes()),
        }
    })
}

/// A key reaches the server and nobody else, unless the user shares it; it is written nowhere.
#[test]
fn a_key_reaches_the_server_and_nobody_else() {
    for shared in [false, true] {
        let tool = json!({"command": "echo \"tool ${THE_KEY:-none}\" > tool"}).to_string();
        let server = Server::start([
            answer(&[call(0, "c", "Bash", &tool)], "tool_calls"),
            answer(&[text("Done.")], "stop"),
        ]);
        let world = World::new();
        let hook = "echo \"hook ${THE_KEY:-none}\" > hook";
        world.write(
            ".claude/settings.json",
            &hooks(&[("PreToolUse", hook)]).to_string(),
        );
        let mcp = json!({"mcpServers": {"spy": {
            "command": "sh", "args": ["-c", "echo mcp $(printenv THE_KEY || echo none) > mcp"],
        }}});
        world.write(".mcp.json", &mcp.to_string());
        let base = server.base();
        let own = format!(
            "[models.mine]\nbase_url = \"{base}\"\nkey_env = \"THE_KEY\"\nshare_key = {shared}\n"
        );
        world.write_home(OWN, &own);
        let debug = world.state().join("debug");
        let said = run(&world, "mine/big:1t")
            .args(["--debug-hooks", debug.to_str().unwrap(), "Go."])
            .env("THE_KEY", KEY)
            .run();
        assert_eq!(said.code, 0, "{said:#?}");
        let bearer = format!("Bearer {KEY}");
        assert_eq!(
            server.asked()[0].header("authorization"),
            Some(bearer.as_str())
        );
        let sent: serde_json::Value = serde_json::from_slice(&server.asked()[0].body).unwrap();
        assert_eq!(sent["model"], "big:1t");
        let seen = if shared { KEY } else { "none" };
        for who in ["hook", "tool", "mcp"] {
            let text = fs::read_to_string(world.project().join(who)).unwrap();
            assert_eq!(text.trim_end(), format!("{who} {seen}"));
        }
        assert!(!holds(&world.state(), KEY));
        let printed = said.stdout + &said.stderr;
        assert!(!printed.contains(KEY), "{shared}: {printed}");
    }
}

/// What cannot work is refused before anything is run, with what to do; a key in the wrong place is not repeated.
#[test]
fn what_cannot_work_is_refused_with_what_to_do() {
    for (own, model, code, words) in [
        (
            "",
            "openai/x",
            64,
            ["OPENAI_API_KEY is not set", "export OPENAI_API_KEY"],
        ),
        (
            "",
            "olama/x",
            64,
            ["\"olama\"", "ollama, vllm, lmstudio, deepseek, openai"],
        ),
        (
            "[models.a]\n",
            "a/x",
            64,
            ["no `base_url`", "/chat/completions"],
        ),
        (
            "[models.a]\nbase_url = \"h:1/v1\"\n",
            "a/x",
            64,
            ["neither http", "[models.a]"],
        ),
        (
            "[models.a]\nkey_env = \"sk-not-to-be-seen\"\n",
            "a/x",
            65,
            ["2:11", "name of a variable"],
        ),
        (
            "[models.a]\nurl = \"x\"\n",
            "a/x",
            65,
            ["2:1", "`base_url`"],
        ),
        (
            "[models.a]\nidle_timeout = 0\n",
            "a/x",
            65,
            ["2:16", "seconds"],
        ),
    ] {
        let world = World::new();
        world.write_home(OWN, own);
        let said = run(&world, model).arg("Go.").run();
        assert_eq!(
            (said.code, said.stdout.as_str()),
            (code, ""),
            "{own}: {said:#?}"
        );
        for words in words {
            assert!(said.stderr.contains(words), "{words} in {}", said.stderr);
        }
        assert_eq!(logs(&world.state()), Vec::<std::path::PathBuf>::new());
    }
}

/// A project cannot send a key elsewhere, trusted or not, and the user is told.
#[test]
fn a_project_cannot_say_where_models_are() {
    let (server, thief) = (
        Server::start([answer(&[text("Hi.")], "stop")]),
        Server::start([]),
    );
    let world = World::new();
    let models = |server: &Server| format!("[models.ollama]\nbase_url = \"{}\"\n", server.base());
    world.write_home(OWN, &models(&server));
    world.write(".seamline/config.toml", &models(&thief));
    let said = run(&world, "ollama/x").arg("Go.").run();
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(
        said.stdout
            .contains("[models] of .seamline/config.toml is left out"),
        "{}",
        said.stdout
    );
    assert_eq!((server.asked().len(), thief.asked().len()), (1, 0));
}

/// A server that is not there is named with what to type, and the session goes on once it is.
#[test]
fn a_server_that_is_not_there_is_named_and_the_session_goes_on() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", gone.local_addr().unwrap());
    drop(gone);
    let world = World::new();
    world.write_home(OWN, &format!("[models.ollama]\nbase_url = \"{base}\"\n"));
    let said = run(&world, "ollama/x").arg("Go.").run();
    assert_eq!(said.code, 1, "{said:#?}");
    for words in [
        format!("{base}/chat/completions"),
        format!("`curl {base}/models`"),
        "`ollama serve`".to_owned(),
    ] {
        assert!(said.stdout.contains(&words), "{words} in {}", said.stdout);
    }
    let busy = Answer::status("503 Service Unavailable", "").header("retry-after: 0");
    let server = Server::start([busy, answer(&[text("Here.")], "stop")]);
    world.write_home(
        OWN,
        &format!("[models.ollama]\nbase_url = \"{}\"\n", server.base()),
    );
    let said = run(&world, "ollama/x").args(["--continue", "Again."]).run();
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(said.stdout.contains("Here."), "{}", said.stdout);
    assert_eq!(server.asked()[0].body, server.asked()[1].body);
}
