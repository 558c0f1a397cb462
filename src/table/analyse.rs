//! What rules leave for each other: which results and routes a set of conditions allows.
//!
//! A [`Cell`] is a set of routes and results, described by what each fact can still be. Conditions are assumed to hold or
//! not to hold, one after the other; [`Cell::is_empty`] then tells that nothing is left. The dependencies between facts
//! (design 4.2) are known to it: coverage needs a structured value, no block means no text, and so on. What is said to be
//! empty is empty; a cell that is not may still be so, for reasons nobody worked out.
//!
//! All else follows: a cell implies a condition when nothing is left of it without the condition; rows cover a cell when
//! taking them away, one by one, leaves nothing ([`outside`]).

use crate::policy::pattern::Pattern;
use crate::policy::rule::{
    App, Condition, ContentState, Kind, Measure, Mirror, Range, Rule, StructuredState, StructuredStates,
};
use crate::result::path::{JsonPath, Root};
use std::ops::ControlFlow;

// ---- numbers ----------------------------------------------------------------------------------------------

/// A place between numbers: just before one, or just after it.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
struct Cut(f64, bool);

/// What a number can be, and whether it can be unknown (a condition on it is false then).
#[derive(Clone, PartialEq, Debug)]
pub struct Numbers {
    /// In order, apart; `None`: every number of its domain.
    spans: Option<Vec<(Cut, Cut)>>,
    unknown: bool,
}

/// The facts that are numbers, and the date of the revision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Number {
    Blocks = 0,
    TextBytes,
    StructuredBytes,
    ResultBytes,
    Ratio,
    Coverage,
    Revision,
}

const NUMBERS: [Number; 7] = [
    Number::Blocks,
    Number::TextBytes,
    Number::StructuredBytes,
    Number::ResultBytes,
    Number::Ratio,
    Number::Coverage,
    Number::Revision,
];

impl Number {
    fn of(measure: Measure) -> Number {
        match measure {
            Measure::Blocks => Number::Blocks,
            Measure::TextBytes => Number::TextBytes,
            Measure::StructuredBytes => Number::StructuredBytes,
            Measure::ResultBytes => Number::ResultBytes,
            Measure::Ratio => Number::Ratio,
        }
    }

    fn is_whole(self) -> bool {
        !matches!(self, Number::Ratio | Number::Coverage)
    }

    /// Without text the ratio is infinite.
    fn domain(self) -> &'static [(Cut, Cut); 1] {
        const fn up_to(most: f64) -> [(Cut, Cut); 1] {
            [(Cut(0.0, false), Cut(most, true))]
        }
        const SHARE: [(Cut, Cut); 1] = up_to(1.0);
        const DATE: [(Cut, Cut); 1] = up_to(99_999_999.0);
        const ANY: [(Cut, Cut); 1] = up_to(f64::INFINITY);
        match self {
            Number::Coverage => &SHARE,
            Number::Revision => &DATE,
            _ => &ANY,
        }
    }

    fn bounds(self) -> (Cut, Cut) {
        let [bounds] = self.domain();
        *bounds
    }

    fn can_be_unknown(self) -> bool {
        matches!(self, Number::StructuredBytes | Number::Ratio | Number::Coverage | Number::Revision)
    }
}

impl Numbers {
    fn all(number: Number) -> Numbers {
        Numbers { spans: None, unknown: number.can_be_unknown() }
    }

    fn spans(&self, number: Number) -> &[(Cut, Cut)] {
        self.spans.as_deref().unwrap_or(number.domain())
    }

    fn is_empty(&self) -> bool {
        !self.unknown && !self.can_be_known()
    }

    fn can_be_known(&self) -> bool {
        self.spans.as_ref().is_none_or(|spans| !spans.is_empty())
    }

    fn can_be(&self, number: Number, low: f64, high: f64) -> bool {
        let (low, high) = (Cut(low, false), Cut(high, true));
        self.spans(number).iter().any(|(start, end)| *start < high && low < *end)
    }

    /// The least and the greatest number; `None` when it can only be unknown.
    fn hull(&self, number: Number) -> Option<(f64, f64)> {
        let spans = self.spans(number);
        let (first, last) = (spans.first()?, spans.last()?);
        // A whole number above 3 is at least 4: `spans` of whole numbers start just before one and end just after one.
        Some((first.0.0, last.1.0))
    }

    /// Keeps what is in `spans`; whether that changed anything.
    fn keep(&mut self, number: Number, spans: &[(Cut, Cut)]) -> bool {
        let before = self.spans(number);
        let is_within = |(low, high): &(Cut, Cut)| spans.iter().any(|(start, end)| start <= low && high <= end);
        if before.iter().all(is_within) {
            return false;
        }
        self.spans = Some(meet(before, spans));
        true
    }

    fn keep_within(&mut self, number: Number, low: f64, high: f64) -> bool {
        self.keep(number, &[(Cut(low, false), Cut(high, true))])
    }

    fn never_unknown(&mut self) -> bool {
        std::mem::replace(&mut self.unknown, false)
    }

    /// A number in it, the preferred one if it is.
    pub(super) fn pick(&self, number: Number, preferred: f64) -> Option<f64> {
        if self.can_be(number, preferred, preferred) {
            return Some(preferred);
        }
        let spans = self.spans(number);
        let above = spans.iter().find(|(low, _)| low.0 >= preferred).or(spans.last())?;
        let (Cut(low, low_open), Cut(high, high_closed)) = *above;
        if !low_open {
            return Some(low);
        }
        if high_closed && high.is_finite() {
            return Some(high);
        }
        Some(if high.is_finite() { (low + high) / 2.0 } else { low + 1.0 })
    }

    pub(super) fn holds(&self, number: Number, value: f64) -> bool {
        self.can_be(number, value, value)
    }

    pub(super) fn may_be_unknown(&self) -> bool {
        self.unknown
    }
}

/// The ranges of a condition as spans, in order and apart.
fn spans_of(number: Number, ranges: impl Iterator<Item = Range<f64>>) -> Vec<(Cut, Cut)> {
    let (least, most) = number.bounds();
    let mut spans: Vec<(Cut, Cut)> = ranges
        .map(|range| {
            let low = range.low.map_or(least, |(low, closed)| Cut(low, !closed));
            let high = range.high.map_or(most, |(high, closed)| Cut(high, closed));
            if number.is_whole() { (first_whole(low), last_whole(high)) } else { (low, high) }
        })
        .filter(|(low, high)| low < high)
        .collect();
    spans.sort_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal));
    let mut apart: Vec<(Cut, Cut)> = Vec::with_capacity(spans.len());
    for (low, high) in spans {
        match apart.last_mut() {
            Some((_, last)) if low <= *last || (number.is_whole() && low.0 <= last.0 + 1.0) => {
                if *last < high {
                    *last = high;
                }
            }
            _ => apart.push((low, high)),
        }
    }
    apart
}

fn first_whole(cut: Cut) -> Cut {
    if cut.1 { Cut(cut.0.floor() + 1.0, false) } else { Cut(cut.0.ceil(), false) }
}

fn last_whole(cut: Cut) -> Cut {
    if cut.1 { Cut(cut.0.floor(), true) } else { Cut(cut.0.ceil() - 1.0, true) }
}

fn meet(one: &[(Cut, Cut)], other: &[(Cut, Cut)]) -> Vec<(Cut, Cut)> {
    let mut met = Vec::new();
    for &(low, high) in one {
        for &(low2, high2) in other {
            let low = if low < low2 { low2 } else { low };
            let high = if high < high2 { high } else { high2 };
            if low < high {
                met.push((low, high));
            }
        }
    }
    met
}

fn complement(number: Number, spans: &[(Cut, Cut)]) -> Vec<(Cut, Cut)> {
    let (mut low, most) = number.bounds();
    let mut left = Vec::new();
    for &(start, end) in spans {
        if low < start {
            left.push((low, if number.is_whole() { last_whole(start) } else { start }));
        }
        low = if end.0.is_infinite() {
            most
        } else if number.is_whole() {
            first_whole(end)
        } else {
            end
        };
    }
    if low < most {
        left.push((low, most));
    }
    left
}

// ---- names ------------------------------------------------------------------------------------------------

/// What a name can be: matched by one of each list, and by none of the others.
#[derive(Clone, Debug, Default)]
pub struct Names<'p> {
    pub(super) one_of: Vec<&'p [Pattern]>,
    pub(super) none_of: Vec<&'p [Pattern]>,
}

impl<'p> Names<'p> {
    fn assume(&mut self, patterns: &'p [Pattern], truth: bool) {
        if truth { self.one_of.push(patterns) } else { self.none_of.push(patterns) }
    }

    /// The patterns of the first list that can still match, given all the others.
    pub(super) fn alive(&self) -> impl Iterator<Item = &'p Pattern> {
        let first = self.one_of.iter().min_by_key(|list| list.iter().filter(|pattern| !pattern.is_exact()).count());
        first.into_iter().flat_map(|list| list.iter()).filter(|pattern| {
            self.one_of.iter().all(|list| list.iter().any(|other| other.meets(pattern)))
                && !self.none_of.iter().any(|list| list.iter().any(|other| other.includes(pattern)))
        })
    }

    fn is_empty(&self) -> bool {
        // Any name at all, unless `*` is excluded.
        if self.one_of.is_empty() {
            return self.none_of.iter().any(|list| list.iter().any(is_anything));
        }
        self.alive().next().is_none()
    }

    pub(super) fn holds(&self, name: &str) -> bool {
        let any = |list: &&[Pattern]| list.iter().any(|pattern| pattern.matches(name));
        self.one_of.iter().all(any) && !self.none_of.iter().any(any)
    }
}

fn is_anything(pattern: &Pattern) -> bool {
    !pattern.as_str().is_empty() && pattern.as_str().bytes().all(|b| b == b'*')
}

// ---- cells ------------------------------------------------------------------------------------------------

/// Something that holds for a route and a result, or does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part<'p> {
    Server(&'p [Pattern]),
    Tool(&'p [Pattern]),
    When(&'p Condition),
    /// `isError`, which says whether `order` or `error_order` counts.
    Error(bool),
}

/// The parts that must hold for a rule.
pub fn parts(rule: &Rule) -> Vec<Part<'_>> {
    let server = rule.server.as_ref().map(|server| Part::Server(std::slice::from_ref(server)));
    let tool = rule.tool.as_ref().map(|tool| Part::Tool(std::slice::from_ref(tool)));
    server.into_iter().chain(tool).chain(rule.when.iter().map(Part::When)).collect()
}

const YES: u8 = 2;
const NO: u8 = 1;
const UNKNOWN: u8 = 4;

const PRESENT: u8 = StructuredStates::PRESENT.0;

/// Sets of kinds, one bit for each of the 256 sets.
type KindSets = [u64; 4];

const TEXT: usize = 1 << Kind::Text as usize;

/// The set of no kinds, and that of texts alone.
const NO_KINDS: KindSets = [1, 0, 0, 0];
const TEXT_ALONE: KindSets = [1 << TEXT, 0, 0, 0];
/// Sets with texts, and with kinds that carry text.
const WITH_TEXT: KindSets = sets_with(TEXT);
const WITH_TEXTS: KindSets = sets_with(TEXT | 1 << Kind::ResourceText as usize);
/// Sets of so many kinds.
const OF_SIZE: [KindSets; 9] = {
    let mut sizes = [[0; 4]; 9];
    let mut set = 0;
    while set < 256usize {
        sizes[set.count_ones() as usize][set / 64] |= 1 << (set % 64);
        set += 1;
    }
    sizes
};

/// The sets that have one of these kinds.
const fn sets_with(kinds: usize) -> KindSets {
    let mut sets = [0; 4];
    let mut set = 0;
    while set < 256 {
        if set & kinds != 0 {
            sets[set / 64] |= 1 << (set % 64);
        }
        set += 1;
    }
    sets
}

/// The same for every set of kinds, worked out beforehand.
static SETS_WITH: [KindSets; 256] = {
    let mut all = [[0; 4]; 256];
    let mut kinds = 0;
    while kinds < 256 {
        all[kinds] = sets_with(kinds);
        kinds += 1;
    }
    all
};

fn with_one_of(kinds: u8) -> KindSets {
    SETS_WITH.get(usize::from(kinds)).copied().unwrap_or_default()
}

fn not(sets: KindSets) -> KindSets {
    sets.map(|word| !word)
}

fn share(one: KindSets, other: KindSets) -> bool {
    one.iter().zip(other).any(|(one, other)| one & other != 0)
}

/// Of `app`: no user interface, one, one that the model does not see.
const APP_NONE: u8 = 1;
const APP_UI: u8 = 2;
const APP_ONLY: u8 = 4;

/// Which ways mirror the structured value, without and with `canonical`: three bits each.
const BLOCK: usize = 1;
const JOINED: usize = 2;
const WRAPPED: usize = 4;

/// States in which one of these ways mirrors, by either rule.
const fn mirrors_by(ways: usize) -> u64 {
    let mut states = 0;
    let mut state = 0;
    while state < 64 {
        if (state | state >> 3) & ways != 0 {
            states |= 1 << state;
        }
        state += 1;
    }
    states
}

const BY_BLOCK_OR_JOINED: u64 = mirrors_by(BLOCK | JOINED);
const BY_JOINED: u64 = mirrors_by(JOINED);
const BY_WRAPPED: u64 = mirrors_by(WRAPPED);
const BY_BLOCK: u64 = mirrors_by(BLOCK);

/// A set of routes and results.
#[derive(Clone, Debug)]
pub struct Cell<'p> {
    /// All that was assumed.
    pub(super) trail: Vec<(Part<'p>, bool)>,
    pub(super) error: u8,
    pub(super) content: u8,
    pub(super) structured: u8,
    /// The sets of kinds that the visible blocks can have between them, one bit for each of the 256.
    kinds: KindSets,
    pub(super) text_json: u8,
    /// One bit for each of the 64 states; see [`BLOCK`].
    mirror: u64,
    mirror_unknown: bool,
    schema: u8,
    pub(super) has_meta: u8,
    pub(super) app: u8,
    pub(super) output_schema: u8,
    numbers: [Numbers; 7],
    pub(super) server: Names<'p>,
    pub(super) tool: Names<'p>,
    pub(super) labels: Vec<(&'p str, Names<'p>)>,
    pub(super) meta: Vec<(&'p [Pattern], bool)>,
    pub(super) meta_paths: Vec<(&'p JsonPath, bool)>,
    pub(super) paths: Vec<(&'p JsonPath, bool)>,
    empty: bool,
}

impl Default for Cell<'_> {
    fn default() -> Self {
        Cell {
            trail: Vec::new(),
            error: YES | NO,
            content: 15,
            structured: 63,
            kinds: [u64::MAX; 4],
            text_json: YES | NO,
            mirror: u64::MAX,
            mirror_unknown: true,
            schema: YES | NO | UNKNOWN,
            has_meta: YES | NO,
            app: APP_NONE | APP_UI | APP_ONLY,
            output_schema: YES | NO | UNKNOWN,
            numbers: NUMBERS.map(Numbers::all),
            server: Names::default(),
            tool: Names::default(),
            labels: Vec::new(),
            meta: Vec::new(),
            meta_paths: Vec::new(),
            paths: Vec::new(),
            empty: false,
        }
    }
}

impl<'p> Cell<'p> {
    /// Every route and every result.
    pub fn everything() -> Cell<'p> {
        Cell::default()
    }

    /// Where a rule's conditions hold.
    pub fn of(parts: &[Part<'p>]) -> Cell<'p> {
        Cell::everything().with_all(parts)
    }

    /// What is left when all parts hold too.
    pub fn with_all(&self, parts: &[Part<'p>]) -> Cell<'p> {
        let mut cell = self.clone();
        for part in parts {
            cell.assume(*part, true);
        }
        cell.tighten();
        cell
    }

    /// What is left when this part holds too, or does not.
    pub fn with(&self, part: Part<'p>, truth: bool) -> Cell<'p> {
        let mut cell = self.clone();
        cell.assume(part, truth);
        cell.tighten();
        cell
    }

    /// Nothing is left.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// Whether the part holds everywhere in this cell.
    pub fn implies(&self, part: Part<'p>) -> bool {
        self.empty || self.with(part, false).empty
    }

    /// The same for a condition that does not live as long as the cell.
    pub fn implies_alone(&self, condition: &Condition) -> bool {
        let shorter: Cell<'_> = self.clone();
        shorter.implies(Part::When(condition))
    }

    /// Whether the part holds nowhere in this cell.
    pub fn contradicts(&self, part: Part<'p>) -> bool {
        self.empty || self.with(part, true).empty
    }

    pub(super) fn number(&self, number: Number) -> &Numbers {
        let [blocks, text, structured, result, ratio, coverage, revision] = &self.numbers;
        match number {
            Number::Blocks => blocks,
            Number::TextBytes => text,
            Number::StructuredBytes => structured,
            Number::ResultBytes => result,
            Number::Ratio => ratio,
            Number::Coverage => coverage,
            Number::Revision => revision,
        }
    }

    fn number_mut(&mut self, number: Number) -> &mut Numbers {
        let [blocks, text, structured, result, ratio, coverage, revision] = &mut self.numbers;
        match number {
            Number::Blocks => blocks,
            Number::TextBytes => text,
            Number::StructuredBytes => structured,
            Number::ResultBytes => result,
            Number::Ratio => ratio,
            Number::Coverage => coverage,
            Number::Revision => revision,
        }
    }

    /// Whether there can be text to read: in blocks or in a structured value.
    pub fn can_have_text(&self) -> bool {
        !self.empty
            && (self.structured & PRESENT != 0
                || self.number(Number::TextBytes).hull(Number::TextBytes).is_some_and(|(_, most)| most > 0.0))
    }

    /// Whether a structured value that is not null is there for certain.
    pub fn is_structured(&self) -> bool {
        self.structured & !PRESENT == 0
    }

    // ---- assuming ---------------------------------------------------------------------------------------

    fn assume(&mut self, part: Part<'p>, truth: bool) {
        self.trail.push((part, truth));
        match part {
            Part::Server(patterns) => self.server.assume(patterns, truth),
            Part::Tool(patterns) => self.tool.assume(patterns, truth),
            Part::Error(expected) => self.error &= flag(expected == truth),
            Part::When(condition) => self.assume_condition(condition, truth),
        }
    }

    fn assume_condition(&mut self, condition: &'p Condition, truth: bool) {
        let side = |bits: u8| if truth { bits } else { !bits };
        match condition {
            Condition::Server(patterns) => self.server.assume(patterns, truth),
            Condition::Tool(patterns) => self.tool.assume(patterns, truth),
            Condition::Label(name, patterns) => {
                let name: &'p str = name;
                match self.labels.iter_mut().find(|(label, _)| *label == name) {
                    Some((_, names)) => names.assume(patterns, truth),
                    None => {
                        let mut names = Names::default();
                        names.assume(patterns, truth);
                        self.labels.push((name, names));
                    }
                }
            }
            Condition::Revision(ranges) => {
                let bound = |bound: Option<(u32, bool)>| bound.map(|(date, closed)| (f64::from(date), closed));
                let ranges = ranges.iter().map(|range| Range { low: bound(range.low), high: bound(range.high) });
                self.assume_number(Number::Revision, spans_of(Number::Revision, ranges), truth);
            }
            Condition::App(app) => {
                self.app &= side(match app {
                    App::Yes => APP_UI | APP_ONLY,
                    App::No => APP_NONE,
                    App::Only => APP_ONLY,
                })
            }
            Condition::OutputSchema(expected) => self.output_schema &= side(flag(*expected)),
            Condition::Error(expected) => self.error &= flag(*expected == truth),
            Condition::Content(states) => self.content &= side(states.0),
            Condition::Structured(states) => self.structured &= side(states.0),
            Condition::Has(kinds) => {
                let sets = with_one_of(kinds.0);
                self.keep_kinds(if truth { sets } else { not(sets) });
            }
            Condition::Only(kinds) => {
                let sets = with_one_of(!kinds.0);
                self.keep_kinds(if truth { not(sets) } else { sets });
            }
            Condition::Measure(measure, ranges) => {
                let number = Number::of(*measure);
                self.assume_number(number, spans_of(number, ranges.iter().copied()), truth);
            }
            Condition::Coverage(ranges) => {
                self.assume_number(Number::Coverage, spans_of(Number::Coverage, ranges.iter().copied()), truth);
            }
            Condition::TextJson(expected) => self.text_json &= flag(*expected == truth),
            Condition::Mirror(mirror) => self.assume_mirror(mirror, truth),
            Condition::SchemaValid(expected) => self.schema &= side(flag(*expected)),
            Condition::Meta(patterns) => self.meta.push((patterns, truth)),
            Condition::MetaPath(path) => self.meta_paths.push((path, truth)),
            Condition::Path(path) => self.paths.push((path, truth)),
        }
    }

    fn assume_number(&mut self, number: Number, spans: Vec<(Cut, Cut)>, truth: bool) {
        let numbers = self.number_mut(number);
        if truth {
            numbers.unknown = false;
            numbers.keep(number, &spans);
        } else {
            numbers.keep(number, &complement(number, &spans));
        }
    }

    fn assume_mirror(&mut self, mirror: &Mirror, truth: bool) {
        let ways = usize::from(mirror.block) * BLOCK
            + usize::from(mirror.joined) * JOINED
            + usize::from(mirror.wrapped) * WRAPPED;
        let found = |state: usize| if mirror.canonical { state >> 3 } else { state & 7 };
        let holds = |state: &usize| ((found(*state) & ways != 0) == mirror.expected) == truth;
        self.keep_mirrors((0..64).filter(holds).fold(0, |states, state| states | 1 << state));
        if truth {
            self.mirror_unknown = false;
        }
    }

    fn keep_kinds(&mut self, sets: KindSets) -> bool {
        let mut changed = false;
        for (word, kept) in self.kinds.iter_mut().zip(sets) {
            changed |= *word & !kept != 0;
            *word &= kept;
        }
        changed
    }

    fn keep_mirrors(&mut self, states: u64) -> bool {
        let changed = self.mirror & !states != 0;
        self.mirror &= states;
        changed
    }

    /// The sets of kinds that are possible.
    pub(super) fn kind_sets(&self) -> impl Iterator<Item = usize> + '_ {
        self.kinds
            .iter()
            .enumerate()
            .flat_map(|(index, word)| (0..64).filter(move |bit| word & 1 << bit != 0).map(move |bit| index * 64 + bit))
    }

    /// Whether the kinds can only be one of these sets.
    fn kinds_within(&self, sets: KindSets) -> bool {
        !share(self.kinds, not(sets))
    }

    /// Whether something mirrors for certain, in one of these states.
    fn mirrors_within(&self, states: u64) -> bool {
        !self.mirror_unknown && self.mirror & !states == 0
    }

    // ---- dependencies between facts ---------------------------------------------------------------------

    /// Draws the consequences until nothing changes, and finds out whether something is left.
    fn tighten(&mut self) {
        for _ in 0..8 {
            if self.empty || self.has_nothing() {
                self.empty = true;
                return;
            }
            let changed = self.tighten_route()
                | self.tighten_structured()
                | self.tighten_blocks()
                | self.tighten_text()
                | self.tighten_mirror()
                | self.tighten_sizes()
                | self.tighten_meta();
            if !changed {
                break;
            }
        }
        self.empty = self.empty || self.has_nothing() || self.contradicts_itself();
    }

    fn has_nothing(&self) -> bool {
        self.error == 0
            || self.content == 0
            || self.structured == 0
            || self.kinds == [0; 4]
            || self.text_json == 0
            || (self.mirror == 0 && !self.mirror_unknown)
            || self.schema == 0
            || self.has_meta == 0
            || self.app == 0
            || self.output_schema == 0
            || self.numbers.iter().any(Numbers::is_empty)
    }

    fn contradicts_itself(&self) -> bool {
        let names = std::iter::once(&self.server).chain([&self.tool]).any(Names::is_empty);
        // A label that must not match can be absent.
        let labels = self.labels.iter().any(|(_, names)| !names.one_of.is_empty() && names.is_empty());
        let within = |part: &[Pattern], whole: &[Pattern]| part.iter().all(|p| whole.iter().any(|w| w.includes(p)));
        let meta = both_ways(&self.meta, within);
        let paths = both_ways(&self.paths, |yes, no| no.is_start_of(yes));
        let meta_paths = both_ways(&self.meta_paths, |yes, no| no.is_start_of(yes));
        names || labels || meta || paths || meta_paths
    }

    fn tighten_route(&mut self) -> bool {
        let mut changed = false;
        if self.app & APP_NONE == 0 {
            changed |= narrow(&mut self.output_schema, YES | NO);
        }
        if self.output_schema == UNKNOWN {
            changed |= narrow(&mut self.app, APP_NONE);
        }
        changed
    }

    /// Coverage, mirrors, sizes and paths of the structured value are known only when there is one.
    fn tighten_structured(&mut self) -> bool {
        let mut changed = false;
        let is_known = !self.mirror_unknown
            || !self.number(Number::StructuredBytes).unknown
            || !self.number(Number::Ratio).unknown
            || !self.number(Number::Coverage).unknown
            || self.schema & UNKNOWN == 0;
        if is_known {
            changed |= narrow(&mut self.structured, PRESENT);
        }
        for index in 0..self.paths.len() {
            let Some(&(path, truth)) = self.paths.get(index) else { break };
            let states = match path.root() {
                Root::Anything => PRESENT,
                Root::Object => StructuredState::Object as u8,
                Root::Array => StructuredState::Array as u8,
                Root::ObjectOrArray => StructuredState::Object as u8 | StructuredState::Array as u8,
            };
            if truth {
                changed |= narrow(&mut self.structured, states);
            } else if path.root() == Root::Anything {
                changed |= narrow(&mut self.structured, !PRESENT);
            }
        }
        if self.structured & PRESENT == 0 {
            changed |= std::mem::replace(&mut self.mirror, 0) != 0;
            changed |= narrow(&mut self.schema, UNKNOWN);
            for number in [Number::StructuredBytes, Number::Ratio, Number::Coverage] {
                changed |= self.number_mut(number).keep(number, &[]);
            }
        } else if self.structured & !PRESENT == 0 {
            changed |= std::mem::replace(&mut self.mirror_unknown, false);
            changed |= self.number_mut(Number::StructuredBytes).never_unknown();
            changed |= self.number_mut(Number::Ratio).never_unknown();
        }
        if self.structured == StructuredState::Empty as u8 {
            changed |= self.number_mut(Number::Coverage).never_unknown();
            changed |= self.number_mut(Number::Coverage).keep_within(Number::Coverage, 1.0, 1.0);
        }
        // The shortest of each: `0`, `{}`, `[0]`, `{"":0}`.
        let sizes = [
            (StructuredState::Scalar as u8, 1.0, f64::INFINITY),
            (StructuredState::Empty as u8, 2.0, 2.0),
            (StructuredState::Array as u8, 3.0, f64::INFINITY),
            (StructuredState::Object as u8, 6.0, f64::INFINITY),
        ];
        let number = Number::StructuredBytes;
        for (state, least, most) in sizes {
            if !self.number(number).can_be(number, least, most) {
                changed |= narrow(&mut self.structured, !state);
            }
        }
        let possible = sizes.iter().filter(|(state, ..)| self.structured & state != 0);
        let least = possible.clone().map(|(_, least, _)| *least).fold(f64::INFINITY, f64::min);
        let most = possible.map(|(.., most)| *most).fold(0.0, f64::max);
        if least <= most {
            changed |= self.number_mut(number).keep_within(number, least, most);
        }
        if self.schema & UNKNOWN == 0 {
            changed |= narrow(&mut self.error, NO) | narrow(&mut self.output_schema, YES);
        }
        changed
    }

    /// How many blocks there are, of which kinds, and whether they show something.
    fn tighten_blocks(&mut self) -> bool {
        let mut changed = false;
        let none = ContentState::Missing as u8 | ContentState::Empty as u8;
        let some = ContentState::Blank as u8 | ContentState::Visible as u8;
        if self.content & none == 0 {
            changed |= self.keep_kinds(not(NO_KINDS));
        }
        if self.content & some == 0 {
            changed |= self.keep_kinds(NO_KINDS);
        }
        if self.content == ContentState::Blank as u8 {
            changed |= self.keep_kinds(TEXT_ALONE);
        }
        if !share(self.kinds, NO_KINDS) {
            changed |= narrow(&mut self.content, some);
        }
        if !share(self.kinds, TEXT_ALONE) {
            changed |= narrow(&mut self.content, !(ContentState::Blank as u8));
        }
        if self.kinds_within(NO_KINDS) {
            changed |= narrow(&mut self.content, none);
        }
        // A result without `content` has a structured value, null or not (C-11).
        if self.content == ContentState::Missing as u8 {
            changed |= narrow(&mut self.structured, !(StructuredState::Absent as u8));
        }
        if self.structured == StructuredState::Absent as u8 {
            changed |= narrow(&mut self.content, !(ContentState::Missing as u8));
        }
        // There are as many blocks as kinds, or more.
        let number = Number::Blocks;
        let mut least = None;
        for (size, sets) in (0u8..).zip(OF_SIZE) {
            let most = if size == 0 { 0.0 } else { f64::INFINITY };
            if !self.number(number).can_be(number, f64::from(size), most) {
                changed |= self.keep_kinds(not(sets));
            } else if least.is_none() && share(self.kinds, sets) {
                least = Some(f64::from(size));
            }
        }
        let most = if self.kinds_within(NO_KINDS) { 0.0 } else { f64::INFINITY };
        changed | self.number_mut(number).keep_within(number, least.unwrap_or_default(), most)
    }

    /// How much text there is, and whether it is JSON.
    fn tighten_text(&mut self) -> bool {
        let mut changed = false;
        let number = Number::TextBytes;
        if self.kinds_within(not(WITH_TEXTS)) {
            changed |= self.number_mut(number).keep_within(number, 0.0, 0.0);
        }
        if !self.number(number).can_be(number, 0.0, 0.0) {
            changed |= self.keep_kinds(WITH_TEXTS);
        }
        let visible = ContentState::Visible as u8;
        if !self.number(number).can_be(number, 1.0, f64::INFINITY) && self.content & ContentState::Blank as u8 == 0 {
            // Texts alone that show something are not empty.
            changed |= self.keep_kinds(not(TEXT_ALONE));
        }
        if self.content == visible && self.kinds_within(TEXT_ALONE) {
            changed |= self.number_mut(number).keep_within(number, 1.0, f64::INFINITY);
        }
        if self.text_json == YES {
            changed |= self.keep_kinds(WITH_TEXT);
            changed |= narrow(&mut self.content, visible);
            changed |= self.number_mut(number).keep_within(number, 2.0, f64::INFINITY);
            if self.kinds_within(TEXT_ALONE) {
                changed |= self.number_mut(Number::Blocks).keep_within(Number::Blocks, 1.0, 1.0);
            }
        }
        if self.kinds_within(not(WITH_TEXT))
            || self.content & visible == 0
            || !self.number(number).can_be(number, 2.0, f64::INFINITY)
        {
            changed |= narrow(&mut self.text_json, NO);
        }
        changed
    }

    /// Which ways can mirror the structured value at all.
    fn tighten_mirror(&mut self) -> bool {
        if self.mirror == 0 {
            return false;
        }
        let mut changed = false;
        if self.kinds_within(NO_KINDS) {
            changed |= self.keep_mirrors(1);
        }
        let number = Number::TextBytes;
        if self.kinds_within(not(WITH_TEXTS)) || !self.number(number).can_be(number, 1.0, f64::INFINITY) {
            changed |= self.keep_mirrors(!BY_BLOCK_OR_JOINED);
        }
        if !self.number(Number::Blocks).can_be(Number::Blocks, 2.0, f64::INFINITY) {
            changed |= self.keep_mirrors(!BY_JOINED);
        }
        if self.structured & StructuredState::Object as u8 == 0 {
            changed |= self.keep_mirrors(!BY_WRAPPED);
        }
        if self.mirrors_within(!1) {
            changed |= self.keep_kinds(not(NO_KINDS));
        }
        if self.mirrors_within(BY_BLOCK_OR_JOINED) {
            changed |= self.keep_kinds(WITH_TEXTS);
            changed |= self.number_mut(number).keep_within(number, 1.0, f64::INFINITY);
        }
        if self.mirrors_within(BY_JOINED & !BY_BLOCK & !BY_WRAPPED) {
            changed |= self.number_mut(Number::Blocks).keep_within(Number::Blocks, 2.0, f64::INFINITY);
        }
        if self.mirrors_within(BY_WRAPPED & !BY_BLOCK_OR_JOINED) {
            changed |= narrow(&mut self.structured, StructuredState::Object as u8);
        }
        changed
    }

    /// The ratio follows from both sizes; the whole is larger than its parts.
    fn tighten_sizes(&mut self) -> bool {
        let mut changed = false;
        let text = self.number(Number::TextBytes).hull(Number::TextBytes);
        let structured = self.number(Number::StructuredBytes).hull(Number::StructuredBytes);
        if let (Some((text_low, text_high)), Some((low, high))) = (text, structured) {
            // Division rounds the same way for all, so the bounds are exact enough.
            let least = if text_high.is_infinite() { 0.0 } else { low / text_high };
            let most = if high.is_infinite() || text_low == 0.0 { f64::INFINITY } else { high / text_low };
            changed |= self.number_mut(Number::Ratio).keep_within(Number::Ratio, least, most);
        }
        let ratio = self.number(Number::Ratio);
        if !ratio.unknown && ratio.hull(Number::Ratio).is_some_and(|(_, most)| most.is_finite()) {
            changed |= self.number_mut(Number::TextBytes).keep_within(Number::TextBytes, 1.0, f64::INFINITY);
        }
        let least_text = text.map_or(0.0, |(low, _)| low);
        let structured_is_known = !self.number(Number::StructuredBytes).unknown;
        let least_structured = structured.filter(|_| structured_is_known).map_or(0.0, |(low, _)| low);
        let number = Number::ResultBytes;
        changed |= self.number_mut(number).keep_within(number, least_text + least_structured + 2.0, f64::INFINITY);
        if let Some((_, most)) = self.number(number).hull(number).filter(|(_, most)| most.is_finite()) {
            changed |= self.number_mut(Number::TextBytes).keep_within(Number::TextBytes, 0.0, most);
            changed |= self.number_mut(Number::StructuredBytes).keep_within(Number::StructuredBytes, 0.0, most);
        }
        changed
    }

    fn tighten_meta(&mut self) -> bool {
        let mut changed = false;
        if self.meta.iter().any(|(_, truth)| *truth) || self.meta_paths.iter().any(|(_, truth)| *truth) {
            changed |= narrow(&mut self.has_meta, YES);
        }
        if self.meta.iter().any(|(patterns, truth)| !truth && patterns.iter().any(is_anything)) {
            changed |= narrow(&mut self.has_meta, NO);
        }
        changed
    }
}

fn flag(value: bool) -> u8 {
    if value { YES } else { NO }
}

fn narrow(bits: &mut u8, to: u8) -> bool {
    let before = *bits;
    *bits &= to;
    *bits != before
}

fn both_ways<T: Copy>(assumed: &[(T, bool)], excludes: impl Fn(T, T) -> bool) -> bool {
    let of = |truth: bool| assumed.iter().filter(move |(_, is)| *is == truth).map(|(one, _)| *one);
    of(true).any(|yes| of(false).any(|no| excludes(yes, no)))
}

// ---- taking rows away -------------------------------------------------------------------------------------

/// How a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Searched {
    /// Every part was looked at.
    All,
    /// The visitor had enough.
    Stopped,
    /// The budget was used up.
    GaveUp,
}

/// Pieces that are looked at before a search gives up.
pub const BUDGET: u32 = 4000;

/// Visits the parts of a cell where none of the rows holds. `used` gets the rows that took something away.
pub fn outside<'p>(
    cell: Cell<'p>,
    rows: &[Vec<Part<'p>>],
    budget: &mut u32,
    used: &mut Vec<usize>,
    visit: &mut dyn FnMut(&Cell<'p>) -> ControlFlow<()>,
) -> Searched {
    let mut stack = vec![(cell, 0usize)];
    while let Some((cell, first)) = stack.pop() {
        if cell.is_empty() {
            continue;
        }
        let Some(left) = budget.checked_sub(1) else { return Searched::GaveUp };
        *budget = left;
        let holding = rows.iter().enumerate().skip(first).find(|(_, row)| !cell.with_all(row).is_empty());
        let Some((index, row)) = holding else {
            if visit(&cell).is_break() {
                return Searched::Stopped;
            }
            continue;
        };
        if !used.contains(&index) {
            used.push(index);
        }
        let mut inside = cell;
        for part in row {
            let without = inside.with(*part, false);
            if !without.is_empty() {
                stack.push((without, index + 1));
                inside = inside.with(*part, true);
            }
        }
    }
    Searched::All
}

/// The rows that together hold everywhere in a cell, as indices; `None` when that is not so or was not shown. One row
/// that does it alone is preferred.
pub fn covered_by<'p>(cell: &Cell<'p>, rows: &[Vec<Part<'p>>]) -> Option<Vec<usize>> {
    if let Some(alone) = rows.iter().position(|row| row.iter().all(|part| cell.implies(*part))) {
        return Some(vec![alone]);
    }
    if rows.len() < 2 {
        return None;
    }
    let mut used = Vec::new();
    let mut budget = BUDGET;
    let searched = outside(cell.clone(), rows, &mut budget, &mut used, &mut |_| ControlFlow::Break(()));
    used.sort_unstable();
    (searched == Searched::All).then_some(used)
}

#[cfg(test)]
mod tests;
