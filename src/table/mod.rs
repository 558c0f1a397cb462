//! The second step: the decision table of one route.
//!
//! [`Index`] finds the rules that may speak for a route; [`Table::specialise`] folds the route's own conditions away
//! and leaves rows of predicates over facts; [`Decider`] looks at a result's facts, as few as it can, and finds for each
//! setting the first row that holds and sets it. What the settings mean is for `select`.
//!
//! Without a route or a result, for people who look after policies: [`columns`] puts the rules in their order of
//! precedence, [`analyse`] tells what they leave for each other, [`witness`] builds examples, [`diff`] compares two policies.

pub mod analyse;
pub mod columns;
pub mod diff;
pub mod print;
pub mod route;
pub mod witness;

use crate::policy::rule::{Condition, Lane, Layer, Rule, Setting, Value};
use hashbrown::HashTable;
use route::Route;
use std::hash::BuildHasher;

/// The most distinct predicates on one route.
pub const MAX_PREDICATES: usize = 256;

// ---- which rules may speak for a route --------------------------------------------------------------------

/// The rules of a policy, findable by server: exact names by one seeded hash lookup whatever their number.
#[derive(Debug)]
pub struct Index {
    /// Rules of `[servers.NAME]` with an exact name, together by name.
    exact: Box<[u32]>,
    /// For each exact name the range of `exact` that is its.
    names: HashTable<(u32, u32)>,
    hasher: foldhash::fast::RandomState,
    /// Rules of `[servers."PATTERN"]`: tried one by one, once per route.
    patterns: Box<[u32]>,
    /// Rules of no server section.
    global: Box<[u32]>,
}

impl Index {
    pub fn new(rules: &[Rule]) -> Index {
        let (mut exact, mut patterns, mut global) = (Vec::new(), Vec::new(), Vec::new());
        for (number, rule) in (0u32..).zip(rules) {
            match &rule.server {
                Some(server) if server.is_exact() => exact.push(number),
                Some(_) => patterns.push(number),
                None => global.push(number),
            }
        }
        let name = |number: u32| server_of(rules, number);
        exact.sort_by(|&a, &b| name(a).cmp(name(b)).then(a.cmp(&b)));
        let hasher = foldhash::fast::RandomState::default();
        let mut names = HashTable::new();
        let mut start = 0;
        for group in exact.chunk_by(|&a, &b| name(a) == name(b)) {
            let length = u32::try_from(group.len()).unwrap_or(u32::MAX);
            let server = group.first().map_or("", |&number| name(number));
            names.insert_unique(hasher.hash_one(server), (start, length), |&(start, _)| {
                hasher.hash_one(exact.get(start as usize).map_or("", |&number| name(number)))
            });
            start += length;
        }
        Index { exact: exact.into(), names, hasher, patterns: patterns.into(), global: global.into() }
    }

    fn exact(&self, rules: &[Rule], server: &str) -> &[u32] {
        let group = |&(start, length): &(u32, u32)| self.exact.get(start as usize..(start + length) as usize);
        let is_it = |entry: &(u32, u32)| {
            group(entry).and_then(|group| group.first()).is_some_and(|&number| server_of(rules, number) == server)
        };
        self.names.find(self.hasher.hash_one(server), is_it).and_then(group).unwrap_or_default()
    }

    /// The rules whose section and audience fit, the strongest first, with their place in the order of precedence.
    fn candidates<'r>(&self, rules: &'r [Rule], chain: &[Box<str>], route: &Route) -> Vec<(u32, &'r Rule)> {
        let numbers = self.global.iter().chain(self.exact(rules, &route.server)).chain(&self.patterns);
        let mut found: Vec<(u32, usize, &Rule)> = numbers
            .filter_map(|&number| {
                let rule = rules.get(number as usize)?;
                let fits = rule.server.as_ref().is_none_or(|server| server.matches(&route.server))
                    && rule.tool.as_ref().is_none_or(|tool| tool.matches(&route.tool));
                let distance = distance(rule, chain)?;
                fits.then_some((number, distance, rule))
            })
            .collect();
        found.sort_by(|(number, distance, rule), (number2, distance2, rule2)| {
            rank(rule, rule2).then(distance.cmp(distance2)).then(number.cmp(number2))
        });
        found.into_iter().map(|(number, _, rule)| (number, rule)).collect()
    }
}

fn server_of(rules: &[Rule], number: u32) -> &str {
    rules.get(number as usize).and_then(|rule| rule.server.as_ref()).map_or("", |server| server.as_str())
}

/// By layer, then the better name of the server, then of the tool (design 4.1); `Less` is the stronger one.
pub(crate) fn rank(rule: &Rule, other: &Rule) -> std::cmp::Ordering {
    let name = |one: &Option<crate::policy::pattern::Pattern>, other: &Option<_>| match (one, other) {
        (Some(one), Some(other)) => one.compare(other),
        _ => std::cmp::Ordering::Equal,
    };
    let layer = rule.layer.cmp(&other.layer);
    layer.then_with(|| name(&rule.server, &other.server)).then_with(|| name(&rule.tool, &other.tool))
}

/// How far down the chain of `like` the rule speaks; `None`: not of this audience. Only `[audience.*]` is inherited.
pub(crate) fn distance(rule: &Rule, chain: &[Box<str>]) -> Option<usize> {
    use crate::policy::rule::Audiences;
    match &rule.audiences {
        Audiences::All => Some(0),
        Audiences::Named(names) => {
            let reach = if rule.layer == Layer::Audience { chain.len() } else { 1 };
            chain.iter().take(reach).position(|audience| names.contains(audience))
        }
    }
}

// ---- the table of one route -------------------------------------------------------------------------------

/// A set of predicates, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mask([u64; MAX_PREDICATES / 64]);

impl Mask {
    fn set(&mut self, predicate: usize) {
        if let Some(word) = self.0.get_mut(predicate / 64) {
            *word |= 1 << (predicate % 64);
        }
    }

    pub fn has(&self, predicate: usize) -> bool {
        self.0.get(predicate / 64).is_some_and(|word| word & (1 << (predicate % 64)) != 0)
    }

    fn is_empty(&self) -> bool {
        self.0 == [0; MAX_PREDICATES / 64]
    }

    /// The lowest predicate of this set that is not in `other`.
    fn first_outside(&self, other: &Mask) -> Option<usize> {
        self.0.iter().zip(other.0).enumerate().find_map(|(index, (word, other))| {
            let left = word & !other;
            (left != 0).then(|| index * 64 + left.trailing_zeros() as usize)
        })
    }

    fn is_within(&self, other: &Mask) -> bool {
        self.first_outside(other).is_none()
    }

    /// Whether something is in `self` and in `one`, but not in `other`.
    fn meets_outside(&self, one: &Mask, other: &Mask) -> bool {
        self.0.iter().zip(one.0).zip(other.0).any(|((word, one), other)| word & one & !other != 0)
    }
}

/// A rule on a route: the predicates that must hold.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its number in the policy.
    pub rule: u32,
    pub mask: Mask,
}

/// One cell of an output column.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub row: u32,
    /// Which of the rule's settings it is.
    setting: u32,
    /// Its row has no predicates, and so holds.
    certain: bool,
}

/// The decision table of one route: what is left of a policy when server, tool, audience and the like are known.
#[derive(Debug)]
pub struct Table {
    /// The rows, the strongest first.
    pub rows: Box<[Row]>,
    /// The distinct predicates, the cheapest first.
    pub predicates: Box<[Condition]>,
    /// For each setting the cells that could win, the strongest first.
    columns: Box<[Box<[Cell]>]>,
    /// Whether an `order` begins with a lane that shows the structured value.
    pub shows_structured: bool,
}

/// Why a table could not be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableError {
    TooManyPredicates,
    /// The policy says nothing for this audience.
    UnknownAudience,
}

/// How dear it is to find out whether a condition holds, the cheapest first.
pub fn cost(condition: &Condition) -> u8 {
    match condition {
        Condition::Server(_)
        | Condition::Tool(_)
        | Condition::Revision(_)
        | Condition::App(_)
        | Condition::OutputSchema(_)
        | Condition::Label(..) => 0,
        Condition::Error(_)
        | Condition::Structured(_)
        | Condition::Has(_)
        | Condition::Only(_)
        | Condition::Content(_) => 1,
        Condition::Measure(..) | Condition::Meta(_) => 2,
        Condition::TextJson(_) => 3,
        Condition::Mirror(_) => 4,
        Condition::MetaPath(_) | Condition::Path(_) => 5,
        Condition::SchemaValid(_) => 6,
        Condition::Coverage(_) => 7,
    }
}

impl Table {
    /// The table of a route. `chain` is the audience and what it is like, in turn.
    pub fn specialise(rules: &[Rule], index: &Index, chain: &[Box<str>], route: &Route) -> Result<Table, TableError> {
        if chain.is_empty() {
            return Err(TableError::UnknownAudience);
        }
        let mut alive = index.candidates(rules, chain, route);
        alive.retain(|(_, rule)| rule.when.iter().filter(|c| cost(c) == 0).all(|c| route.holds(c)));
        let mut predicates: Vec<Condition> = Vec::new();
        for condition in alive.iter().flat_map(|(_, rule)| rule.when.iter()).filter(|c| cost(c) > 0) {
            if !predicates.contains(condition) {
                // At once, or those of 4,096 rules would all be compared with each other.
                if predicates.len() == MAX_PREDICATES {
                    return Err(TableError::TooManyPredicates);
                }
                predicates.push(condition.clone());
            }
        }
        predicates.sort_by_key(cost);
        let rows: Vec<Row> = alive
            .iter()
            .map(|(number, rule)| {
                let mut mask = Mask::default();
                for condition in &rule.when {
                    if let Some(predicate) = predicates.iter().position(|p| p == condition) {
                        mask.set(predicate);
                    }
                }
                Row { rule: *number, mask }
            })
            .collect();
        let mut columns: Vec<Vec<Cell>> = vec![Vec::new(); Setting::COUNT];
        // A row without predicates ends its columns: what comes below could never win.
        let mut closed = [false; Setting::COUNT];
        for ((row, (_, rule)), Row { mask, .. }) in (0u32..).zip(&alive).zip(&rows) {
            for (cell, (setting, value)) in (0u32..).zip(&rule.settings) {
                let (Some(column), Some(closed)) = (columns.get_mut(setting.index()), closed.get_mut(setting.index()))
                else {
                    continue;
                };
                if !*closed {
                    column.push(Cell { row, setting: cell, certain: mask.is_empty() });
                    *closed = mask.is_empty() && !goes_on(*setting, value);
                }
            }
        }
        let begins_with_structured = |value: &Value| match value {
            Value::Order(order) => matches!(order.first(), Some(Lane::Structured | Lane::StructuredOnly | Lane::Both)),
            _ => false,
        };
        let shows_structured =
            alive.iter().flat_map(|(_, rule)| &rule.settings).any(|(_, v)| begins_with_structured(v));
        Ok(Table {
            shows_structured,
            rows: rows.into(),
            predicates: predicates.into(),
            columns: columns.into_iter().map(Vec::into_boxed_slice).collect(),
        })
    }

    /// The cells of a column that could win, the strongest first.
    pub fn column(&self, setting: Setting) -> &[Cell] {
        self.columns.get(setting.index()).map(|column| &**column).unwrap_or_default()
    }

    /// The rule of a cell, and what it sets the column to.
    pub fn cell<'r>(&self, rules: &'r [Rule], cell: Cell) -> Option<(&'r Rule, &'r Value)> {
        let row = self.rows.get(cell.row as usize)?;
        let rule = rules.get(row.rule as usize)?;
        let (_, value) = rule.settings.get(cell.setting as usize)?;
        Some((rule, value))
    }
}

/// Whether a cell that wins still lets those below it speak: `meta.deny` collects, `"inherit"` asks the next one.
pub(crate) fn goes_on(setting: Setting, value: &Value) -> bool {
    use crate::policy::pattern::MetaPattern;
    match (setting, value) {
        (Setting::MetaDeny, _) => true,
        (Setting::MetaAllow, Value::Meta(patterns)) => patterns.contains(&MetaPattern::Inherit),
        _ => false,
    }
}

// ---- deciding -----------------------------------------------------------------------------------------------

/// What can be asked of a result. Every condition is true or false.
pub trait Facts {
    fn holds(&mut self, condition: &Condition) -> bool;
}

/// No cell has been chosen yet, or none can be.
const UNDECIDED: u32 = u32::MAX;

/// Which predicates are known, and which cells have won, for one result.
#[derive(Clone, Debug)]
pub struct Decided {
    known: Mask,
    truth: Mask,
    chosen: [u32; Setting::COUNT],
}

impl Default for Decided {
    fn default() -> Self {
        Decided { known: Mask::default(), truth: Mask::default(), chosen: [UNDECIDED; Setting::COUNT] }
    }
}

impl Decided {
    /// What is known of a predicate.
    pub fn predicate(&self, predicate: usize) -> Option<bool> {
        self.known.has(predicate).then(|| self.truth.has(predicate))
    }

    /// The index, in its column, of the cell that won; `None` when nobody asked.
    pub fn winner(&self, setting: Setting) -> Option<usize> {
        let &index = self.chosen.get(setting.index())?;
        (index != UNDECIDED).then_some(index as usize)
    }
}

/// Decides settings as they are asked for. A fact is looked at only when a row that is still alive needs it, the
/// cheapest first, each at most once.
pub struct Decider<'t, 'd> {
    pub table: &'t Table,
    pub rules: &'t [Rule],
    pub decided: &'d mut Decided,
}

impl<'t> Decider<'t, '_> {
    /// What the first row that holds and sets this column says. `None` for a column that no row sets.
    pub fn value(&mut self, setting: Setting, facts: &mut impl Facts) -> Option<&'t Value> {
        let table = self.table;
        let column = table.column(setting);
        let index = match self.decided.winner(setting) {
            Some(index) => index,
            None => {
                let index = column.iter().position(|cell| cell.certain || self.row_holds(cell.row, facts))?;
                if let Some(chosen) = self.decided.chosen.get_mut(setting.index()) {
                    *chosen = u32::try_from(index).unwrap_or(UNDECIDED);
                }
                index
            }
        };
        table.cell(self.rules, *column.get(index)?).map(|(_, value)| value)
    }

    /// What the rows that hold say, the strongest first, down to the first that lets no other speak.
    pub fn all(&mut self, setting: Setting, facts: &mut impl Facts) -> Vec<&'t Value> {
        let table = self.table;
        let _ = self.value(setting, facts);
        let mut values = Vec::new();
        for cell in table.column(setting) {
            if !cell.certain && !self.row_holds(cell.row, facts) {
                continue;
            }
            let Some((_, value)) = table.cell(self.rules, *cell) else { continue };
            values.push(value);
            if !goes_on(setting, value) {
                break;
            }
        }
        values
    }

    fn row_holds(&mut self, row: u32, facts: &mut impl Facts) -> bool {
        let Some(row) = self.table.rows.get(row as usize) else { return false };
        let decided = &mut *self.decided;
        loop {
            if row.mask.meets_outside(&decided.known, &decided.truth) {
                return false;
            }
            let Some(predicate) = row.mask.first_outside(&decided.known) else {
                return row.mask.is_within(&decided.truth);
            };
            let Some(condition) = self.table.predicates.get(predicate) else { return false };
            decided.known.set(predicate);
            if facts.holds(condition) {
                decided.truth.set(predicate);
            }
        }
    }
}
