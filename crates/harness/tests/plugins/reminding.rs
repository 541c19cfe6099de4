//! The reminder of repeated calls, through the loop.

use seamline_harness::agent::Agent;
use seamline_harness::content::Source;
use seamline_harness::model::Message;
use seamline_harness::permission::Mode;
use seamline_harness::session::Session;
use seamline_harness::testing::{Play, Recorder, Scripted, Scripts};
use seamline_harness::tools::{PreDecision, Registry};
use seamline_seams::{Scope, Source as Speaker};
use serde_json::{Value, json};

use crate::plugins::RepeatedCall;
use crate::worker::Worker;

/// Plays the calls, and says which of them were followed by which reminder.
struct Circle {
    agent: Agent,
    model: Recorder<Scripted>,
    scope: Scope,
}

impl Circle {
    fn new(scripts: Scripts) -> Self {
        let registry = Registry::new();
        registry.add(Worker::default()).unwrap();
        let model = Recorder::new(Scripted::new(scripts));
        let agent = Agent::builder(model.clone(), Session::ephemeral("/"))
            .tools(registry)
            .mode(Mode::BypassPermissions)
            .build();
        Self {
            agent,
            model,
            scope: Scope::root("plugins"),
        }
    }

    /// For each call so far, whether a reminder came after its result, and what it said.
    fn reminders(&self) -> Vec<Option<String>> {
        let requests = self.model.requests();
        let mut reminders = Vec::new();
        for message in &requests.last().unwrap().messages {
            match &**message {
                Message::ToolResult { .. } => reminders.push(None),
                Message::Context { text, source } if is_ours(source) => {
                    *reminders.last_mut().unwrap() = Some(text.clone());
                }
                _ => {}
            }
        }
        reminders
    }

    /// The numbers of the calls that were followed by a reminder, counting from 1.
    fn reminded(&self) -> Vec<usize> {
        let reminders = self.reminders().into_iter().zip(1..);
        reminders.filter_map(|(it, n)| it.map(|_| n)).collect()
    }
}

fn is_ours(source: &Source) -> bool {
    matches!(source, Source::Plugin { plugin, .. } if plugin == "repeated-call")
}

fn calls(orders: impl IntoIterator<Item = Value>) -> Vec<Play> {
    orders
        .into_iter()
        .map(|order| Play::call("Work", order))
        .collect()
}

/// At the third, fifth and eighth time, and never again; the call runs all the same.
#[tokio::test]
async fn the_third_fifth_and_eighth_identical_call_is_remarked_on() {
    let circle = Circle::new(Scripts::main(calls(vec![json!({"name": "x"}); 10])));
    RepeatedCall::default().install(&circle.scope, &circle.agent);
    circle.agent.send("go").await;
    assert_eq!(circle.reminded(), [3, 5, 8]);
    let third = circle.reminders().swap_remove(2).unwrap();
    assert!(
        third.starts_with("This is call 3 of Work with the same arguments"),
        "{third}"
    );
    assert_eq!(circle.reminders().len(), 10);
}

/// The same value is the same call, whatever the order of keys; anything else is another one.
#[tokio::test]
async fn identity_is_the_name_and_the_canonical_arguments() {
    let orders = [
        json!({"name": "x", "effects": "reads", "deep": {"a": 1, "b": 2}}),
        json!({"name": "y"}),
        json!({"effects": "reads", "deep": {"b": 2, "a": 1}, "name": "x"}),
        json!({"name": "y", "deep": [1, 2]}),
        json!({"name": "y", "deep": [2, 1]}),
    ];
    let circle = Circle::new(Scripts::main(calls(orders)));
    RepeatedCall::at([2]).install(&circle.scope, &circle.agent);
    circle.agent.send("go").await;
    assert_eq!(circle.reminded(), [3]);
}

/// A denial is a result like any other: asking for it again is going in circles, too.
#[tokio::test]
async fn denied_calls_count() {
    let circle = Circle::new(Scripts::main(calls(vec![json!({"name": "x"}); 3])));
    RepeatedCall::default().install(&circle.scope, &circle.agent);
    let pre = &circle.agent.tool_seams().pre;
    pre.on(&circle.scope, "no", |_, _| async {
        let (reason, by) = ("no".to_owned(), Speaker::new("no"));
        Ok(PreDecision::Deny { reason, by }.into())
    });
    circle.agent.send("go").await;
    assert_eq!(circle.reminded(), [3]);
}

/// A prompt of the user starts anew; one of a plugin does not.
#[tokio::test]
async fn a_prompt_of_the_user_starts_anew() {
    let twice = || calls(vec![json!({"name": "x"}); 2]);
    let scripts = Scripts::main(twice()).with("more", twice());
    for (user, reminded) in [(true, vec![]), (false, vec![3])] {
        let circle = Circle::new(scripts.clone());
        RepeatedCall::default().install(&circle.scope, &circle.agent);
        circle.agent.send("go").await;
        match user {
            true => circle.agent.send("@@more").await,
            false => {
                let plugin = Speaker::new("planner").into();
                circle.agent.send_as("@@more".into(), plugin).await
            }
        };
        assert_eq!(circle.reminded(), reminded);
    }
}
