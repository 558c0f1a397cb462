//! Selecting from what was selected (MS016): a host that selects twice would show something else.
//!
//! Tried out, not derived: examples of every rule of the file, and results of every shape, are run through the policy
//! twice. Lane `raw` wraps anew each time, which is what it is for.

use super::overlap::shortened;
use super::{Lints, NOT_STABLE};
use crate::policy::rule::{Lane, Layer, Rule, Value};
use crate::policy::{BUILTINS, Policy, SourceFile};
use crate::table::analyse::{Cell, parts};
use crate::table::columns::only_server;
use crate::table::witness::{self, Witness};
use crate::{Engine, Request, Selection, Status};
use std::collections::HashSet;

/// So many rules are tried.
const MOST_RULES: usize = 300;

pub(super) fn look(lints: &mut Lints<'_, '_>) {
    // What a built-in does to its own output is listed where it is tested.
    if is_builtin(lints.source) {
        return;
    }
    let mut reported: HashSet<u32> = HashSet::new();
    let rules: Vec<(u32, &Rule)> = lints
        .own()
        .filter(|(number, rule)| {
            !lints.dead.contains(number) && rule.settings.iter().any(|(_, value)| can_unsettle(value))
        })
        .take(MOST_RULES)
        .collect();
    if rules.is_empty() {
        return;
    }
    let below = without_own(lints.policy);
    for (number, rule) in rules {
        if reported.contains(&number) || lints.is_full(NOT_STABLE) {
            continue;
        }
        let Some((witness, again)) = unstable(lints, &below, number, rule) else { continue };
        reported.insert(number);
        let message = format!("{:?} is not stable: selecting from a selected result gives another one", rule.title());
        let [first, second] = again;
        let found = lints
            .at_rule(NOT_STABLE, rule, message)
            .note(format!("for {}: {}", witness.route(), witness.shown()))
            .note(format!("once: {}", shortened(&first)))
            .note(format!("twice: {}", shortened(&second)));
        lints.add(found.help("select once, where results come in; or keep what is selected as it is"));
    }
}

/// The policy without the rules of its own file.
fn without_own(policy: &Policy) -> Engine {
    let rules = policy.rules.iter().filter(|rule| rule.place.file != 0).cloned().collect();
    Engine::of_policy(Policy { rules, ..policy.clone() })
}

/// Whether selecting twice gives what selecting once does.
fn is_settled(engine: &Engine, request: &Request, result: &[u8]) -> bool {
    let mut selection = Selection::new();
    let Ok(Status::Changed) = engine.select(request, result, &mut selection) else { return true };
    let first = selection.json().unwrap_or_default().to_vec();
    match engine.select(request, &first, &mut selection) {
        Ok(Status::Changed) => selection.json() == Some(&first),
        _ => true,
    }
}

fn is_builtin(source: &SourceFile) -> bool {
    source.path.is_none() && BUILTINS.iter().any(|(name, text)| **name == *source.name && **text == *source.text)
}

/// Settings after which a result may look otherwise when it comes again.
fn can_unsettle(value: &Value) -> bool {
    !matches!(value, Value::Order(lanes) if lanes.first() == Some(&Lane::Raw))
        && !matches!(
            value,
            Value::Meta(_) | Value::Reserved(_) | Value::MetaBlocks(_) | Value::Role(_) | Value::Annotations(_)
        )
}

/// An example that this rule decides, and what becomes of it once and twice.
fn unstable(lints: &Lints<'_, '_>, below: &Engine, number: u32, rule: &Rule) -> Option<(Witness, [String; 2])> {
    let columns = lints.columns_of(rule).next()?;
    let audience = columns.audience.name.to_string();
    let server = only_server(rule);
    let is_other = |name: &str| server.is_none() && columns.has_section(name);
    let engine = lints.engine();
    let mut selection = Selection::new();
    let mut again = None;
    let mut request: Option<Request> = None;
    let mut tried = 0;
    let cell = Cell::of(&parts(rule));
    // Where it is one of many, an example of the rule alone; a section of an audience sees all kinds of results.
    let most = if rule.layer == Layer::Audience { 400 } else { 60 };
    let witness = witness::find(&cell, &audience, &is_other, &[], &mut |witness| {
        tried += 1;
        if tried > most {
            return true;
        }
        // The route is the same for all; its table is made once.
        let request = request.get_or_insert_with(|| witness.request());
        if !matches!(engine.select(request, witness.result.as_bytes(), &mut selection), Ok(Status::Changed)) {
            return false;
        }
        let decides = selection.deciding_rules().iter().any(|rule| u32::try_from(*rule) == Ok(number));
        if !decides || selection.lane() == Lane::Raw {
            return false;
        }
        let lane = selection.lane();
        let first = selection.json().unwrap_or_default().to_vec();
        let second = match engine.select(request, &first, &mut selection) {
            Ok(Status::Changed) => selection.json().unwrap_or_default().to_vec(),
            Ok(_) | Err(_) => return false,
        };
        // An order that shows no text at all shows none the second time: said by `order-without-content`, or meant.
        let is_text_alone = matches!(lane, Lane::Structured | Lane::StructuredOnly | Lane::Nothing)
            && selection.lane() == Lane::Nothing;
        if first == second || selection.lane() == Lane::Raw || is_text_alone {
            return false;
        }
        // What the extended policies do to it anyway is not this file's fault.
        if !is_settled(below, request, witness.result.as_bytes()) {
            return false;
        }
        again = Some([first, second].map(|json| String::from_utf8_lossy(&json).into_owned()));
        true
    });
    witness.zip(again)
}
