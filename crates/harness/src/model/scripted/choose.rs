//! Which turn of which script answers a request.

use std::sync::Arc;

use super::script::{Play, Scripts};
use crate::model::{Message, ModelError};

/// The turn to play, and how many assistant messages the whole conversation has.
pub(super) fn choose(
    messages: &[Arc<Message>],
    scripts: &Scripts,
) -> Result<(Play, usize), ModelError> {
    let (mut name, mut turn, mut place) = ("main", 0, 0);
    for message in messages {
        match &**message {
            Message::User { content, .. } => {
                tagged(&content.to_text(), scripts, &mut name, &mut turn);
            }
            Message::Context { text, .. } => tagged(text, scripts, &mut name, &mut turn),
            Message::Assistant { .. } => {
                turn += 1;
                place += 1;
            }
            Message::ToolResult { .. } => {}
        }
    }
    let script = scripts.0.get(name).ok_or_else(|| missing(scripts))?;
    Ok((
        script
            .get(turn)
            .cloned()
            .unwrap_or_else(|| Play::text("DONE")),
        place,
    ))
}

/// The last `@@name` that is a script; from there on turns are counted anew.
fn tagged<'a>(text: &str, scripts: &'a Scripts, name: &mut &'a str, turn: &mut usize) {
    for rest in text.split("@@").skip(1) {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        if let Some((known, _)) = scripts.0.get_key_value(word) {
            *name = known;
            *turn = 0;
        }
    }
}

fn missing(scripts: &Scripts) -> ModelError {
    let known: Vec<&str> = scripts.0.keys().map(String::as_str).collect();
    ModelError {
        status: None,
        kind: "no_script".to_owned(),
        message: format!(
            "no script fits this request: write @@NAME into the prompt, or name a script main \
             (there are: {})",
            known.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Content, Source};
    use crate::model::Block;

    fn user(text: &str) -> Arc<Message> {
        Arc::new(Message::User {
            content: Content::text(text),
            source: Source::User,
        })
    }

    fn assistant() -> Arc<Message> {
        let blocks = vec![Block::Text {
            text: "@@other".to_owned(),
        }];
        Arc::new(Message::Assistant { blocks })
    }

    /// The choice follows from the request alone: newest known tag, messages since.
    #[test]
    fn table() {
        let scripts = Scripts::main(["m0", "m1", "m2"].map(Play::text))
            .with("other", ["o0", "o1"].map(Play::text));
        let cases: [(&str, Vec<Arc<Message>>, usize); 8] = [
            ("m0", vec![user("go")], 0),
            ("m1", vec![user("go"), assistant(), user("on")], 1),
            ("o0", vec![user("@@other go")], 0),
            ("o1", vec![user("x @@main @@other."), assistant()], 1),
            ("o0", vec![user("go"), assistant(), user("@@other")], 1),
            (
                "o1",
                vec![user("@@other"), assistant(), user("@@unknown @@ x")],
                1,
            ),
            ("DONE", vec![user("@@other"), assistant(), assistant()], 2),
            ("m0", vec![user("mail me@@home")], 0),
        ];
        for (expected, messages, place) in cases {
            let chosen = choose(&messages, &scripts).unwrap();
            assert_eq!(chosen, (Play::text(expected), place), "{messages:?}");
        }
    }

    /// A script file without `main` says what to do about an untagged prompt.
    #[test]
    fn an_untagged_prompt_needs_main() {
        let scripts = Scripts::default().with("demo", [Play::text("x")]);
        let error = choose(&[user("go")], &scripts).unwrap_err();
        assert!(
            error.message.contains("@@NAME") && error.message.contains("demo"),
            "{error}"
        );
    }
}
