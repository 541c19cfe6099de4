//! What the loop itself costs: `cargo bench -p seamline-harness`. Turns a second with the scripted
//! model, lowest and median over fresh sessions. A report, not a test: nothing fails on a slow
//! machine.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use seamline_harness::agent::Agent;
use seamline_harness::content::Content;
use seamline_harness::model::scripted::{Play, ScriptBlock, Scripted, Scripts};
use seamline_harness::permission::Mode;
use seamline_harness::session::{Place, Session};
use seamline_harness::tools::{Effects, Registry, Tool, ToolContext, ToolError};
use serde_json::{Value, json};

const SESSIONS: usize = 30;
const TURNS: usize = 200;

/// A tool that does nothing and may overlap with itself.
struct Nothing;

impl Tool for Nothing {
    type Args = Value;
    type Value = ();

    fn name(&self) -> &str {
        "Nothing"
    }
    fn description(&self) -> &str {
        "Does nothing."
    }
    fn schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn concurrency_safe(&self, _: &Value) -> bool {
        true
    }
    fn effects(&self, _: &Value, _: &Path) -> Effects {
        Effects::Reads(Vec::new())
    }
    async fn run(&self, _: Value, _: ToolContext) -> Result<(), ToolError> {
        Ok(())
    }
    fn render(&self, _: &Value, (): &()) -> Content {
        Content::text("done")
    }
}

/// Turns of one message with `calls` calls (none for 0) and an answer.
fn script(calls: usize) -> Scripts {
    let call = || ScriptBlock::call("Nothing", json!({}));
    let answer = Play::text("done");
    let turn = match calls {
        0 => vec![answer],
        _ => vec![Play::blocks((0..calls).map(|_| call())), answer],
    };
    Scripts::main([]).with("t", turn)
}

/// Turns a second in one fresh session of `TURNS` turns.
async fn session(session: Session, calls: usize) -> Result<f64, Box<dyn Error>> {
    let tools = Registry::new();
    tools.add(Nothing)?;
    let agent = Agent::builder(Scripted::new(script(calls)), session)
        .mode(Mode::BypassPermissions)
        .tools(tools)
        .build();
    agent.start().await?;
    let started = Instant::now();
    for _ in 0..TURNS {
        agent.send("@@t go").await;
    }
    let elapsed = started.elapsed();
    agent.close("done").await?;
    Ok(TURNS as f64 / elapsed.as_secs_f64())
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Runtime::new()?;
    let folder = tempfile::tempdir()?;
    println!("turns a second, lowest and median of {SESSIONS} sessions of {TURNS} turns");
    for (kept, calls) in [(false, 0), (false, 1), (false, 8), (true, 0), (true, 1)] {
        let mut rates = Vec::new();
        for _ in 0..SESSIONS {
            let place = Place::new(folder.path(), folder.path());
            let log = match kept {
                true => Session::create(&place)?,
                false => Session::ephemeral(folder.path()),
            };
            rates.push(runtime.block_on(session(log, calls))?);
        }
        rates.sort_by(f64::total_cmp);
        let (lowest, median) = (rates.first(), rates.get(SESSIONS / 2));
        println!(
            "{} log, {calls} calls: {:.0} {:.0}",
            if kept { "file" } else { "memory" },
            lowest.copied().unwrap_or_default(),
            median.copied().unwrap_or_default(),
        );
    }
    Ok(())
}
