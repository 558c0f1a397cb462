//! Where two policies decide differently.
//!
//! For each audience, setting and pair of rules, one of the old policy and one of the new, whose values differ: is there a
//! route and a result for which both win? The rules above them are taken away ([`outside`]); in what is left an example is
//! built and run through both policies. Without an example the difference is `possible`.

use super::analyse::{BUDGET, Cell, Part, Searched, outside};
use super::columns::{Columns, Entry};
use super::witness::{self, Witness};
use crate::error::Status;
use crate::policy::pattern::Pattern;
use crate::policy::rule::{Condition, Lane, Setting};
use crate::policy::{Audience, Policy};
use crate::{Engine, Request, Selection};
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

/// A setting that two policies decide differently.
#[derive(Clone, Debug)]
pub struct Difference {
    pub audience: String,
    pub setting: Setting,
    pub old: Winner,
    pub new: Winner,
    /// `None`: the difference is possible, no example was built.
    pub example: Option<Example>,
}

/// What wins in one policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Winner {
    pub rule: String,
    /// `file:line:column`
    pub place: String,
    /// As policies write it.
    pub value: String,
}

/// A result for which the two policies decide differently.
#[derive(Clone, Debug)]
pub struct Example {
    pub witness: Witness,
    pub old: Shown,
    pub new: Shown,
}

/// What one policy makes of an example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    pub lane: Option<Lane>,
    /// The selected result as JSON, or why it was refused.
    pub output: String,
}

/// All that differs.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    pub settings: Vec<Difference>,
    /// Audiences, limits of the input and the like: one line each.
    pub other: Vec<String>,
    /// Some pairs of rules were not compared: there were too many.
    pub incomplete: bool,
}

impl Differences {
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty() && self.other.is_empty()
    }
}

/// So many pieces are looked at in all.
const MOST_PIECES: u32 = 400_000;

/// Compares two policies, for one audience or for all.
pub fn differences(old: &Policy, new: &Policy, only: Option<&str>) -> Differences {
    let mut differences = Differences::default();
    let is_meant = |audience: &&Audience| only.is_none_or(|only| *audience.name == *crate::policy::resolve_alias(only));
    let (old_engine, new_engine) = (Engine::of_policy(old.clone()), Engine::of_policy(new.clone()));
    let mut pieces = MOST_PIECES;
    for audience in old.audiences.iter().filter(is_meant) {
        let Some(other) = new.audience(&audience.name) else {
            differences.other.push(format!("the audience {:?} is no longer defined", audience.name));
            continue;
        };
        let columns = [Columns::new(old, audience), Columns::new(new, other)];
        let mut comparison = Comparison {
            policies: [old, new],
            columns: &columns,
            engines: [&old_engine, &new_engine],
            pieces: &mut pieces,
            unsure: None,
            seen: HashSet::new(),
            found: &mut differences,
        };
        comparison.run();
    }
    for audience in new.audiences.iter().filter(is_meant).filter(|audience| old.audience(&audience.name).is_none()) {
        differences.other.push(format!("the audience {:?} is new", audience.name));
    }
    for (what, before, now) in [
        ("max_bytes", old.input.max_bytes, new.input.max_bytes),
        ("max_depth", old.input.max_depth, new.input.max_depth),
    ] {
        if before != now {
            differences.other.push(format!("input.{what}: {before} -> {now}"));
        }
    }
    differences
}

/// What a policy makes of an example.
pub fn run(engine: &Engine, witness: &Witness) -> Shown {
    shown(engine, &witness.request(), witness, &mut Selection::new())
}

fn shown(engine: &Engine, request: &Request, witness: &Witness, selection: &mut Selection) -> Shown {
    match engine.select(request, witness.result.as_bytes(), selection) {
        Ok(Status::NotForReaders) => Shown { lane: None, output: "for the protocol driver".to_owned() },
        Ok(_) => {
            let output = selection.json().unwrap_or(witness.result.as_bytes());
            Shown { lane: Some(selection.lane()), output: String::from_utf8_lossy(output).trim().to_owned() }
        }
        Err(error) => Shown { lane: None, output: error.to_string() },
    }
}

struct Comparison<'c, 'p> {
    policies: [&'p Policy; 2],
    columns: &'c [Columns<'p>; 2],
    engines: [&'c Engine; 2],
    pieces: &'c mut u32,
    /// Of a setting whose values are collected: two rules that may make a difference.
    unsure: Option<Difference>,
    /// Pairs of rules that were reported for a setting.
    seen: HashSet<(usize, u32, u32)>,
    found: &'c mut Differences,
}

impl<'p> Comparison<'_, 'p> {
    fn run(&mut self) {
        let [old, new] = self.columns;
        let asked_for = servers_asked_for(self.policies);
        let mut servers: BTreeSet<&str> = old.servers().chain(new.servers()).collect();
        servers.extend(asked_for.iter().map(Pattern::as_str));
        let settings = Setting::ALL.map(|(setting, _)| (setting, same(old.open(setting), new.open(setting))));
        for (setting, is_same) in settings {
            if !is_same {
                self.column(setting, None, &asked_for);
            }
        }
        for server in servers {
            let is_asked_for = asked_for.iter().any(|name| name.as_str() == server);
            for (setting, is_same) in settings {
                let mut named = [old.named(setting, server).peekable(), new.named(setting, server).peekable()];
                let [old_named, new_named] = &mut named;
                if old_named.peek().is_none() && new_named.peek().is_none() && !is_asked_for {
                    continue;
                }
                let [old_named, new_named] = named;
                let both: Vec<Entry<'_>> = old_named.copied().collect();
                if is_same && same(&both, &new_named.copied().collect::<Vec<_>>()) {
                    continue;
                }
                self.column(setting, Some(server), &asked_for);
            }
        }
    }

    /// One setting for one server, or for all that have no section by name.
    fn column(&mut self, setting: Setting, server: Option<&str>, asked_for: &[Pattern]) {
        let [old, new] = self.columns.each_ref().map(|columns| columns.column(setting, server));
        if same(&old, &new) {
            return;
        }
        let name = server.map(|server| [Pattern::new(server)]);
        let mut base: Cell<'_> = Cell::everything();
        match &name {
            Some(name) => base = base.with(Part::Server(name), true),
            None if !asked_for.is_empty() => base = base.with(Part::Server(asked_for), false),
            None => {}
        }
        match setting {
            Setting::Order => base = base.with(Part::Error(false), true),
            Setting::ErrorOrder => base = base.with(Part::Error(true), true),
            _ => {}
        }
        let (old, new) = (reachable(&base, setting, &old), reachable(&base, setting, &new));
        if setting == Setting::MetaDeny && same_in_any_order(&old, &new) {
            return;
        }
        let reported = self.found.settings.len();
        self.unsure = None;
        for (index, one) in old.iter().enumerate() {
            let held = base.with_all(&one.parts());
            if held.is_empty() {
                continue;
            }
            for (index2, other) in new.iter().enumerate() {
                let pair = (setting.index(), one.number, other.number);
                if one.value == other.value || self.seen.contains(&pair) {
                    continue;
                }
                let cell = held.with_all(&other.parts());
                if cell.is_empty() {
                    continue;
                }
                let above = old.iter().take(index).chain(new.iter().take(index2));
                let rows: Vec<Vec<Part<'_>>> = above.filter(|entry| entry.stops(setting)).map(Entry::parts).collect();
                self.pair(setting, server, one, other, cell, &rows);
            }
        }
        if let Some(unsure) = self.unsure.take().filter(|_| self.found.settings.len() == reported) {
            self.found.settings.push(unsure);
        }
    }

    /// Two rules that may win, one in each policy, with different values.
    fn pair<'c>(
        &mut self,
        setting: Setting,
        server: Option<&str>,
        old: &Entry<'p>,
        new: &Entry<'p>,
        cell: Cell<'c>,
        rows: &[Vec<Part<'c>>],
    ) where
        'p: 'c,
    {
        let [old_columns, new_columns] = self.columns;
        let audience = &*old_columns.audience.name;
        let is_other =
            |name: &str| server.is_none() && (old_columns.has_section(name) || new_columns.has_section(name));
        let mut budget = BUDGET.min(*self.pieces);
        let before = budget;
        let mut same: Option<Example> = None;
        let mut differs: Option<Example> = None;
        let mut more = witness::telling(old.value);
        more.extend(witness::telling(new.value));
        let mut is_left = false;
        let mut looked_at = 0;
        let (mut old_selection, mut new_selection) = (Selection::new(), Selection::new());
        let searched = outside(cell, rows, &mut budget, &mut Vec::new(), &mut |left| {
            is_left = true;
            looked_at += 1;
            let [old_engine, new_engine] = self.engines;
            // The route is the same for all candidates; its tables are made once.
            let mut request: Option<Request> = None;
            witness::find(left, audience, &is_other, &more, &mut |witness| {
                let request = request.get_or_insert_with(|| witness.request());
                let old = shown(old_engine, request, witness, &mut old_selection);
                let new = shown(new_engine, request, witness, &mut new_selection);
                let example = Example { witness: witness.clone(), old, new };
                let is_different = example.old != example.new;
                if is_different {
                    differs = Some(example);
                } else if same.is_none() {
                    same = Some(example);
                }
                is_different
            });
            if differs.is_some() || looked_at > 8 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        *self.pieces = self.pieces.saturating_sub(before - budget);
        self.found.incomplete |= *self.pieces == 0;
        if !is_left && searched == Searched::All {
            return;
        }
        let [old_policy, new_policy] = self.policies;
        let difference = Difference {
            audience: audience.to_owned(),
            setting,
            old: winner(old_policy, old),
            new: winner(new_policy, new),
            example: differs.or(same),
        };
        // Where values are collected from several rules, two that differ need not make a difference.
        let is_collected = !old.stops(setting) || !new.stops(setting) || setting == Setting::MetaDeny;
        let is_shown = difference.example.as_ref().is_some_and(|example| example.old != example.new);
        if is_collected && !is_shown {
            self.unsure.get_or_insert(Difference { example: None, ..difference });
            return;
        }
        self.seen.insert((setting.index(), old.number, new.number));
        self.found.settings.push(difference);
    }
}

fn winner(policy: &Policy, entry: &Entry<'_>) -> Winner {
    Winner {
        rule: entry.rule.title().into_owned(),
        place: policy.place(entry.rule.place),
        value: entry.value.to_string(),
    }
}

/// The entries down to the first that holds everywhere.
fn reachable<'p>(base: &Cell<'_>, setting: Setting, column: &[Entry<'p>]) -> Vec<Entry<'p>> {
    let mut reachable = Vec::new();
    for entry in column {
        reachable.push(*entry);
        let parts = entry.parts();
        if entry.stops(setting) && parts.iter().all(|part| base.implies(*part)) {
            break;
        }
    }
    reachable
}

/// Whether two columns say the same in the same order.
fn same(one: &[Entry<'_>], other: &[Entry<'_>]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            one.value == other.value
                && one.rule.server == other.rule.server
                && one.rule.tool == other.rule.tool
                && one.rule.when == other.rule.when
        })
}

fn same_in_any_order(one: &[Entry<'_>], other: &[Entry<'_>]) -> bool {
    let is_in = |list: &[Entry<'_>], entry: &Entry<'_>| list.iter().any(|it| same(&[*it], &[*entry]));
    one.iter().all(|entry| is_in(other, entry)) && other.iter().all(|entry| is_in(one, entry))
}

/// The servers that conditions name one by one.
fn servers_asked_for(policies: [&Policy; 2]) -> Vec<Pattern> {
    let rules = policies.into_iter().flat_map(|policy| &policy.rules);
    let names = rules.flat_map(|rule| rule.when.iter()).filter_map(|condition| match condition {
        Condition::Server(patterns) => Some(patterns.iter().filter(|pattern| pattern.is_exact())),
        _ => None,
    });
    let names: BTreeSet<&str> = names.flatten().map(Pattern::as_str).collect();
    names.into_iter().map(Pattern::new).collect()
}
