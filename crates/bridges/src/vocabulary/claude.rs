//! Claude Code's words, which are ours.

use seamline_harness::json::Json;
use seamline_harness::tools::Outcome;
use serde_json::json;
use serde_json::value::RawValue;

use super::Spoken;

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

pub(super) fn response(outcome: &Outcome) -> Json {
    match &outcome.result {
        Ok(success) => success.value.clone(),
        Err(failure) => Json::from(json!(failure.message)),
    }
}
