//! The third step: carrying out a decision.
//!
//! [`Selection`] is the buffer that a caller hands in again and again; [`Selection::run`] is the three steps in a row:
//! scan, decide, emit. `facts` answers the table's questions, `plan` chooses the lane and says what the output is made
//! of, `emit` writes it, `record` tells what was decided and why.

mod ask;
mod emit;
mod explain;
mod facts;
pub mod limit;
mod meta;
mod note;
mod plan;
pub(crate) mod probe;
mod record;
mod refine;
pub mod sanitize;
mod schema;

use crate::engine::{Engine, Snapshot};
use crate::error::{Error, Status};
use crate::policy::rule::Lane;
use crate::request::{Request, Slot};
use crate::result::json::{Span, decode_into, elements, member, name_is, string_inside};
use crate::result::scan::{Outcome, Scan, Terms};
use crate::table::{Decided, Decider};
use ask::{Ask, narrowing};
pub use explain::{Beaten, ExplainedBlock, ExplainedDrop, ExplainedSetting, Explanation, InputSummary};
use facts::{Asked, Known, Scratch};
pub use plan::Fate;
use plan::{Form, Item, Plan, Planner};
use std::sync::Arc;

/// What the last call came to, and the buffers for the next one. One for each thread, or from a pool.
///
/// After a few calls have warmed it up, a call allocates nothing for ordinary results.
#[derive(Default)]
pub struct Selection {
    scan: Scan,
    visible: Vec<bool>,
    decided: Decided,
    known: Known,
    scratch: Scratch,
    plan: Plan,
    out: Vec<u8>,
    text: Vec<u8>,
    record: Vec<u8>,
    context: Option<Context>,
    /// `None`: no call yet, or the last one failed.
    status: Option<Status>,
    bytes_in: usize,
    /// The largest result since the buffers were last trimmed, in bytes.
    largest: usize,
    is_error: bool,
}

/// What the last call was about. As long as the next one is about the same, nothing is looked up.
#[derive(Debug)]
struct Context {
    snapshot: Arc<Snapshot>,
    slot: Arc<Slot>,
}

/// A block of the output: where it comes from and what became of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutputBlock {
    /// Its index in the input's `content`; `None` for a block that was added.
    pub source: Option<usize>,
    pub fate: Fate,
}

fn output_block(item: &Item) -> OutputBlock {
    OutputBlock { source: item.source.map(|index| index as usize), fate: item.fate }
}

impl std::fmt::Debug for Selection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Selection").field("status", &self.status).field("lane", &self.plan.lane).finish_non_exhaustive()
    }
}

impl Selection {
    pub fn new() -> Selection {
        Selection::default()
    }

    /// Scan, decide, emit.
    pub(crate) fn run(&mut self, engine: &Engine, request: &Request, bytes: &[u8]) -> Result<Status, Error> {
        self.clear();
        self.look_up(engine, request)?;
        let Some(Context { snapshot, slot }) = &self.context else { return Ok(Status::Unchanged) };
        let Slot { route, table, .. } = &**slot;
        self.bytes_in = bytes.len();
        self.largest = self.largest.max(bytes.len());

        let limits = snapshot.policy.input;
        let terms = Terms {
            input: route.input,
            max_bytes: limits.max_bytes as usize,
            max_depth: limits.max_depth,
            tasks: route.tasks(),
            shows_structured: table.shows_structured,
        };
        self.scan.read(bytes, &terms)?;
        self.is_error = self.scan.failed(bytes);
        if self.scan.outcome != Outcome::Selected {
            self.status = Some(Status::NotForReaders);
            return Ok(Status::NotForReaders);
        }

        let mut decider = Decider { table, rules: &snapshot.policy.rules, decided: &mut self.decided };
        let (role, annotations) = narrowing(&mut decider);
        let all_hidden = plan::narrow(&self.scan, role, annotations, &mut self.visible);
        let facts = Asked {
            bytes,
            scan: &self.scan,
            definition: route.definition.as_ref(),
            visible: &self.visible,
            known: &mut self.known,
            scratch: &mut self.scratch,
        };
        let mut ask = Ask { decider, facts };
        if let Some(refusal) = ask.judge_schema() {
            return Err(refusal.into());
        }
        let mut planner = Planner {
            ask: &mut ask,
            plan: &mut self.plan,
            bytes,
            scan: &self.scan,
            visible: &self.visible,
            all_hidden,
            input: route.input,
            tool: &route.tool,
            value: None,
            block_keys: None,
        };
        planner.run();
        let block_keys = planner.block_keys.flatten();

        let status = if self.plan.lane == Some(Lane::Whole) {
            let kept = |source| Item { source: Some(source), fate: Fate::Kept, form: Form::Block };
            let blocks = u32::try_from(self.scan.blocks.len()).unwrap_or(u32::MAX);
            self.plan.items.extend((0..blocks).map(kept));
            Status::Unchanged
        } else if emit::is_unchanged(&self.scan, &self.plan) {
            Status::Unchanged
        } else {
            emit::emit(bytes, &self.scan, &self.plan, block_keys.as_ref(), &mut self.out);
            Status::Changed
        };
        self.status = Some(status);
        Ok(status)
    }

    fn clear(&mut self) {
        self.out.clear();
        self.text.clear();
        self.record.clear();
        self.plan.clear();
        self.decided = Decided::default();
        self.known = Known::default();
        self.scan.outcome = Outcome::Selected;
        self.status = None;
        self.bytes_in = 0;
        self.is_error = false;
    }

    #[inline]
    pub(crate) fn look_up(&mut self, engine: &Engine, request: &Request) -> Result<(), Error> {
        let in_force = self.context.as_ref().is_some_and(|context| engine.is_in_force(&context.snapshot));
        let same = |context: &Context| Arc::ptr_eq(&context.slot.route, &request.route);
        if in_force && self.context.as_ref().is_some_and(same) {
            return Ok(());
        }
        // A failed look-up must not leave the last call's context behind.
        let snapshot = match self.context.take() {
            Some(context) if in_force => context.snapshot,
            _ => engine.snapshot(),
        };
        let slot = request.table(&snapshot)?;
        self.context = Some(Context { snapshot, slot });
        Ok(())
    }

    /// The selected result as JSON; `None` unless the call said [`Status::Changed`].
    pub fn json(&self) -> Option<&[u8]> {
        (self.status == Some(Status::Changed)).then_some(&self.out)
    }

    /// What the last call came to; `None` when it failed or there was none.
    pub fn status(&self) -> Option<Status> {
        self.status
    }

    pub fn outcome(&self) -> Outcome {
        self.scan.outcome
    }

    /// The lane that was chosen; [`Lane::Nothing`] when there was no selection.
    pub fn lane(&self) -> Lane {
        self.plan.lane.unwrap_or(Lane::Nothing)
    }

    /// Whether the result's `isError` was true.
    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// The generation of the policy that decided; 0 before the first call.
    pub fn generation(&self) -> u64 {
        self.context.as_ref().map_or(0, |context| context.snapshot.generation)
    }

    /// The blocks of the output in order, for a host that holds parsed blocks and only wants to know which to keep.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = OutputBlock> {
        self.plan.items.iter().map(output_block)
    }

    /// One of the blocks of the output, without going past those before it.
    pub fn block(&self, index: usize) -> Option<OutputBlock> {
        self.plan.items.get(index).map(output_block)
    }

    /// Every text that the reader sees (text blocks and embedded text), joined with `separator`: the string for a model API
    /// that takes one. `result` must be the bytes of the call, since an unchanged result is not copied. Empty when there
    /// was no selection.
    pub fn text(&mut self, result: &[u8], separator: &str) -> &str {
        self.text.clear();
        let json = match self.status {
            Some(Status::Changed) => &self.out,
            Some(Status::Unchanged) => result,
            _ => return "",
        };
        let start = crate::result::json::skip_space(json, 0);
        let whole = Span::new(start, json.len());
        let is =
            |value: Span, name: &str| string_inside(json, value).is_some_and(|inside| name_is(inside.of(json), name));
        let content = member(json, whole, "content").filter(|content| content.of(json).first() == Some(&b'['));
        let mut first = true;
        for block in content.into_iter().flat_map(|content| elements(json, content)) {
            let Some(kind) = member(json, block, "type") else { continue };
            let holder = if is(kind, "text") {
                Some(block)
            } else if is(kind, "resource") {
                member(json, block, "resource")
            } else {
                None
            };
            let text = holder.and_then(|holder| member(json, holder, "text"));
            if let Some(text) = text.and_then(|text| string_inside(json, text)) {
                if !std::mem::take(&mut first) {
                    self.text.extend_from_slice(separator.as_bytes());
                }
                decode_into(text.of(json), &mut self.text);
            }
        }
        std::str::from_utf8(&self.text).unwrap_or_default()
    }

    /// The decision record as JSON: what was decided, by which rules, what was measured and what was left out. Never a
    /// value out of `_meta`. Empty when the call failed.
    pub fn decision(&mut self) -> &[u8] {
        if self.record.is_empty()
            && let (Some(context), Some(status)) = (&self.context, self.status)
        {
            record::Record {
                policy: &context.snapshot.policy,
                generation: context.snapshot.generation,
                route: &context.slot.route,
                table: &context.slot.table,
                decided: &self.decided,
                scan: &self.scan,
                known: &self.known,
                missing: if self.known.coverage.is_some() { self.scratch.coverage.missing() } else { &[] },
                plan: &self.plan,
                status,
                bytes_in: self.bytes_in,
                bytes_out: if status == Status::Changed { self.out.len() } else { self.bytes_in },
            }
            .write(&mut self.record);
        }
        &self.record
    }

    /// Gives memory back when the buffers are larger than `keep` bytes (after one result of 60 MiB, say). What was selected
    /// can be read as before, so the output itself stays until the next call.
    pub fn trim(&mut self, keep: usize) {
        if self.largest.max(self.out.capacity()) <= keep {
            return;
        }
        self.largest = 0;
        // All but the output is done with, or made again for whoever asks.
        self.scratch.trim();
        for buffer in [&mut self.text, &mut self.record, &mut self.plan.arena] {
            buffer.clear();
            buffer.shrink_to(keep);
        }
        self.out.shrink_to(keep);
        self.scan.blocks.shrink_to(keep / size_of::<crate::result::scan::Block>());
    }
}
