//! Two rules of the same strength that can both hold and want different things (MS004).

use super::{Lints, OVERLAP};
use crate::policy::rule::{Audiences, Rule, Setting};
use crate::table::analyse::{BUDGET, Cell, Part, Searched, outside, parts};
use crate::table::columns::{Entry, only_server};
use crate::table::diff;
use crate::table::witness::{self, Witness};
use crate::table::{goes_on, rank};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// So many pairs of rules are compared.
const MOST_PAIRS: usize = 200_000;

pub(super) fn look(lints: &mut Lints<'_, '_>) {
    // Sections of different servers by name never meet.
    let mut groups: BTreeMap<Option<&str>, Vec<Candidate<'_>>> = BTreeMap::new();
    for (number, rule) in lints.own() {
        let server = rule.server.as_ref().filter(|server| server.is_exact()).map(|server| server.as_str());
        let is_narrowed = !rule.when.is_empty() || rule.server.is_some();
        if is_narrowed && !rule.settings.is_empty() && !lints.dead.contains(&number) {
            let parts = parts(rule);
            groups.entry(server).or_default().push(Candidate { number, rule, cell: Cell::of(&parts), parts });
        }
    }
    let mut pairs = 0;
    for group in groups.into_values() {
        for (index, one) in group.iter().enumerate() {
            for other in group.iter().skip(index + 1) {
                if one.rule.layer != other.rule.layer || rank(one.rule, other.rule).is_ne() {
                    continue;
                }
                pairs += 1;
                if pairs > MOST_PAIRS || lints.is_full(OVERLAP) {
                    return;
                }
                pair(lints, one, other);
            }
        }
    }
}

/// A rule, and where it holds.
struct Candidate<'p> {
    number: u32,
    rule: &'p Rule,
    parts: Vec<Part<'p>>,
    cell: Cell<'p>,
}

fn pair(lints: &mut Lints<'_, '_>, one: &Candidate<'_>, another: &Candidate<'_>) {
    let (number, rule, other) = (one.number, one.rule, another.rule);
    let disputed: Vec<Setting> = rule
        .settings
        .iter()
        .filter(|(setting, value)| {
            *setting != Setting::MetaDeny
                && !goes_on(*setting, value)
                && other.settings.iter().any(|(also, wanted)| also == setting && wanted != value)
        })
        .map(|(setting, _)| *setting)
        .collect();
    let Some(&first) = disputed.first() else { return };
    let Some(audience) = common_audience(lints, rule, other) else { return };
    let met = one.cell.with_all(&another.parts);
    // One inside the other is an exception above its rule.
    if met.is_empty()
        || one.parts.iter().all(|part| another.cell.implies(*part))
        || another.parts.iter().all(|part| one.cell.implies(*part))
    {
        return;
    }
    let met = match first {
        Setting::Order => met.with(Part::Error(false), true),
        Setting::ErrorOrder => met.with(Part::Error(true), true),
        _ => met,
    };
    let Some(columns) = lints.columns.iter().find(|columns| *columns.audience.name == *audience) else { return };
    let server = only_server(rule).or(only_server(other));
    let Some((_, stronger)) = columns.stronger(first, number, server) else { return };
    let rows: Vec<Vec<Part<'_>>> = stronger.iter().filter(|entry| entry.stops(first)).map(Entry::parts).collect();
    let is_other = |name: &str| server.is_none() && columns.has_section(name);
    let mut example: Option<Witness> = None;
    let mut is_left = false;
    let searched = outside(met, &rows, &mut BUDGET.clone(), &mut Vec::new(), &mut |left| {
        is_left = true;
        example = witness::example(left, &audience, &is_other);
        if example.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if !is_left && searched == Searched::All {
        return;
    }
    let settings: Vec<String> = disputed.iter().map(|setting| format!("`{}`", setting.name())).collect();
    let values = |rule: &Rule| {
        rule.settings
            .iter()
            .find(|(setting, _)| *setting == first)
            .map(|(_, value)| value.to_string())
            .unwrap_or_default()
    };
    let possible = if example.is_some() { "" } else { "possible: " };
    let message = format!(
        "{possible}{:?} and {:?} can both hold and differ in {}; the one that stands first in the file wins",
        rule.title(),
        other.title(),
        settings.join(", ")
    );
    let mut found = lints
        .at_rule(OVERLAP, other, message)
        .note(format!("{} says {} = {}", lints.called(rule), first.name(), values(rule)))
        .note(format!("{} says {} = {}", lints.called(other), first.name(), values(other)));
    if let Some(example) = example {
        let shown = diff::run(lints.engine(), &example);
        let lane = shown.lane.map_or("none", |lane| lane.name());
        found = found
            .note(format!("both hold for {}: {}", example.route(), example.shown()))
            .note(format!("there the first one wins: lane {lane}, {}", shortened(&shown.output)));
    }
    lints.add(found.help("add a condition to one of them, or say with a comment that the order is meant"));
}

pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// An audience that both rules speak of.
fn common_audience(lints: &Lints<'_, '_>, one: &Rule, other: &Rule) -> Option<String> {
    let speaks = |rule: &Rule, name: &str| match &rule.audiences {
        Audiences::All => true,
        Audiences::Named(names) => names.iter().any(|known| **known == *name),
    };
    lints
        .policy
        .audiences
        .iter()
        .map(|audience| &*audience.name)
        .find(|name| speaks(one, name) && speaks(other, name))
        .map(str::to_owned)
}
