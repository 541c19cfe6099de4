//! One step: a request, the model's message, and the calls in it.

use seamline_seams::Reply;
use uuid::Uuid;

use super::event::AgentEvent;
use super::seams::{
    DisplayEvent, RequestErrorDecision, RequestErrorEvent, RequestEvent, RequestSettings,
};
use super::stream::{Received, receive};
use super::turn::{Broken, Deferral, Flow, Turn};
use crate::model::{ModelError, Request, StopReason, Usage};
use crate::session::event::{
    AssistantMessage, RequestHeader, Step, StepEnd, StepStart, TurnEndReason,
};
use crate::session::received_calls;

impl Turn<'_> {
    /// Makes one request and follows it through.
    pub(super) async fn one_step(&mut self) -> Result<Flow, Broken> {
        let at = self.open_step()?;
        let Some(received) = self.request(at).await? else {
            self.shared.session.append(StepEnd(at))?;
            return Ok(self.checked());
        };
        if received.stop.is_none() {
            return self.interrupted(at, received);
        }
        self.record(at, &received)?;
        self.cut_short |= received.stop == Some(StopReason::MaxTokens);
        self.display(&received).await?;
        let calls = received_calls(&received.blocks);
        if calls.is_empty() {
            self.shared.session.append(StepEnd(at))?;
            return match self.checked() {
                Flow::Over(end) => Ok(Flow::Over(end)),
                Flow::On => self.natural_end(received.stop).await,
            };
        }
        self.consecutive = 0;
        self.run_calls(at, calls).await?;
        let concluded = std::mem::take(&mut self.concluded);
        match self.close_calls(at)? {
            // What people said meanwhile is heard all the same.
            Flow::On if concluded && !self.shared.inbox.is_steered() => Ok(Flow::Over(self.done())),
            flow => Ok(flow),
        }
    }

    /// Opens the next step.
    pub(super) fn open_step(&mut self) -> Result<Step, Broken> {
        self.step += 1;
        let at = Step {
            turn: self.number,
            step: self.step,
        };
        self.shared.session.append(StepStart(at))?;
        if let Some(turn) = &mut self.shared.state().turn {
            turn.step = self.step;
        }
        Ok(at)
    }

    /// Ends a step whose calls have their results, and says how the turn goes on. A turn that is
    /// halted or cancelled leaves no call open: one that was put off is then told it was not run.
    pub(super) fn close_calls(&mut self, at: Step) -> Result<Flow, Broken> {
        let flow = match (self.checked(), self.deferred.take()) {
            (
                Flow::On,
                Some(Deferral {
                    call_id,
                    reason,
                    by,
                }),
            ) => {
                let by = Some(by);
                Flow::Over(TurnEndReason::Deferred {
                    call_id,
                    reason,
                    by,
                })
            }
            (Flow::Over(end), Some(Deferral { call_id, .. })) => {
                let why = "put off, and the turn was stopped";
                self.answer_unstarted(at, call_id, why)?;
                Flow::Over(end)
            }
            (flow, None) => flow,
        };
        self.shared.session.append(StepEnd(at))?;
        Ok(flow)
    }

    /// Makes the request, again if `agent.request_error` says so. `None` when the turn was
    /// halted before it was made.
    async fn request(&mut self, at: Step) -> Result<Option<Received>, Broken> {
        let id = Uuid::new_v4();
        for attempt in 1.. {
            if self.signal.is_cancelled() {
                return Ok(None);
            }
            let settings = self.settings(id, attempt).await?;
            if self.halt.is_some() || self.signal.is_cancelled() {
                return Ok(None);
            }
            let model = settings.model.clone();
            let request = self.derive(at, settings)?;
            self.requests += 1;
            let stream = self.shared.model.stream(request, self.signal.clone());
            let answer = receive(stream, &self.signal, &self.shared.seams).await;
            if answer.is_err() && self.signal.is_cancelled() {
                return Ok(None);
            }
            self.tell_of_request(id, attempt, model, &answer);
            match answer {
                Ok(received) => return Ok(Some(received)),
                Err(error) => self.retry(error, attempt).await?,
            }
        }
        Ok(None)
    }

    fn tell_of_request(
        &self,
        id: Uuid,
        attempt: u32,
        model: String,
        answer: &Result<Received, ModelError>,
    ) {
        let outcome = match answer {
            Ok(received) if received.stop.is_none() => return,
            Ok(received) => Ok(received.usage),
            Err(error) => Err(error.clone()),
        };
        self.notify(&AgentEvent::RequestEnded {
            facts: self.facts(),
            id,
            attempt,
            model,
            outcome,
        });
    }

    /// How the request is made, after policy.
    async fn settings(&mut self, id: Uuid, attempt: u32) -> Result<RequestSettings, Broken> {
        let ours = &self.shared.settings;
        let settings = RequestSettings {
            model: ours.model.clone(),
            system: ours.system.clone(),
        };
        let (facts, signal) = (self.facts(), self.signal.clone());
        let event = RequestEvent {
            facts,
            id,
            attempt,
            settings,
            signal,
        };
        let default = |event: RequestEvent| async { event.settings };
        let reply = self.shared.seams.request.dispatch(event, default).await?;
        let (settings, riders) = reply.riders();
        self.ride(riders)?;
        if settings.model.is_empty() {
            return Err(Broken::NoModel);
        }
        Ok(settings)
    }

    /// The request: what the log says, and nothing else. A header that differs from the last
    /// request's goes into the log first.
    fn derive(&self, at: Step, settings: RequestSettings) -> Result<Request, Broken> {
        let session = &self.shared.session;
        let RequestSettings { model, system } = settings;
        let tools = self.shared.pipeline.specs();
        let Step { turn, step } = at;
        let header = RequestHeader {
            turn,
            step,
            model,
            system,
            tools,
        };
        let same = |last: &RequestHeader| {
            RequestHeader {
                turn,
                step,
                ..last.clone()
            } == header
        };
        let changed = !self.shared.state().header.as_ref().is_some_and(same);
        if changed {
            session.append(header.clone())?;
            self.shared.state().header = Some(header.clone());
        }
        let RequestHeader {
            model,
            system,
            tools,
            ..
        } = header;
        let request = Request {
            model,
            system,
            messages: session.history(),
            tools: tools.into(),
        };
        debug_assert_eq!(
            session.rebuilt_request().as_ref(),
            Some(&request),
            "what the model sees is what the log says"
        );
        Ok(request)
    }

    /// Asks what becomes of a failed request; an error ends the turn.
    async fn retry(&mut self, error: ModelError, attempt: u32) -> Result<(), Broken> {
        let event = RequestErrorEvent {
            facts: self.facts(),
            error: error.clone(),
            attempt,
            last_text: self.last_text.clone(),
            signal: self.signal.clone(),
        };
        let seam = &self.shared.seams.request_error;
        let reply = seam
            .dispatch(event, |_| async { RequestErrorDecision::Fail })
            .await?;
        let (decision, riders) = reply.riders();
        self.ride(riders)?;
        match decision {
            RequestErrorDecision::Retry => {
                let error = error.to_string();
                self.notify(&AgentEvent::RequestRetried { error, attempt });
                Ok(())
            }
            RequestErrorDecision::Fail => Err(Broken::Model(error)),
        }
    }

    /// The turn was cancelled while the model wrote: its text so far stands, calls do not.
    fn interrupted(&mut self, at: Step, mut received: Received) -> Result<Flow, Broken> {
        received.drop_calls();
        if received.texts().iter().any(|text| !text.is_empty()) {
            self.record(at, &received)?;
        }
        self.shared.session.append(StepEnd(at))?;
        Ok(self.checked())
    }

    fn record(&mut self, at: Step, received: &Received) -> Result<(), Broken> {
        let usage = received.usage;
        self.add_usage(usage.unwrap_or_default());
        let texts = received.texts();
        if !texts.is_empty() {
            self.last_text = Some(texts.concat());
        }
        self.shared.session.append(AssistantMessage {
            turn: at.turn,
            step: at.step,
            blocks: received.blocks.clone(),
            usage,
            interrupted: received.stop.is_none(),
        })?;
        Ok(())
    }

    fn add_usage(&mut self, more: Usage) {
        self.usage.input_tokens += more.input_tokens;
        self.usage.output_tokens += more.output_tokens;
        self.usage.cache_read_input_tokens += more.cache_read_input_tokens;
        self.usage.cache_creation_input_tokens += more.cache_creation_input_tokens;
    }

    /// Shows the user the message's texts. A listener that fails changes nothing: then the
    /// model's own text is shown. Text for the model that rides along waits for the next boundary.
    async fn display(&mut self, received: &Received) -> Result<(), Broken> {
        let texts = received.texts();
        let mut shown = None;
        for (index, text) in texts.iter().enumerate() {
            let event = DisplayEvent {
                facts: self.facts(),
                text: (*text).to_owned(),
                index,
                last: index + 1 == texts.len(),
                signal: self.signal.clone(),
            };
            let seam = &self.shared.seams.display;
            let reply = seam
                .dispatch(event, |event| async move { event.text })
                .await;
            let reply = reply.unwrap_or_else(|_| Reply::new((*text).to_owned()));
            let (text, riders) = reply.riders();
            shown.get_or_insert_with(String::new).push_str(&text);
            self.notify(&AgentEvent::Text { text });
            self.shared.park(riders.contexts);
            self.shared.tell_all(riders.notices)?;
            self.halt_with(riders.halt);
        }
        self.shown_text = shown.or(self.shown_text.take());
        Ok(())
    }
}
