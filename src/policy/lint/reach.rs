//! Settings that do not reach what they are for: sections above a rule, limits without text, overrides that hide all,
//! projections whose text comes back (MS005, 015, 017, 019).

use super::{COMES_BACK, DEFEATED, HIDES_ALL, LIMIT_WITHOUT_TEXT, Lints};
use crate::policy::rule::{Condition, IfJson, Lane, Layer, Rule, Setting, Value};
use crate::table::analyse::{Cell, Part, parts};
use crate::table::columns::{Columns, only_server};

pub(super) fn look(lints: &mut Lints<'_, '_>) {
    for (number, rule) in lints.own() {
        if lints.dead.contains(&number) {
            continue;
        }
        if rule.layer == Layer::ServerSection && !lints.is_full(DEFEATED) {
            defeats(lints, number, rule);
        }
        for (setting, value) in &rule.settings {
            match (setting, value) {
                (Setting::Limit, Value::Limit(Some(_))) => limit(lints, rule),
                (Setting::Hide, Value::Flag(true)) if rule.layer == Layer::Override && rule.when.is_empty() => {
                    let message = format!("{:?} hides every result of every server", rule.title());
                    let found = lints.at_setting(HIDES_ALL, rule, Setting::Hide, message);
                    lints.add(found.help("say whose results are meant: `when = { server = … }`"));
                }
                (Setting::StructuredPick | Setting::StructuredOmit, Value::Paths(paths)) if !paths.is_empty() => {
                    comes_back(lints, number, rule, *setting);
                }
                _ => {}
            }
        }
    }
}

/// A section without conditions above conditional rules for every server.
fn defeats(lints: &mut Lints<'_, '_>, number: u32, rule: &Rule) {
    let cell = Cell::of(&parts(rule));
    let server = only_server(rule);
    let mut found = None;
    for columns in lints.columns_of(rule) {
        for (setting, value) in &rule.settings {
            let Some((own, _)) = columns.stronger(*setting, number, server).filter(|_| found.is_none()) else {
                continue;
            };
            let is_defeated = |below: &Rule| {
                below.layer == Layer::Rule
                    && !below.when.is_empty()
                    // One that names servers was written with them in mind.
                    && !below.when.iter().any(|condition| matches!(condition, Condition::Server(_)))
            };
            let below = columns.weaker(*setting, &own, server).find(|below| {
                is_defeated(below.rule)
                    && below.value != value
                    && !lints.dead.contains(&below.number)
                    && !cell.with_all(&below.parts()).is_empty()
            });
            found = found.or(below.map(|below| (*setting, below.rule)));
        }
    }
    let Some((setting, below)) = found else { return };
    let message =
        format!("{:?} sets `{}`, so that the rule {:?} has no say there", rule.title(), setting.name(), below.title());
    let found = lints
        .at_setting(DEFEATED, rule, setting, message)
        .note(format!("{} says when {}", lints.called(below), conditions(below)))
        .help("take it out, or repeat the rule for this server: `[[servers.NAME.rules]]` is stronger than the section");
    lints.add(found);
}

fn conditions(rule: &Rule) -> String {
    rule.when.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

/// A limit where nothing is ever cut: no text, or lanes that it does not reach.
fn limit(lints: &mut Lints<'_, '_>, rule: &Rule) {
    let cell = Cell::of(&parts(rule));
    let hides = rule.settings.iter().any(|(setting, value)| *setting == Setting::Hide && *value == Value::Flag(true));
    let why = if hides {
        "the rule hides the result, and a placeholder is not cut".to_owned()
    } else if !cell.can_have_text() {
        format!("there is no text where {}", conditions(rule))
    } else if lints.columns_of(rule).all(|columns| leaves_alone(columns, rule, &cell)) {
        "the lane there is `whole` or `nothing`, which a limit does not reach".to_owned()
    } else {
        return;
    };
    let message = format!("`limit` of {:?} has no effect", rule.title());
    let found = lints.at_setting(LIMIT_WITHOUT_TEXT, rule, Setting::Limit, message);
    lints.add(found.note(why).help("take it out"));
}

/// Whether the first lane is `whole` or `nothing` whatever wins.
fn leaves_alone(columns: &Columns<'_>, rule: &Rule, cell: &Cell<'_>) -> bool {
    [(Setting::Order, false), (Setting::ErrorOrder, true)].into_iter().all(|(setting, error)| {
        let cell = cell.with(Part::Error(error), true);
        let is_left = |value: &Value| {
            matches!(value, Value::Order(lanes) if matches!(lanes.first(), Some(Lane::Whole | Lane::Nothing)))
        };
        let server = only_server(rule);
        // A rule that speaks of many servers also speaks of those with sections of their own.
        let mut named = columns.all_named(setting).filter(|_| server.is_none());
        if named.any(|entry| !is_left(entry.value) && !cell.with_all(&entry.parts()).is_empty()) {
            return false;
        }
        for entry in columns.column(setting, server) {
            let parts = entry.parts();
            if cell.with_all(&parts).is_empty() {
                continue;
            }
            if !is_left(entry.value) {
                return false;
            }
            if parts.iter().all(|part| cell.implies(*part)) {
                return true;
            }
        }
        cell.is_empty()
    })
}

/// A projection where `text.if_json` is `leave`: the text that repeats the value is shown in full.
fn comes_back(lints: &mut Lints<'_, '_>, number: u32, rule: &Rule, setting: Setting) {
    let cell = Cell::of(&parts(rule));
    let leaves = |value: &Value| matches!(value, Value::IfJson(IfJson::Leave));
    let mut leaving = None;
    for columns in lints.columns_of(rule) {
        for entry in columns.column(Setting::TextIfJson, only_server(rule)) {
            let parts = entry.parts();
            if cell.with_all(&parts).is_empty() {
                continue;
            }
            if leaves(entry.value) {
                leaving = Some(entry);
            }
            if leaving.is_some() || parts.iter().all(|part| cell.implies(*part)) {
                break;
            }
        }
    }
    let Some(entry) = leaving else { return };
    let message =
        format!("what `{}` leaves out comes back when a text block repeats the structured value", setting.name());
    let mut found = lints.at_setting(COMES_BACK, rule, setting, message);
    if entry.number != number {
        found = found.note(format!("{} says text.if_json = \"leave\"", lints.called(entry.rule)));
    }
    lints.add(found.help("set `text.if_json = \"project\"`"));
}
