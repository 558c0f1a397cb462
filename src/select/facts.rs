//! What a rule can ask of a result. Each fact is found out when it is first asked for, and remembered for the record.
//!
//! Facts about blocks are measured on the blocks that the audience may see, as the server wrote them (design 4.2).

use super::meta::{Filtered, Keys, filter};
use super::schema::{Conformity, conformity};
use crate::policy::rule::{Condition, ContentState, ContentStates, Kind, Kinds, Measure, Mirror, StructuredState};
use crate::result::compact::{CompactScratch, compact_into};
use crate::result::coverage::{Coverage, Measured};
use crate::result::json::{MAX_DEPTH, NameSet, Seen, Span, decoded_len, members, skip_space, string_inside, text_of};
use crate::result::mirror::{MirrorScratch, Ways, mirror, text_is_json};
use crate::result::path::{JsonPath, PathScratch, finds};
use crate::result::scan::{Block, Scan};
use crate::result::text::is_blank;
use crate::table::Facts;
use crate::table::route::Definition;

/// Which blocks the audience may see.
pub type Visible = [bool];

/// What has been found out so far.
#[derive(Debug, Default)]
pub struct Known {
    pub error: Option<bool>,
    pub content: Option<ContentState>,
    /// Of the visible blocks.
    pub kinds: Option<Kinds>,
    pub blocks: Option<u64>,
    pub text_bytes: Option<u64>,
    pub structured: Option<StructuredState>,
    pub structured_bytes: Option<u64>,
    pub result_bytes: Option<u64>,
    pub text_json: Option<bool>,
    /// The ways looked for, and those found; canonical or not.
    pub mirror: [Option<(Ways, Ways)>; 2],
    /// `Some(None)`: nothing to check, an error or a tool without `outputSchema`.
    pub schema: Option<Option<Conformity>>,
    /// `Some(None)`: over budget.
    pub coverage: Option<Option<Measured>>,
}

/// Buffers that facts need, kept from call to call.
#[derive(Default)]
pub struct Scratch {
    pub coverage: Coverage,
    pub mirror: MirrorScratch,
    pub compact: CompactScratch,
    pub path: PathScratch,
    pub names: Vec<NameSet>,
    pub bytes: Vec<u8>,
    /// A piece of JSON on its way into the arena.
    pub json: Vec<u8>,
    /// The JSON object of `as = "extras"`.
    pub extras: Vec<u8>,
    /// The structured value with notes in the place of media.
    pub noted: Vec<u8>,
    /// The whole result of lane `raw`.
    pub raw: Vec<u8>,
    /// The texts of the visible blocks, and these blocks: empty between two looks for a mirror.
    pub pieces: [Vec<&'static [u8]>; 2],
}

impl Scratch {
    /// Gives all of its memory back. What coverage found missing stays known.
    pub fn trim(&mut self) {
        let coverage = std::mem::take(&mut self.coverage).trimmed();
        *self = Scratch { coverage, ..Scratch::default() };
    }
}

/// A result that can be asked.
pub struct Asked<'a> {
    pub bytes: &'a [u8],
    pub scan: &'a Scan,
    pub definition: Option<&'a Definition>,
    pub visible: &'a Visible,
    pub known: &'a mut Known,
    pub scratch: &'a mut Scratch,
}

impl Facts for Asked<'_> {
    fn holds(&mut self, condition: &Condition) -> bool {
        match condition {
            Condition::Error(expected) => self.error() == *expected,
            Condition::Content(ContentStates(states)) => states & self.content() as u8 != 0,
            Condition::Has(Kinds(kinds)) => kinds & self.kinds().0 != 0,
            Condition::Only(Kinds(kinds)) => self.kinds().0 & !kinds == 0,
            Condition::Structured(states) => states.0 & self.structured() as u8 != 0,
            Condition::Measure(measure, ranges) => {
                self.measure(*measure).is_some_and(|value| ranges.iter().any(|range| range.holds(value)))
            }
            Condition::Meta(patterns) => {
                let meta = self.scan.meta;
                !meta.is_absent()
                    && members(self.bytes, meta).any(|(name, _)| {
                        let key = text_of(name.of(self.bytes));
                        patterns.iter().any(|pattern| pattern.matches(&key))
                    })
            }
            Condition::TextJson(expected) => self.text_json() == *expected,
            Condition::Mirror(wanted) => self.mirrors(wanted),
            Condition::Coverage(ranges) => {
                self.coverage().is_some_and(|measured| ranges.iter().any(|range| range.holds(measured.share())))
            }
            Condition::Path(path) => self
                .present()
                .is_some_and(|value| finds(path, value.of(self.bytes), &mut self.scratch.path).unwrap_or_default()),
            Condition::MetaPath(path) => self.meta_finds(path),
            Condition::SchemaValid(expected) => {
                self.conformity().and_then(Conformity::holds).is_some_and(|valid| valid == *expected)
            }
            // Of the route: folded away before there is a result.
            Condition::Server(_)
            | Condition::Tool(_)
            | Condition::Revision(_)
            | Condition::App(_)
            | Condition::OutputSchema(_)
            | Condition::Label(..) => false,
        }
    }
}

impl Asked<'_> {
    fn visible_blocks(&self) -> impl Iterator<Item = &Block> {
        self.scan.blocks.iter().zip(self.visible).filter_map(|(block, visible)| visible.then_some(block))
    }

    fn error(&mut self) -> bool {
        let failed = self.scan.failed(self.bytes);
        *self.known.error.get_or_insert(failed)
    }

    fn content(&mut self) -> ContentState {
        if let Some(known) = self.known.content {
            return known;
        }
        let shows = |block: &Block| block.kind != Kind::Text || !is_blank(text(self.bytes, block));
        let state = if self.scan.content.is_absent() {
            ContentState::Missing
        } else if self.visible_blocks().next().is_none() {
            ContentState::Empty
        } else if self.visible_blocks().any(shows) {
            ContentState::Visible
        } else {
            ContentState::Blank
        };
        *self.known.content.insert(state)
    }

    fn kinds(&mut self) -> Kinds {
        if let Some(known) = self.known.kinds {
            return known;
        }
        let kinds = Kinds(self.visible_blocks().fold(0, |kinds, block| kinds | 1 << (block.kind as u8)));
        *self.known.kinds.insert(kinds)
    }

    pub fn structured(&mut self) -> StructuredState {
        let state = structured_state(self.bytes, self.scan.structured);
        *self.known.structured.get_or_insert(state)
    }

    /// The structured value when there is one that is not null.
    fn present(&mut self) -> Option<Span> {
        let absent = matches!(self.structured(), StructuredState::Absent | StructuredState::Null);
        (!absent).then_some(self.scan.structured)
    }

    #[expect(clippy::cast_precision_loss, reason = "sizes are at most 64 MiB")]
    fn measure(&mut self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Blocks => {
                let blocks = self.visible_blocks().count() as u64;
                Some(*self.known.blocks.get_or_insert(blocks) as f64)
            }
            Measure::TextBytes => Some(self.text_bytes() as f64),
            Measure::StructuredBytes => self.structured_bytes().map(|bytes| bytes as f64),
            Measure::ResultBytes => {
                let bytes = self.bytes.len() as u64;
                Some(*self.known.result_bytes.get_or_insert(bytes) as f64)
            }
            Measure::Ratio => {
                let structured = self.structured_bytes()? as f64;
                // Without text the ratio is infinite, and so above every bound.
                Some(structured / self.text_bytes() as f64)
            }
        }
    }

    fn text_bytes(&mut self) -> u64 {
        if let Some(known) = self.known.text_bytes {
            return known;
        }
        let bytes =
            self.visible_blocks().filter(|b| has_text(b)).map(|b| decoded_len(text(self.bytes, b)) as u64).sum();
        *self.known.text_bytes.insert(bytes)
    }

    fn structured_bytes(&mut self) -> Option<u64> {
        let structured = self.present()?;
        if self.known.structured_bytes.is_none() {
            self.scratch.bytes.clear();
            compact_into(structured.of(self.bytes), &mut self.scratch.bytes, &mut self.scratch.compact);
            self.known.structured_bytes = Some(self.scratch.bytes.len() as u64);
        }
        self.known.structured_bytes
    }

    fn text_json(&mut self) -> bool {
        if let Some(known) = self.known.text_json {
            return known;
        }
        let bytes = self.bytes;
        let visible = self.scan.blocks.iter().zip(self.visible).filter_map(|(block, visible)| visible.then_some(block));
        let mut texts = visible.filter(|block| block.kind == Kind::Text);
        let only = texts.next().filter(|_| texts.next().is_none()).map(|block| text(bytes, block));
        let is_json = only.is_some_and(|text| text_is_json(text, MAX_DEPTH, &mut self.scratch.mirror));
        *self.known.text_json.insert(is_json)
    }

    fn mirrors(&mut self, wanted: &Mirror) -> bool {
        let Some(structured) = self.present() else { return false };
        let ways = Ways { block: wanted.block, joined: wanted.joined, wrapped: wanted.wrapped };
        let index = usize::from(wanted.canonical);
        let (mut asked, mut found) = self.known.mirror.get(index).copied().flatten().unwrap_or_default();
        let missing = Ways {
            block: ways.block && !asked.block,
            joined: ways.joined && !asked.joined,
            wrapped: ways.wrapped && !asked.wrapped,
        };
        if missing != Ways::default() {
            let [mut texts, mut blocks]: [Vec<&[u8]>; 2] = std::mem::take(&mut self.scratch.pieces);
            texts.extend(self.visible_blocks().filter(|b| has_text(b)).map(|b| text(self.bytes, b)));
            blocks.extend(self.visible_blocks().map(|block| block.span.of(self.bytes)));
            let structured = structured.of(self.bytes);
            let new =
                mirror(structured, &texts, &blocks, missing, wanted.canonical, MAX_DEPTH, &mut self.scratch.mirror);
            self.scratch.pieces = [emptied(texts), emptied(blocks)];
            let either = |one: Ways, other: Ways| Ways {
                block: one.block || other.block,
                joined: one.joined || other.joined,
                wrapped: one.wrapped || other.wrapped,
            };
            (asked, found) = (either(asked, missing), either(found, new));
            if let Some(known) = self.known.mirror.get_mut(index) {
                *known = Some((asked, found));
            }
        }
        let mirrored = found.block && ways.block || found.joined && ways.joined || found.wrapped && ways.wrapped;
        mirrored == wanted.expected
    }

    /// Whether a path finds something in `_meta` without its reserved keys (C-71: nothing is asked of their values).
    fn meta_finds(&mut self, path: &JsonPath) -> bool {
        if self.scan.meta.is_absent() {
            return false;
        }
        let mut meta = std::mem::take(&mut self.scratch.bytes);
        meta.clear();
        let left = filter(self.bytes, members(self.bytes, self.scan.meta), &Keys::UNRESERVED, &mut meta);
        let found = left != Filtered::Nothing && finds(path, &meta, &mut self.scratch.path).unwrap_or_default();
        self.scratch.bytes = meta;
        found
    }

    /// What the value is under the tool's `outputSchema`; `None`: an error, or no schema.
    pub fn conformity(&mut self) -> Option<&Conformity> {
        let failed = self.error();
        let (bytes, scan, definition) = (self.bytes, self.scan, self.definition);
        let check = || if failed { None } else { conformity(definition, scan.structured.of(bytes)) };
        self.known.schema.get_or_insert_with(check).as_ref()
    }

    fn coverage(&mut self) -> Option<Measured> {
        let structured = self.present()?;
        if self.known.coverage.is_none() {
            let bytes = self.bytes;
            let blocks = self.scan.blocks.iter().zip(self.visible).filter_map(|(block, v)| v.then_some(block));
            let blocks = blocks.map(|block| block.span.of(bytes));
            let unique = self.scan.structured_seen.is_some_and(|seen| !seen.has(Seen::REPEATS));
            let coverage = &mut self.scratch.coverage;
            self.known.coverage = Some(coverage.measure_names(structured.of(bytes), unique, blocks));
        }
        self.known.coverage.flatten()
    }
}

/// The room of a list, for the next result. Collecting it in place is what keeps its memory.
fn emptied(mut list: Vec<&[u8]>) -> Vec<&'static [u8]> {
    list.clear();
    list.into_iter().map(|_| -> &'static [u8] { &[] }).collect()
}

/// The state of a structured value by its first bytes.
pub fn structured_state(bytes: &[u8], structured: Span) -> StructuredState {
    let raw = structured.of(bytes);
    let empty = |close: u8| raw.get(skip_space(raw, 1)) == Some(&close);
    match raw.first() {
        None => StructuredState::Absent,
        Some(b'n') => StructuredState::Null,
        Some(b'{') if empty(b'}') => StructuredState::Empty,
        Some(b'[') if empty(b']') => StructuredState::Empty,
        Some(b'{') => StructuredState::Object,
        Some(b'[') => StructuredState::Array,
        Some(_) => StructuredState::Scalar,
    }
}

/// Whether a block has text that a model reads: a text block, or embedded text.
pub fn has_text(block: &Block) -> bool {
    matches!(block.kind, Kind::Text | Kind::ResourceText)
}

/// The text of a block as it stands between its quotes.
pub fn text<'a>(bytes: &'a [u8], block: &Block) -> &'a [u8] {
    string_inside(bytes, block.text).unwrap_or_default().of(bytes)
}
