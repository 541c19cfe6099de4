//! Checking arguments against a JSON Schema. The validating crate is named here and nowhere else.

use serde_json::Value;

/// A compiled schema.
pub(super) struct Schema(jsonschema::Validator);

impl Schema {
    /// Compiles a schema; the error says what is wrong with it.
    pub(super) fn compile(schema: &Value) -> Result<Self, String> {
        jsonschema::validator_for(schema)
            .map(Self)
            .map_err(|error| error.to_string())
    }

    /// What is wrong with a value, one line each; empty when it fits.
    pub(super) fn violations(&self, value: &Value) -> Vec<String> {
        self.0
            .iter_errors(value)
            .map(|error| violation(&error))
            .collect()
    }
}

fn violation(error: &jsonschema::ValidationError<'_>) -> String {
    let path = error.instance_path().to_string();
    match path.as_str() {
        "" => error.to_string(),
        path => format!("{path}: {error}"),
    }
}
