//! A model that plays a script.
//!
//! It keeps no state: what it answers is chosen from the request alone, so a session that was
//! killed and resumed goes on where it stood. The newest `@@name` in what users and plugins said
//! picks the script, and the number of assistant messages after it is the turn that is played.
//! Without a tag the script `main` is played from the beginning of the conversation. Past the
//! end of a script the answer is the text `DONE`.
//!
//! ```yaml
//! scripts:
//!   main:
//!     - {tool: Bash, input: {command: ls}}          # one call
//!     - [{text: "Two at once."}, {tool: Read, input: {file_path: a.txt}}, {tool: Read, input: {file_path: b.txt}}]
//!     - {error: 529, type: overloaded_error, message: Overloaded}
//!     - {blocks: [cut off], stop_reason: max_tokens, delay: 0.1, usage: {input_tokens: 9}}
//!     - All done.
//! ```
//!
//! A file that is just a list is the script `main`. A call's `id` is made up from its place in
//! the conversation unless the script gives one.

mod choose;
mod file;
mod script;

use std::path::Path;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt};

use super::{Chunk, ChunkStream, Model, ModelError, Request, Signal};
pub use file::ScriptError;
pub use script::{Play, Say, ScriptBlock, Scripts};

/// A model that plays [`Scripts`]. See the [module](self).
#[derive(Debug, Clone)]
pub struct Scripted(Arc<Scripts>);

impl Scripted {
    /// A model over these scripts.
    pub fn new(scripts: Scripts) -> Self {
        Self(Arc::new(scripts))
    }

    /// Reads a script file: JSON if its name ends in `.json`, YAML otherwise.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        file::read(path).map(Self::new)
    }
}

impl Model for Scripted {
    fn stream(&self, request: Request, signal: Signal) -> ChunkStream {
        let play = choose::choose(&request.messages, &self.0);
        let (say, place) = match play {
            Ok((Play::Say(say), place)) => (say, place),
            Ok((Play::Fail(error), _)) | Err(error) => return failing(error),
        };
        let delay = say.delay;
        let chunks = say.chunks(place).into_iter().map(Ok::<Chunk, ModelError>);
        let waited = async move {
            if !delay.is_zero() {
                signal.run_until_cancelled(tokio::time::sleep(delay)).await;
            }
            stream::iter(chunks)
        };
        stream::once(waited).flatten().boxed()
    }
}

fn failing(error: ModelError) -> ChunkStream {
    stream::iter([Err(error)]).boxed()
}
