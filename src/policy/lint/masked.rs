//! Rules that cannot do what they say: masked, never holding, always holding, changing nothing (MS001, 002, 003, 018, 021).

use super::{ALWAYS_HOLDS, CHANGES_NOTHING, Lints, MASKED, NEVER_HOLDS, PARTLY_MASKED};
use crate::policy::rule::{Rule, Setting, Value};
use crate::table::analyse::{Cell, Part, covered_by, parts};
use crate::table::columns::{Columns, Entry, only_server};
use crate::table::goes_on;
use std::collections::BTreeSet;

pub(super) fn look(lints: &mut Lints<'_, '_>) {
    for (number, rule) in lints.own() {
        if rule.settings.is_empty() {
            continue;
        }
        let parts = parts(rule);
        let cell = Cell::of(&parts);
        if cell.is_empty() {
            lints.dead.insert(number);
            never_holds(lints, rule, &parts);
            continue;
        }
        always_holds(lints, rule);
        let verdicts: Vec<Verdict> =
            rule.settings.iter().map(|(setting, value)| verdict(lints, number, rule, &cell, *setting, value)).collect();
        let masked: Vec<(Setting, &BTreeSet<u32>)> = rule
            .settings
            .iter()
            .zip(&verdicts)
            .filter_map(|((setting, _), verdict)| match verdict {
                Verdict::Masked(by) => Some((*setting, by)),
                _ => None,
            })
            .collect();
        if masked.len() == rule.settings.len() {
            lints.dead.insert(number);
            let by: BTreeSet<u32> = masked.iter().flat_map(|(_, by)| by.iter().copied()).collect();
            let message = format!("{:?} never decides anything", rule.title());
            let mut found = lints.at_rule(MASKED, rule, message);
            found.notes = hiding(lints, &by);
            lints.add(found.help("make its conditions narrower than theirs and put it above them, or take it out"));
        } else if !masked.is_empty() {
            for (setting, by) in masked {
                let message = format!("`{}` of {:?} never counts", setting.name(), rule.title());
                let mut found = lints.at_setting(PARTLY_MASKED, rule, setting, message);
                found.notes = hiding(lints, by);
                lints.add(found.help("take it out here, or out of the rules above"));
            }
        } else if verdicts.iter().all(|verdict| matches!(verdict, Verdict::Idle)) {
            let message = format!("without {:?} the same would be decided", rule.title());
            let found = lints.at_rule(CHANGES_NOTHING, rule, message);
            lints.add(found.help("take it out, unless it is there to stay when what is below it changes"));
        }
    }
}

/// What a rule's setting comes to.
enum Verdict {
    /// These rules always win.
    Masked(BTreeSet<u32>),
    /// What is below says the same.
    Idle,
    Counts,
}

fn verdict(
    lints: &Lints<'_, '_>,
    number: u32,
    rule: &Rule,
    cell: &Cell<'_>,
    setting: Setting,
    value: &Value,
) -> Verdict {
    // Every rule that holds adds to it.
    if setting == Setting::MetaDeny {
        return Verdict::Counts;
    }
    let cell = match setting {
        Setting::Order => cell.with(Part::Error(false), true),
        Setting::ErrorOrder => cell.with(Part::Error(true), true),
        _ => cell.clone(),
    };
    if cell.is_empty() {
        return Verdict::Counts;
    }
    let server = only_server(rule);
    let mut by = BTreeSet::new();
    let (mut is_masked, mut is_idle, mut any) = (true, !goes_on(setting, value), false);
    for columns in lints.columns_of(rule) {
        any = true;
        let Some((own, stronger)) = columns.stronger(setting, number, server) else { return Verdict::Counts };
        let stopping: Vec<Entry<'_>> = stronger.into_iter().filter(|entry| entry.stops(setting)).collect();
        let rows: Vec<Vec<Part<'_>>> = stopping.iter().map(Entry::parts).collect();
        match if is_masked { covered_by(&cell, &rows) } else { None } {
            Some(used) => by.extend(used.iter().filter_map(|used| stopping.get(*used)).map(|entry| entry.number)),
            None => is_masked = false,
        }
        is_idle = is_idle && !is_masked && says_the_same_below(columns, setting, &own, server, &cell);
        if !is_masked && !is_idle {
            return Verdict::Counts;
        }
    }
    match (any, is_masked) {
        (false, _) => Verdict::Counts,
        (true, true) => Verdict::Masked(by),
        (true, false) if is_idle => Verdict::Idle,
        (true, false) => Verdict::Counts,
    }
}

/// Whether whatever would win without this rule has its value.
fn says_the_same_below(
    columns: &Columns<'_>,
    setting: Setting,
    own: &Entry<'_>,
    server: Option<&str>,
    cell: &Cell<'_>,
) -> bool {
    let mut is_same = false;
    for below in columns.weaker(setting, own, server) {
        let parts = below.parts();
        if cell.with_all(&parts).is_empty() {
            continue;
        }
        if below.value != own.value {
            return false;
        }
        if parts.iter().all(|part| cell.implies(*part)) {
            is_same = true;
            break;
        }
    }
    // One that speaks of many servers can stand above the sections of some.
    let differs = |below: &Entry<'_>| {
        below.compare(own).is_gt() && below.value != own.value && !cell.with_all(&below.parts()).is_empty()
    };
    is_same && (server.is_some() || !columns.all_named(setting).any(differs))
}

/// The rules that hide one.
fn hiding(lints: &Lints<'_, '_>, by: &BTreeSet<u32>) -> Vec<String> {
    const MOST: usize = 4;
    let rules = by.iter().filter_map(|number| lints.policy.rules.get(usize::try_from(*number).ok()?));
    let mut names: Vec<String> = rules.take(MOST).map(|rule| lints.called(rule)).collect();
    if by.len() > MOST {
        names.push(format!("{} more", by.len() - MOST));
    }
    match names.as_slice() {
        [one] => vec![format!("{one} is stronger and holds wherever it does")],
        names => vec![format!("together these are stronger and hold wherever it does: {}", names.join(", "))],
    }
}

fn never_holds(lints: &mut Lints<'_, '_>, rule: &Rule, parts: &[Part<'_>]) {
    let clash = parts.iter().enumerate().find_map(|(index, one)| {
        let alone = Cell::of(&[*one]).is_empty().then_some((*one, None));
        alone.or_else(|| {
            parts.iter().skip(index + 1).find(|other| Cell::of(&[*one, **other]).is_empty()).map(|o| (*one, Some(*o)))
        })
    });
    let (message, condition) = match clash {
        Some((one, None)) => (format!("{} can never hold", said(one)), one),
        Some((one, Some(other))) => (format!("{} and {} can never hold together", said(one), said(other)), other),
        None => ("these conditions can never hold together".to_owned(), Part::Error(true)),
    };
    let found = match condition {
        Part::When(condition) => lints.at_condition(NEVER_HOLDS, rule, &condition.name(), message),
        _ => lints.at_rule(NEVER_HOLDS, rule, message),
    };
    lints.add(found.help("\"or\" is two rules; a list means one of these"));
}

fn said(part: Part<'_>) -> String {
    match part {
        Part::When(condition) => format!("`{condition}`"),
        Part::Server(patterns) => format!("the section of server {:?}", patterns.first().map_or("", |p| p.as_str())),
        Part::Tool(patterns) => format!("the section of tool {:?}", patterns.first().map_or("", |p| p.as_str())),
        Part::Error(error) => format!("`error = {error}`"),
    }
}

fn always_holds(lints: &mut Lints<'_, '_>, rule: &Rule) {
    for condition in &rule.when {
        if !Cell::everything().implies(Part::When(condition)) {
            continue;
        }
        let message = format!("`{condition}` holds for every result");
        let found = lints.at_condition(ALWAYS_HOLDS, rule, &condition.name(), message);
        lints.add(found.help("take it out"));
    }
}
