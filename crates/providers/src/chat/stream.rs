//! One answer, from the request to its last chunk.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, StatusCode};
use seamline_harness::model::{Chunk, ChunkStream, ModelError, Signal};
use tokio::time::{Instant, timeout, timeout_at};

use super::Server;
use super::assemble::{Assembly, Trouble, excerpt};
use super::retry;
use super::sse::Decoder;

/// How long after the end of an answer its token counts are waited for.
const AFTER_END: Duration = Duration::from_secs(5);
/// How much of a refusal is read, and how long.
const REFUSAL: usize = 64 << 10;
const REFUSAL_TIME: Duration = Duration::from_secs(10);

/// The answer to `body`. Dropping it, and cancelling `signal`, closes the connection.
pub(super) fn answer(
    server: Arc<Server>,
    model: String,
    body: Vec<u8>,
    signal: Signal,
) -> ChunkStream {
    let answer = Answer {
        server,
        model,
        body,
        phase: Phase::Ask,
        ready: VecDeque::new(),
    };
    let next = move |answer: Answer| {
        let signal = signal.clone();
        async move { signal.run_until_cancelled(answer.next()).await? }
    };
    stream::unfold(answer, next).boxed()
}

struct Answer {
    server: Arc<Server>,
    model: String,
    body: Vec<u8>,
    phase: Phase,
    ready: VecDeque<Chunk>,
}

enum Phase {
    Ask,
    Read(Box<Reading>),
    Over,
}

struct Reading {
    response: Response,
    decoder: Decoder,
    assembly: Assembly,
    deadline: Instant,
}

impl Answer {
    async fn next(mut self) -> Option<(Result<Chunk, ModelError>, Self)> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Some((Ok(chunk), self));
            }
            let step = match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Ask => self.ask().await,
                Phase::Read(reading) => self.read(reading).await,
                Phase::Over => return None,
            };
            match step {
                Ok(phase) => self.phase = phase,
                Err(error) => return Some((Err(error), self)),
            }
        }
    }

    /// Makes the request, again while the server cannot take it. Nothing of an answer has come then.
    async fn ask(&self) -> Result<Phase, ModelError> {
        let server = &self.server;
        let idle = server.options.idle;
        let mut attempt = 1;
        loop {
            let sent = timeout(idle, server.post(&self.body).send()).await;
            let response = match sent {
                Err(_) => return Err(server.stalled(false, idle)),
                Ok(Err(error)) if error.is_connect() => {
                    return Err(server.unreachable(&error, &self.model));
                }
                Ok(Err(error)) => return Err(server.broke(&error)),
                Ok(Ok(response)) => response,
            };
            if response.status() == StatusCode::OK {
                return self.begin(response).await;
            }
            let (status, asked) = (response.status(), retry::asked(response.headers()));
            let wait = match retry::passes(status) {
                true => server.options.backoff.wait(attempt, asked),
                false => None,
            };
            let body = beginning(response).await;
            let Some(wait) = wait else {
                return Err(server.refused(status, &body, &self.model, attempt, asked));
            };
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    async fn begin(&self, response: Response) -> Result<Phase, ModelError> {
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.starts_with("application/json") || kind.starts_with("text/html") {
            let body = beginning(response).await;
            return Err(self.server.garbage(&excerpt(&body)));
        }
        Ok(Phase::Read(Box::new(Reading {
            response,
            decoder: Decoder::default(),
            assembly: Assembly::default(),
            deadline: Instant::now() + self.server.options.idle,
        })))
    }

    /// Reads the next piece.
    async fn read(&mut self, mut reading: Box<Reading>) -> Result<Phase, ModelError> {
        let server = Arc::clone(&self.server);
        let whole = reading.assembly.is_whole();
        match timeout_at(reading.deadline, reading.response.chunk()).await {
            Err(_) | Ok(Err(_)) if whole => Ok(self.end(*reading)),
            Err(_) => Err(server.stalled(true, server.options.idle)),
            Ok(Err(error)) => Err(server.broke(&error)),
            Ok(Ok(None)) => {
                if let Some(data) = reading.decoder.finish() {
                    // Half an event is no event; what counts is whether the answer was whole.
                    if let Ok(chunks) = reading.assembly.take(&data) {
                        self.ready.extend(chunks);
                    }
                }
                match reading.assembly.is_whole() {
                    true => Ok(self.end(*reading)),
                    false => Err(server.truncated()),
                }
            }
            Ok(Ok(Some(piece))) => {
                let cut = reading
                    .decoder
                    .feed(&piece)
                    .map_err(|_| server.garbage("an event without an end"))?;
                for data in &cut.events {
                    let taken = reading.assembly.take(data);
                    self.ready.extend(taken.map_err(|trouble| match trouble {
                        Trouble::Garbage(what) => server.garbage(&what),
                        Trouble::Server(words) => server.failed(&words),
                    })?);
                    if reading.assembly.is_done() {
                        return Ok(self.end(*reading));
                    }
                }
                if cut.alive && !whole {
                    let idle = match reading.assembly.is_whole() {
                        true => AFTER_END.min(server.options.idle),
                        false => server.options.idle,
                    };
                    reading.deadline = Instant::now() + idle;
                }
                Ok(Phase::Read(reading))
            }
        }
    }

    fn end(&mut self, reading: Reading) -> Phase {
        self.ready.extend(reading.assembly.end());
        Phase::Over
    }
}

/// The beginning of a body that is no answer.
async fn beginning(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let all = async {
        while let Ok(Some(piece)) = response.chunk().await {
            let room = REFUSAL.saturating_sub(body.len());
            body.extend(piece.iter().take(room));
            if body.len() >= REFUSAL {
                break;
            }
        }
    };
    // What came in time is enough to say what the server said.
    let _ = timeout(REFUSAL_TIME, all).await;
    body
}
