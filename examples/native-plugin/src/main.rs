//! One native plugin on every seam, played through the real loop.
//!
//! `desk` is the tool, [`foreman`] the plugin. Each scene is a prompt whose `@@name` picks what the
//! scripted model does, so that every run prints the same: what each seam was told and what it
//! answered, in order. The README holds the output, and a test holds the README.

mod desk;
mod foreman;

use std::collections::BTreeSet;
use std::error::Error;

use seamline_harness::agent::{Agent, AgentHandle};
use seamline_harness::model::ModelError;
use seamline_harness::session::Session;
use seamline_harness::testing::{Journal, Moment, Play, ScriptBlock, Scripted, Scripts};
use seamline_harness::tools::Registry;
use seamline_seams::Scope;
use serde_json::json;

use crate::desk::Desk;
use crate::foreman::Foreman;

/// What is sent, scene by scene.
const SCENES: [&str; 9] = [
    "@@greet Say hello, plase.",
    "@@rules Deploy, open the vault, drop the table.",
    "@@secret Read me the keys.",
    "Give me the password.",
    "@@review Merge it.",
    "@@build Build it.",
    "@@moves Go home, and then stop.",
    "@@stubborn Are we done?",
    "@@busy Hello?",
];

fn scripts() -> Scripts {
    let desk = |order: &str| Play::call("Desk", json!({ "do": order }));
    let three = ["deploy", "open the vault", "drop table"]
        .map(|it| ScriptBlock::call("Desk", json!({ "do": it })));
    let busy = ModelError {
        status: Some(529),
        kind: "overloaded_error".to_owned(),
        message: "Overloaded".to_owned(),
    };
    Scripts::default()
        .with("main", [Play::text("Good morning.")])
        .with("greet", [desk("say helo"), Play::text("Hello.")])
        .with("rules", [Play::blocks(three), Play::text("One of three.")])
        .with(
            "secret",
            [desk("read keys"), Play::text("The key is hunter2.")],
        )
        .with("review", [desk("merge"), Play::text("Merged.")])
        .with("build", [desk("build"), Play::text("It builds.")])
        .with("built", [Play::text("Good to know.")])
        .with(
            "moves",
            [desk("go /usr"), desk("stop"), Play::text("Not reached.")],
        )
        .with(
            "stubborn",
            [
                Play::text("Done."),
                Play::text("Really."),
                Play::text("Yes!"),
            ],
        )
        .with("busy", [Play::Fail(busy)])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    registry.add(Desk)?;
    let model = Scripted::new(scripts());
    let agent = Agent::builder(model, Session::ephemeral("/"))
        .tools(registry)
        .build();
    let (plugins, journal) = (Scope::root("plugins"), Journal::new());
    let foreman = Foreman::new(agent.handle());
    foreman.install(&plugins.child("foreman"));
    journal.install(&plugins.child("journal"), &agent);

    println!("The foreman listens on {}.", seams_of(&agent, "foreman"));
    println!("There are {}.", seams_of(&agent, "journal"));

    let mut told = 0;
    for scene in SCENES {
        println!("\n# {scene}");
        agent.send(scene).await;
        if let Some(resumed) = agent.resume() {
            resumed.await;
        }
        foreman.finish_errands().await;
        told = show(&journal, told);
    }
    println!("\n# the end");
    let handle = agent.handle();
    agent.close("done").await?;
    show(&journal, told);
    plugins.dispose().await; // nothing of the plugin is called any more
    println!("\nNow it listens on {}.", seams_of(&handle, "foreman"));
    Ok(())
}

/// How many seams `name` listens on. The journal listens on all of them.
fn seams_of(agent: &AgentHandle, name: &str) -> String {
    let all = [agent.seams().describe(), agent.tool_seams().describe()].concat();
    let own = all.iter().filter(|it| it.name == name).map(|it| it.seam);
    format!("{} seams", own.collect::<BTreeSet<_>>().len())
}

/// Prints what is new in the journal: questions to people, answers, what was told beside them, and
/// how each turn ended. Returns how long the journal is.
fn show(journal: &Journal, from: usize) -> usize {
    let entries = journal.entries();
    for entry in entries.iter().skip(from) {
        let shown = match (entry.seam, entry.moment) {
            ("agent.events", _) => entry.text.starts_with("turn ended"),
            ("tools.approval", _) => true,
            (_, moment) => moment != Moment::Asked,
        };
        if shown {
            println!("  {}", entry.to_string().replace('\n', "\n    "));
        }
    }
    entries.len()
}
