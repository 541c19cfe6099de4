//! The page on the log is what the code says. `UPDATE_DOCS=1` writes it.

use std::cell::Cell;
use std::path::Path;

use serde::de::value::Error;
use serde::de::{Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::everything;
use crate::session::Entry;
use crate::session::event::{Event, KINDS};

/// What each event says.
const SAYS: &[(&str, &str)] = &[
    (
        "session/start",
        "a process took the session up: `source` is startup, resume, fork, clear or compact",
    ),
    (
        "session/title",
        "the session was given a name; the last one counts",
    ),
    (
        "session/end",
        "the process let go of the session, with the host's reason",
    ),
    (
        "turn/start",
        "a turn began; `trigger` is prompt, or resume for a call that was put off",
    ),
    (
        "turn/end",
        "it ended; `kind` of the reason is completed, stopped, rejected, deferred, aborted (by \
         `cause`), max_tokens, error or interrupted",
    ),
    (
        "step/start",
        "one request and the calls that come of it; steps count from 1 in each turn",
    ),
    ("step/end", "all calls of the step are answered or put off"),
    ("user/message", "a prompt as the model sees it"),
    (
        "prompt/blocked",
        "a prompt that was refused: as it was written, why, and by whom; never shown to the model",
    ),
    (
        "assistant/message",
        "what the model said, as it came: blocks of type text, reasoning, tool_call, and provider (JSON text with whatever \
         else the server sent; only the provider reads it); `interrupted` when it was cut off by a cancellation",
    ),
    (
        "tool/call",
        "a decided call: the `arguments` in force; the model's `original` and `rewritten_by` when \
         they were changed; `approval` when somebody was to be asked, with what came of it; `denied` \
         when it will not run; `parent` when a tool made it",
    ),
    (
        "tool/result",
        "what the model is shown for the call; `error` has the name and code of a failure",
    ),
    ("context/message", "text that a plugin added for the model"),
    (
        "steering/message",
        "input that joined a running turn, or a reason to go on",
    ),
    (
        "request/header",
        "model, system prompt and tools of the requests from here on; only when they changed",
    ),
    (
        "notice",
        "something the user was told; never shown to the model",
    ),
];

/// Learns the names of a struct's fields, and reads nothing.
#[derive(Default)]
struct Fields(Cell<&'static [&'static str]>);

impl<'de> Deserializer<'de> for &Fields {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.0.set(fields);
        Err(Error::custom("only the fields are wanted"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("an event is a struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The fields of an event, those with a `?` that may be missing.
fn fields(event: &Event) -> String {
    let known = Fields::default();
    let _ = Event::read(event.kind(), &known);
    assert!(!known.0.get().is_empty(), "{}", event.kind());
    let data: Value = serde_json::from_str(event.data().unwrap().get()).unwrap();
    let missing = |field: &str| {
        let mut rest = data.clone();
        rest.as_object_mut().unwrap().remove(field);
        Event::read(event.kind(), rest).unwrap().is_ok()
    };
    let marked = known.0.get().iter().map(|field| match missing(field) {
        true => format!("`{field}?`"),
        false => format!("`{field}`"),
    });
    marked.collect::<Vec<_>>().join(", ")
}

fn table() -> String {
    let mut table = String::from("| event | fields of `data` | what it says |\n|---|---|---|\n");
    let named: Vec<&str> = SAYS.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(
        named, KINDS,
        "each event is explained, in the order of the code"
    );
    for (kind, says) in SAYS {
        let events = everything();
        let event = events.iter().find(|event| event.kind() == *kind).unwrap();
        table.push_str(&format!("| `{kind}` | {} | {says} |\n", fields(event)));
    }
    table
}

fn examples() -> String {
    let mut lines = String::from("```json\n");
    for (seq, event) in everything().into_iter().enumerate() {
        let (seq, time) = (seq as u64, 0);
        lines.push_str(&Entry { seq, time, event }.line().unwrap());
        lines.push('\n');
    }
    lines + "```\n"
}

/// The text with what stands between `<!-- part -->` and `<!-- end of part -->` replaced.
fn with(text: &str, part: &str, content: &str) -> String {
    let (head, rest) = text.split_once(&format!("<!-- {part} -->\n")).unwrap();
    let end = format!("<!-- end of {part} -->");
    let (_, tail) = rest.split_once(&end).unwrap();
    format!("{head}<!-- {part} -->\n\n{content}\n{end}{tail}")
}

/// The page lists every event with its fields, and shows each as it is written.
#[test]
fn the_page_shows_every_event() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/session-log.md");
    let found = std::fs::read_to_string(&page).unwrap();
    let wanted = with(&found, "table", &table());
    let wanted = with(&wanted, "examples", &examples());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&page, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&page).unwrap();
    assert!(
        found == wanted,
        "docs/session-log.md is out of date: run with UPDATE_DOCS=1"
    );
}
