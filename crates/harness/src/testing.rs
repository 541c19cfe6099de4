//! Models for tests, of this crate and of those that build on it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::model::{ChunkStream, Model, Request, Signal};

/// A model that keeps a copy of every request it passes on. Clones share the copies.
#[derive(Debug, Clone)]
pub struct Recorder<M> {
    inner: M,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl<M: Model> Recorder<M> {
    /// Records what is asked of `inner`.
    pub fn new(inner: M) -> Self {
        Self {
            inner,
            requests: Arc::default(),
        }
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl<M: Model> Model for Recorder<M> {
    fn stream(&self, request: Request, signal: Signal) -> ChunkStream {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(request.clone());
        drop(requests);
        self.inner.stream(request, signal)
    }
}

/// A model made of a function.
#[derive(Debug, Clone)]
pub struct FnModel<F>(pub F);

impl<F> Model for FnModel<F>
where
    F: Fn(Request, Signal) -> ChunkStream + Send + Sync + 'static,
{
    fn stream(&self, request: Request, signal: Signal) -> ChunkStream {
        self.0(request, signal)
    }
}
