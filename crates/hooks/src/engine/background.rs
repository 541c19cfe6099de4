//! Handlers that are started and not awaited (`async: true`).

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::launch::Job;
use super::{Engine, run_of};
use crate::codec;
use crate::dialect::EventRow;
use crate::handler::Handler;
use crate::trace::Run;

/// A run in background that has ended. It can decide nothing; it can still say something.
#[derive(Debug, Clone)]
pub struct BackgroundRun {
    /// The run.
    pub run: Run,
    /// Contexts for the next request to the model.
    pub contexts: Vec<String>,
    /// A message for the user.
    pub message: Option<String>,
}

#[derive(Default)]
pub(super) struct Background {
    stop: CancellationToken,
    tasks: TaskTracker,
    ended: Arc<(Mutex<Vec<BackgroundRun>>, Notify)>,
}

impl Background {
    /// Held while a firing is under way, so that a dispose waits for it.
    pub(super) fn in_flight(&self) -> TaskTrackerToken {
        self.tasks.token()
    }

    pub(super) async fn disposed(&self) {
        self.stop.cancelled().await;
    }

    pub(super) fn start(
        &self,
        engine: &Engine,
        row: &'static EventRow,
        handler: Arc<Handler>,
        job: Job,
    ) {
        let (argv, cwd) = (job.argv(), job.cwd());
        let run = engine.start(job, self.stop.child_token());
        let (spill, ended) = (engine.spill.clone(), Arc::clone(&self.ended));
        self.tasks.spawn(async move {
            let finished = run.await;
            let reading = codec::read(row, &handler, &finished, &spill);
            let (contexts, message) = (
                reading.effect.contexts.clone(),
                reading.effect.message.clone(),
            );
            let run = run_of(handler, reading, finished, 0, argv, cwd);
            let (list, notify) = &*ended;
            let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
            list.push(BackgroundRun {
                run,
                contexts,
                message,
            });
            notify.notify_one();
        });
    }

    /// Waits until a run has ended that nobody has taken yet.
    pub(super) async fn any_ended(&self) {
        self.ended.1.notified().await;
    }

    pub(super) fn take(&self) -> Vec<BackgroundRun> {
        std::mem::take(&mut self.ended.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) async fn dispose(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
