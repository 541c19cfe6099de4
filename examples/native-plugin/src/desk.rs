//! The tool: a desk that takes orders. It only pretends.

use std::path::Path;

use seamline_harness::content::Content;
use seamline_harness::tools::{Effects, Tool, ToolContext, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) struct Desk;

#[derive(Serialize, Deserialize)]
pub(crate) struct Order {
    /// What is to be done, in words.
    #[serde(rename = "do")]
    work: String,
}

impl Tool for Desk {
    type Args = Order;
    type Value = String;

    fn name(&self) -> &str {
        "Desk"
    }

    fn description(&self) -> &str {
        "Does as it is told, or says so."
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "required": ["do"], "properties": {"do": {"type": "string"}}})
    }

    fn effects(&self, order: &Order, _cwd: &Path) -> Effects {
        match order.work.starts_with("read ") {
            true => Effects::Reads(Vec::new()),
            false => Effects::Unknown,
        }
    }

    async fn run(&self, order: Order, context: ToolContext) -> Result<String, ToolError> {
        match order.work.split_once(' ') {
            Some(("go", place)) => context.workspace().set_cwd(place),
            Some(("read", "keys")) => return Ok("hunter2".to_owned()),
            _ => {}
        }
        Ok(format!("did {}", order.work))
    }

    fn render(&self, _: &Order, value: &String) -> Content {
        Content::text(value.clone())
    }
}
