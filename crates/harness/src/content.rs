//! What a message is made of, and who wrote it.

use serde::{Deserialize, Serialize};

/// One piece of content a model can be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// An image, base64-encoded.
    Image {
        /// The media type, for example `image/png`.
        media_type: String,
        /// The bytes, in base64.
        data: String,
    },
}

/// An ordered list of [`Part`]s.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Content(Vec<Part>);

impl Content {
    /// Content of one text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self(vec![Part::Text { text: text.into() }])
    }

    /// The parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// Whether there is nothing in it: no part, or only empty texts.
    pub fn is_empty(&self) -> bool {
        self.0
            .iter()
            .all(|part| matches!(part, Part::Text { text } if text.is_empty()))
    }

    /// Appends a text part.
    pub fn push_text(&mut self, text: impl Into<String>) {
        self.0.push(Part::Text { text: text.into() });
    }

    /// The text parts joined by a line break; any other part shows as `[image content]`.
    pub fn to_text(&self) -> String {
        let parts: Vec<&str> = self.0.iter().map(part_text).collect();
        parts.join("\n")
    }
}

fn part_text(part: &Part) -> &str {
    match part {
        Part::Text { text } => text,
        Part::Image { .. } => "[image content]",
    }
}

impl From<Vec<Part>> for Content {
    fn from(parts: Vec<Part>) -> Self {
        Self(parts)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// Who wrote a message, a context, a notice or a rewrite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// A human, directly. Plugins must never claim this.
    User,
    /// A plugin of the given name; `key` says which of its handlers, where there are several.
    Plugin {
        /// The plugin's registration name.
        plugin: String,
        /// The handler, if the plugin told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// Whoever answered an approval question, by registration name.
    Approval {
        /// The answerer's registration name.
        by: String,
    },
    /// The harness itself.
    Harness,
}

impl From<seamline_seams::Source> for Source {
    fn from(source: seamline_seams::Source) -> Self {
        Self::Plugin {
            plugin: source.plugin.to_string(),
            key: source.key,
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::User => f.write_str("the user"),
            Self::Plugin { plugin, key: None } => f.write_str(plugin),
            Self::Plugin {
                plugin,
                key: Some(key),
            } => write!(f, "{plugin} ({key})"),
            Self::Approval { by } => write!(f, "the approval of {by}"),
            Self::Harness => f.write_str("seamline"),
        }
    }
}
