//! One program in one engine, on a thread of its own.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rquickjs::{Context, Ctx, Function, Object, Runtime};
use seamline_seams::Signal;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::UnboundedSender;

use crate::json::Json;

/// What a program may use. Our choice, all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time it computes, waiting for tools not counted.
    pub time: Duration,
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes of stack, which limit how deep it may recurse.
    pub stack: usize,
    /// Bytes of what it prints; the rest is dropped, and that is said.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(10),
            memory: 64 << 20,
            stack: 1 << 20,
            output: 64 << 10,
        }
    }
}

/// A call the program makes.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) id: u32,
    pub(super) tool: String,
    pub(super) arguments: Json,
}

/// What the program is told.
#[derive(Debug)]
pub(super) enum Tell {
    /// A call has its result: the value's text, or what failed.
    Result {
        id: u32,
        result: Result<String, String>,
    },
    /// It is to stop.
    Stop,
}

/// How a program ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) result: Result<Json, Failed>,
    pub(super) printed: Vec<String>,
}

/// Why a program failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failed {
    pub(super) kind: Kind,
    pub(super) message: String,
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Syntax,
    Exception,
    Timeout,
    Memory,
    Depth,
    Aborted,
    Stalled,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Exception => "exception",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::Depth => "depth",
            Self::Aborted => "aborted",
            Self::Stalled => "stalled",
        }
    }
}

/// Stack of the thread: what the program may use, and room for the engine itself.
pub(super) fn thread_stack(limits: &Limits) -> usize {
    limits.stack + (4 << 20)
}

/// Runs a program to its end.
pub(super) fn run(
    source: &str,
    tools: &[String],
    limits: &Limits,
    signal: &Signal,
    asks: UnboundedSender<Ask>,
    tells: &Receiver<Tell>,
) -> Ended {
    let printed = Rc::new(RefCell::new(Printed::new(limits.output)));
    let clock = Rc::new(Clock::new(limits.time, signal.clone()));
    let run = Run {
        clock: Rc::clone(&clock),
        printed: Rc::clone(&printed),
        asks,
        made: Rc::default(),
        answered: 0,
    };
    let result = run.whole(source, tools, limits, tells);
    let result = match clock.stopped.get() {
        Some(kind) => Err(Failed {
            kind,
            message: clock.words(kind),
        }),
        None => result,
    };
    let printed = std::mem::take(&mut printed.borrow_mut().lines);
    Ended { result, printed }
}

/// How long the program has computed.
struct Clock {
    left: Cell<Duration>,
    /// When it was last let run.
    since: Cell<Option<Instant>>,
    budget: Duration,
    signal: Signal,
    stopped: Cell<Option<Kind>>,
}

impl Clock {
    fn new(budget: Duration, signal: Signal) -> Self {
        Self {
            left: Cell::new(budget),
            since: Cell::new(None),
            budget,
            signal,
            stopped: Cell::new(None),
        }
    }

    fn go(&self) {
        self.since.set(Some(Instant::now()));
    }

    fn pause(&self) {
        let ran = self.since.take().map_or(Duration::ZERO, |at| at.elapsed());
        self.left.set(self.left.get().saturating_sub(ran));
    }

    /// Whether the program must stop; asked by the engine every so many instructions.
    fn must_stop(&self) -> bool {
        let ran = self.since.get().map_or(Duration::ZERO, |at| at.elapsed());
        if self.signal.is_cancelled() {
            self.stopped.set(Some(Kind::Aborted));
        } else if ran > self.left.get() {
            self.stopped.set(Some(Kind::Timeout));
        }
        self.stopped.get().is_some()
    }

    fn words(&self, kind: Kind) -> String {
        match kind {
            Kind::Timeout => format!("it computed for longer than {:?}", self.budget),
            _ => "the call was cancelled".to_owned(),
        }
    }
}

/// What the program printed, up to a limit.
struct Printed {
    lines: Vec<String>,
    left: usize,
    full: bool,
}

impl Printed {
    fn new(limit: usize) -> Self {
        Self {
            lines: Vec::new(),
            left: limit,
            full: false,
        }
    }

    fn line(&mut self, line: String) {
        match self.left.checked_sub(line.len() + 1) {
            Some(left) if !self.full => {
                self.left = left;
                self.lines.push(line);
            }
            _ if !self.full => {
                self.full = true;
                self.lines
                    .push("[more was printed and is dropped]".to_owned());
            }
            _ => {}
        }
    }
}

struct Run {
    clock: Rc<Clock>,
    printed: Rc<RefCell<Printed>>,
    asks: UnboundedSender<Ask>,
    /// How many calls the program made.
    made: Rc<Cell<usize>>,
    answered: usize,
}

/// How the prelude says that the program ended.
#[derive(Deserialize)]
struct Said {
    ok: bool,
    value: Option<Box<RawValue>>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    message: String,
}

impl Run {
    fn whole(
        mut self,
        source: &str,
        tools: &[String],
        limits: &Limits,
        tells: &Receiver<Tell>,
    ) -> Result<Json, Failed> {
        let engine = |error: rquickjs::Error| Failed {
            kind: Kind::Exception,
            message: format!("the engine failed: {error}"),
        };
        let runtime = Runtime::new().map_err(engine)?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.stack);
        let clock = Rc::clone(&self.clock);
        runtime.set_interrupt_handler(Some(Box::new(move || clock.must_stop())));
        let context = Context::full(&runtime).map_err(engine)?;
        context.with(|ctx| {
            self.clock.go();
            let prelude = self
                .prelude(&ctx, tools)
                .map_err(|error| caught(&ctx, error))?;
            let run: Function<'_> = prelude.get("run").map_err(engine)?;
            run.call::<_, ()>((source,))
                .map_err(|error| caught(&ctx, error))?;
            self.work(&ctx, &prelude, tells)
        })
    }

    fn prelude<'js>(&self, ctx: &Ctx<'js>, tools: &[String]) -> rquickjs::Result<Object<'js>> {
        let (asks, made) = (self.asks.clone(), Rc::clone(&self.made));
        let submit = Function::new(ctx.clone(), move |id: u32, tool: String, text: String| {
            made.set(made.get() + 1);
            // The prelude has written it: it is JSON.
            if let Ok(arguments) = Json::parse(&text) {
                // Nobody listens any more when the run is being given up.
                let _ = asks.send(Ask {
                    id,
                    tool,
                    arguments,
                });
            }
        })?;
        let printed = Rc::clone(&self.printed);
        let print = Function::new(ctx.clone(), move |line: String| {
            printed.borrow_mut().line(line);
        })?;
        let make: Function<'js> = ctx.eval(include_str!("prelude.js"))?;
        make.call((submit, print, tools.to_vec()))
    }

    /// Lets the program run, and answers its calls, until it has ended.
    fn work(
        &mut self,
        ctx: &Ctx<'_>,
        prelude: &Object<'_>,
        tells: &Receiver<Tell>,
    ) -> Result<Json, Failed> {
        let engine = |error: rquickjs::Error| caught(ctx, error);
        let outcome: Function<'_> = prelude.get("outcome").map_err(engine)?;
        let settle: Function<'_> = prelude.get("settle").map_err(engine)?;
        loop {
            while self.clock.stopped.get().is_none() && ctx.execute_pending_job() {}
            if self.clock.must_stop() {
                return Err(stopped());
            }
            let said: String = outcome.call(()).map_err(engine)?;
            if !said.is_empty() {
                return ended(&said);
            }
            if self.answered >= self.made.get() {
                return Err(Failed {
                    kind: Kind::Stalled,
                    message: "it waits for something that never happens".to_owned(),
                });
            }
            self.clock.pause();
            let told = tells.recv();
            self.clock.go();
            match told {
                Ok(Tell::Result { id, result }) => {
                    self.answered += 1;
                    let ok = result.is_ok();
                    let text = result.unwrap_or_else(|error| error);
                    settle.call::<_, ()>((id, ok, text)).map_err(engine)?;
                }
                Ok(Tell::Stop) | Err(_) => {
                    self.clock.stopped.set(Some(Kind::Aborted));
                    return Err(stopped());
                }
            }
        }
    }
}

/// The clock knows better.
fn stopped() -> Failed {
    Failed {
        kind: Kind::Aborted,
        message: String::new(),
    }
}

fn ended(said: &str) -> Result<Json, Failed> {
    let broken = |error: serde_json::Error| Failed {
        kind: Kind::Exception,
        message: format!("the returned value cannot be read: {error}"),
    };
    let Said {
        ok,
        value,
        name,
        message,
    } = serde_json::from_str(said).map_err(broken)?;
    match value {
        Some(value) if ok => Json::parse(value.get()).map_err(broken),
        None if ok => Json::parse("null").map_err(broken),
        _ => Err(failed(&name, &message)),
    }
}

/// A thrown value by its name and message.
fn failed(name: &str, message: &str) -> Failed {
    let kind = match (name, message) {
        ("SyntaxError", _) => Kind::Syntax,
        (_, "out of memory") => Kind::Memory,
        (_, "stack overflow" | "Maximum call stack size exceeded") => Kind::Depth,
        _ => Kind::Exception,
    };
    let message = match name {
        "" => message.to_owned(),
        name => format!("{name}: {message}"),
    };
    Failed { kind, message }
}

/// What was thrown past the prelude.
fn caught(ctx: &Ctx<'_>, error: rquickjs::Error) -> Failed {
    match error {
        rquickjs::Error::Exception => {
            let thrown = ctx.catch();
            let text = |key: &str| {
                let object = thrown.as_object()?;
                object.get::<_, String>(key).ok()
            };
            let name = text("name").unwrap_or_default();
            let message = text("message").unwrap_or_else(|| "out of memory".to_owned());
            failed(&name, &message)
        }
        rquickjs::Error::Allocation => failed("InternalError", "out of memory"),
        other => failed("", &other.to_string()),
    }
}
