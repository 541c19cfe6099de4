//! Containment: a listener's panic ends here, and so does a listener that will not stop.
//!
//! Listeners are polled inline under `catch_unwind`, never spawned: the first is free, the second
//! costs a trip through the scheduler.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::FaultKind;
use crate::scope::Pass;

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
pub(crate) async fn listen<T>(
    pass: &Pass,
    start: impl FnOnce() -> BoxFuture<'static, T>,
) -> Result<T, FaultKind> {
    let future = pass.within(|| contained(start)).map_err(FaultKind::Panic)?;
    Contained {
        future: Some(future),
        pass,
        evicted: None,
    }
    .await
}

struct Contained<'a, T> {
    future: Option<BoxFuture<'static, T>>,
    pass: &'a Pass,
    evicted: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl<T> Contained<'_, T> {
    /// Drops the listener's future where a panicking destructor does no harm.
    fn close(&mut self) -> Result<(), FaultKind> {
        let future = self.future.take();
        self.pass
            .within(|| contained(|| drop(future)))
            .map_err(FaultKind::Panic)
    }

    /// Only a listener that suspends pays for being evictable.
    fn evicted(&mut self, cx: &mut Context<'_>) -> bool {
        let pass = self.pass;
        self.evicted
            .get_or_insert_with(|| Box::pin(pass.evicted()))
            .as_mut()
            .poll(cx)
            .is_ready()
    }
}

impl<T> Future for Contained<'_, T> {
    type Output = Result<T, FaultKind>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let Some(future) = this.future.as_mut() else {
            return Poll::Pending;
        };
        match this.pass.within(|| contained(|| future.as_mut().poll(cx))) {
            Ok(Poll::Ready(value)) => Poll::Ready(this.close().map(|()| value)),
            Ok(Poll::Pending) if this.evicted(cx) => {
                Poll::Ready(this.close().and(Err(FaultKind::Overdue)))
            }
            Ok(Poll::Pending) => Poll::Pending,
            Err(text) => {
                // The first panic is the one to report.
                let _ = this.close();
                Poll::Ready(Err(FaultKind::Panic(text)))
            }
        }
    }
}

impl<T> Drop for Contained<'_, T> {
    fn drop(&mut self) {
        if self.future.is_some() {
            // Nobody is left to tell; the caller records the drop itself.
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
