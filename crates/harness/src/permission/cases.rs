//! What a call is to permission rules.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::json::Json;
use crate::tools::builtin::ApplyPatchArgs;

/// The calls that rules are asked about for one call: itself; for `apply_patch` an Edit of each file
/// that the patch names, so that rules about files are not escaped by another tool. A call is as
/// free as the least free of them.
#[must_use]
pub fn cases<'a>(tool: &'a str, arguments: &'a Json) -> Vec<(Cow<'a, str>, Cow<'a, Value>)> {
    let patch = (tool == "apply_patch").then(|| arguments.to::<ApplyPatchArgs>());
    let Some(Ok(args)) = patch else {
        return vec![(tool.into(), Cow::Borrowed(arguments.value()))];
    };
    let edit = |file| ("Edit".into(), Cow::Owned(json!({ "file_path": file })));
    args.command.paths().map(edit).collect()
}
