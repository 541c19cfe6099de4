//! Claude Code's words, which are ours.

use seamline_harness::json::Json;
use seamline_harness::tools::Outcome;
use serde_json::json;
use serde_json::value::RawValue;

use super::{Spoken, is_of_a_server};

pub(super) fn speak(name: &str, arguments: &Json) -> Spoken {
    Spoken {
        name: name.to_owned(),
        input: arguments.clone(),
    }
}

pub(super) fn hear(rewritten: &RawValue) -> Result<Json, String> {
    Json::parse(rewritten.get())
        .map_err(|error| format!("the rewritten input is not JSON: {error}"))
}

pub(super) fn response(name: &str, outcome: &Outcome) -> Json {
    match &outcome.result {
        Ok(success) => {
            let blocks = success.value.value().get("content");
            match blocks.filter(|_| is_of_a_server(name)) {
                Some(blocks) => Json::from(blocks.clone()),
                None => success.value.clone(),
            }
        }
        Err(failure) => Json::from(json!(failure.message)),
    }
}

#[cfg(test)]
mod tests {
    use seamline_harness::content::Content;
    use seamline_harness::tools::Success;

    use super::*;

    /// Measured: of a server's tool, `tool_response` is the list of content blocks; of our own tools
    /// it is their object, whatever it has.
    #[test]
    fn a_result_of_a_server_is_its_content() {
        let outcome = |value| Outcome::from(Success::new(Json::from(value), Content::default()));
        let value = json!({"content": [{"type": "text", "text": "a"}], "structuredContent": 1});
        let said = response("mcp__s__t", &outcome(value.clone()));
        assert_eq!(said.value(), &value["content"]);
        assert_eq!(response("Write", &outcome(value.clone())).value(), &value);
        let rewritten = response("mcp__s__t", &outcome(json!("text")));
        assert_eq!(rewritten.value(), &json!("text"));
    }
}
