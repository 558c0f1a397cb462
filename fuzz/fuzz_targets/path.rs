//! JSONPaths as raw text: a path or an error with a place; and what it finds, picks and omits, against another
//! implementation and a plain walk over a tree.
//!
//! The first line is the path, the others are the value. With a filter only that it ends and what comes out is JSON: there
//! the other implementation reads RFC 9535 otherwise, as `src/result/path/tests.rs` tells.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_select::result::json::validate_text;
use mcp_select::result::path::{JsonPath, PathScratch, Projected, finds, project};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;

thread_local! {
    /// Used again from input to input: what it remembers must not show.
    static SCRATCH: RefCell<PathScratch> = RefCell::default();
}

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (source, json) = text.split_once('\n').unwrap_or((text, "{}"));
    match JsonPath::parse(source) {
        Err(error) => {
            assert!(!error.message.is_empty());
            assert!(error.at.is_none_or(|at| at <= source.len()), "{source}: {error} at {:?}", error.at);
        }
        Ok(path) => {
            assert_eq!(path.as_str(), source);
            SCRATCH.with_borrow_mut(|scratch| follow(&path, json, scratch));
        }
    }
});

fn follow(path: &JsonPath, json: &str, scratch: &mut PathScratch) {
    let found = finds(path, json.as_bytes(), scratch);
    let path = std::slice::from_ref(path);
    let (mut picked, mut left) = (Vec::new(), Vec::new());
    let pick = project(path, &[], json.as_bytes(), &mut picked, scratch);
    let omit = project(&[], path, json.as_bytes(), &mut left, scratch);
    // What is no JSON must end, whatever it says.
    if validate_text(json.as_bytes(), 100).is_err() {
        return;
    }
    for (made, out) in [(pick, &picked), (omit, &left)] {
        assert_eq!(made == Projected::Value, validate_text(out, 100).is_ok(), "{}", String::from_utf8_lossy(out));
        assert!(made == Projected::Value || out.is_empty());
    }
    let source = path[0].as_str();
    // Steps without end, for an implementation that does not count them.
    let is_short = source.len() <= 200 && source.matches("..").count() <= 3 && json.len() <= 1000;
    let Ok(value) = serde_json::from_str::<Value>(json) else { return };
    if source.contains('?') || !is_short || !has_plain_names(&value) {
        return;
    }
    let Ok(places) = jsonpath_rust::query::js_path_path(source, &value) else { return };
    let places: BTreeSet<String> = places.into_iter().collect();
    if let Some(found) = found {
        assert_eq!(found, !places.is_empty(), "{source} in {json}");
    }
    compare("picked", pick, &picked, picked_of(&value, "$", &places), &value);
    compare("omitted", omit, &left, left_of(&value, "$", &places), &value);
}

/// Whether the other implementation spells every place in one way.
fn has_plain_names(value: &Value) -> bool {
    let plain = |name: &String| name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.'));
    match value {
        Value::Array(items) => items.iter().all(has_plain_names),
        Value::Object(members) => members.iter().all(|(name, value)| plain(name) && has_plain_names(value)),
        _ => true,
    }
}

fn compare(what: &str, made: Projected, out: &[u8], expected: Option<Value>, whole: &Value) {
    let expected = expected.unwrap_or(Value::Null);
    match made {
        Projected::Whole => assert_eq!(whole, &expected, "{what}"),
        Projected::Value => assert_eq!(serde_json::from_slice::<Value>(out).unwrap(), expected, "{what}"),
        Projected::Nothing => {
            let is_nothing = match &expected {
                Value::Array(items) => items.is_empty(),
                Value::Object(members) => members.is_empty(),
                other => other.is_null(),
            };
            assert!(is_nothing, "{what}: {expected}");
        }
        Projected::OverBudget => {}
    }
}

fn picked_of(value: &Value, place: &str, found: &BTreeSet<String>) -> Option<Value> {
    if found.contains(place) {
        return Some(value.clone());
    }
    let inside = children(value, |child, value| picked_of(value, &format!("{place}{child}"), found))?;
    let is_empty = inside.as_array().is_some_and(Vec::is_empty) || inside.as_object().is_some_and(|o| o.is_empty());
    (!is_empty).then_some(inside)
}

fn left_of(value: &Value, place: &str, gone: &BTreeSet<String>) -> Option<Value> {
    if gone.contains(place) {
        return None;
    }
    let inside = children(value, |child, value| left_of(value, &format!("{place}{child}"), gone));
    Some(inside.unwrap_or_else(|| value.clone()))
}

/// A container of what is made of its children; `None` for other values.
fn children(value: &Value, mut make: impl FnMut(&str, &Value) -> Option<Value>) -> Option<Value> {
    match value {
        Value::Array(items) => {
            let made = items.iter().enumerate().filter_map(|(index, item)| make(&format!("[{index}]"), item));
            Some(Value::Array(made.collect()))
        }
        Value::Object(members) => {
            let made =
                members.iter().filter_map(|(name, value)| Some((name.clone(), make(&format!("['{name}']"), value)?)));
            Some(Value::Object(made.collect()))
        }
        _ => None,
    }
}
