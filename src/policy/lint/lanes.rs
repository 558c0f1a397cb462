//! Orders of lanes: without `content`, with lanes that are never reached, with `both` for a model (MS006, 007, 008).

use super::{BOTH, Lints, NO_CONTENT, UNREACHABLE_LANE};
use crate::policy::rule::{Audiences, Condition, ContentState, Lane, Rule, Setting, Value};
use crate::table::analyse::{Cell, Part, parts};
use toml::de::DeValue;

pub(super) fn look(lints: &mut Lints<'_, '_>) {
    for (number, rule) in lints.own() {
        if lints.dead.contains(&number) {
            continue;
        }
        for (setting, value) in &rule.settings {
            let Value::Order(lanes) = value else { continue };
            let cell = Cell::of(&parts(rule)).with(Part::Error(*setting == Setting::ErrorOrder), true);
            without_content(lints, rule, *setting, lanes, &cell);
            unreachable(lints, rule, *setting, lanes);
            both(lints, rule, *setting, lanes, &cell);
        }
    }
}

fn without_content(lints: &mut Lints<'_, '_>, rule: &Rule, setting: Setting, lanes: &[Lane], cell: &Cell<'_>) {
    let has_fallback = lanes.iter().any(|lane| !matches!(lane, Lane::Structured | Lane::StructuredOnly));
    if has_fallback || !lanes.contains(&Lane::Structured) || cell.is_structured() {
        return;
    }
    let what = if setting == Setting::ErrorOrder { "an error" } else { "a result" };
    let message =
        format!("`{}` has no lane for {what} without a structured value: its text is not shown", setting.name());
    let found = lints.at_setting(NO_CONTENT, rule, setting, message);
    lints.add(
        found.help("add \"content\", or say that it is meant: \"structured-only\", or \"nothing\" as the last lane"),
    );
}

/// Whether a lane is usable whenever `other` is.
fn covers(lanes: &[Lane], other: Lane) -> bool {
    lanes.iter().any(|lane| match lane {
        Lane::Whole | Lane::Nothing => true,
        Lane::Raw => !matches!(other, Lane::Whole | Lane::Nothing),
        Lane::Both => matches!(other, Lane::Content | Lane::Structured | Lane::StructuredOnly),
        Lane::Structured | Lane::StructuredOnly => matches!(other, Lane::Structured | Lane::StructuredOnly),
        Lane::Content => false,
    }) || other == Lane::Both
        && lanes.contains(&Lane::Content)
        && lanes.iter().any(|lane| matches!(lane, Lane::Structured | Lane::StructuredOnly))
}

fn unreachable(lints: &mut Lints<'_, '_>, rule: &Rule, setting: Setting, lanes: &[Lane]) {
    for (index, lane) in lanes.iter().enumerate().skip(1) {
        if !covers(lanes.get(..index).unwrap_or_default(), *lane) {
            continue;
        }
        let message = format!(
            "lane {:?} of `{}` is never reached: what stands before it is usable whenever it is",
            lane.name(),
            setting.name()
        );
        let mut found = lints.at_setting(UNREACHABLE_LANE, rule, setting, message).help("take it out");
        let list = lints.outline.value(rule.place, setting.name()).map(toml::Spanned::get_ref);
        if let Some(DeValue::Array(list)) = list
            && let (Some(before), Some(it)) = (list.get(index - 1), list.get(index))
        {
            found.span = it.span();
            found = found.fix(before.span().end..it.span().end, "");
        }
        lints.add(found);
    }
}

fn both(lints: &mut Lints<'_, '_>, rule: &Rule, setting: Setting, lanes: &[Lane], cell: &Cell<'_>) {
    let for_model = match &rule.audiences {
        Audiences::All => true,
        Audiences::Named(names) => names.iter().any(|name| &**name == "model"),
    };
    // Conditions that tell a copy from something else.
    let compares = rule.when.iter().any(|condition| {
        matches!(
            condition,
            Condition::Coverage(_) | Condition::Mirror(_) | Condition::Measure(crate::policy::rule::Measure::Ratio, _)
        )
    });
    let shows_nothing = Condition::Content(crate::policy::rule::ContentStates(
        ContentState::Missing as u8 | ContentState::Empty as u8 | ContentState::Blank as u8,
    ));
    let no_text = { Cell::of(&parts(rule)).implies_alone(&shows_nothing) };
    let reached = lanes.iter().position(|lane| *lane == Lane::Both);
    let is_reached = reached.is_some_and(|index| !covers(lanes.get(..index).unwrap_or_default(), Lane::Both));
    if !for_model || compares || no_text || !is_reached || cell.is_empty() {
        return;
    }
    let message =
        format!("`{}` gives the model the text and the structured value even when they say the same", setting.name());
    let found = lints.at_setting(BOTH, rule, setting, message);
    lints.add(found.help(
        "ask first whether the text says it: `when = { structured = \"present\", coverage = \"< 0.9\" }`, as in lossless",
    ));
}
