//! Containment: a listener's panic ends here, and so does a listener that will not stop.
//!
//! Listeners are polled inline under `catch_unwind`, never spawned: the first is free, the second
//! costs a trip through the scheduler.

use std::any::Any;
use std::borrow::Borrow;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::FaultKind;
use crate::scope::{Gate, Pass};

/// Runs `f`; a panic becomes its message.
pub(crate) fn contained<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(panic_text)
}

/// Awaits what `f` starts; a panic in either becomes its message.
pub(crate) async fn contained_async<F: Future>(f: impl FnOnce() -> F) -> Result<F::Output, String> {
    AssertUnwindSafe(async move { f().await })
        .catch_unwind()
        .await
        .map_err(panic_text)
}

/// Awaits what a listener starts, under its pass: panics are contained, and when the listener's
/// scope runs out of patience the future is dropped.
pub(crate) async fn listen<T, G: Borrow<Gate>>(
    pass: &Pass<G>,
    start: impl FnOnce() -> BoxFuture<'static, T>,
) -> Result<T, FaultKind> {
    let mut start = Some(start);
    let mut call = Call::new(pass);
    poll_fn(|cx| call.poll(&mut start, cx)).await
}

/// One call of one listener, from before it starts until its future is dropped.
pub(crate) struct Call<'a, T, G: Borrow<Gate>> {
    future: Option<BoxFuture<'static, T>>,
    pass: &'a Pass<G>,
    evicted: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl<'a, T, G: Borrow<Gate>> Call<'a, T, G> {
    pub(crate) fn new(pass: &'a Pass<G>) -> Self {
        Self {
            future: None,
            pass,
            evicted: None,
        }
    }

    /// Polls the listener's future, which the first poll starts.
    pub(crate) fn poll(
        &mut self,
        start: &mut Option<impl FnOnce() -> BoxFuture<'static, T>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, FaultKind>> {
        let future = &mut self.future;
        let poll = || {
            if let Some(start) = start.take() {
                *future = Some(start());
            }
            let polled = future
                .as_mut()
                .map_or(Poll::Pending, |future| future.as_mut().poll(cx));
            if polled.is_ready() {
                // Its destructor is the listener's code, too.
                *future = None;
            }
            polled
        };
        match self.pass.within(|| contained(poll)) {
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Ok(Poll::Pending) if self.is_evicted(cx) => {
                Poll::Ready(self.close().and(Err(FaultKind::Overdue)))
            }
            Ok(Poll::Pending) => Poll::Pending,
            Err(text) => {
                // Of two panics the first is the one to report.
                let _ = self.close();
                Poll::Ready(Err(FaultKind::Panic(text)))
            }
        }
    }

    /// Drops the listener's future where a panicking destructor does no harm.
    fn close(&mut self) -> Result<(), FaultKind> {
        let future = self.future.take();
        self.pass
            .within(|| contained(|| drop(future)))
            .map_err(FaultKind::Panic)
    }

    /// Only a listener that suspends pays for being evictable.
    fn is_evicted(&mut self, cx: &mut Context<'_>) -> bool {
        let pass = self.pass;
        self.evicted
            .get_or_insert_with(|| Box::pin(pass.evicted()))
            .as_mut()
            .poll(cx)
            .is_ready()
    }
}

impl<T, G: Borrow<Gate>> Drop for Call<'_, T, G> {
    fn drop(&mut self) {
        if self.future.is_some() {
            // Nobody is left to tell; whoever watches the call records that it was dropped.
            let _ = self.close();
        }
    }
}

/// The message of a panic. A payload that is no text is leaked: its destructor may panic again.
fn panic_text(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => match payload.downcast::<&'static str>() {
            Ok(text) => (*text).to_owned(),
            Err(payload) => {
                std::mem::forget(payload);
                "a panic without a message".to_owned()
            }
        },
    }
}
