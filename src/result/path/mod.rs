//! JSONPath (RFC 9535) over JSON bytes: whether a path finds something (the conditions `path` and `meta_path`), and
//! what is left of a value by `structured.pick` and `structured.omit`.
//!
//! A path is parsed once, when the policy is loaded, by `jsonpath-rust`; what that crate allows beyond the RFC is
//! refused (`parse`). Following it is ours, because a server chooses the value: a flat table of nodes (`tree`), sets
//! of nodes instead of lists, and a limit on steps (`walk`). Values are copied as they are spelled (`project`).
//!
//! The bytes must be valid JSON; on others the answers mean nothing, but nothing panics.

mod number;
mod parse;
mod project;
mod query;
mod regexp;
mod shape;
#[cfg(test)]
mod tests;
mod tree;
mod walk;

use super::json::{self, Span};
use query::{Segment, Selector};
pub use shape::{Plant, Root, Step};
use std::fmt;
use tree::{ROOT, Tree};
use walk::{OverBudget, Walk};

/// A path, ready to be followed.
///
/// ```
/// use mcp_select::result::path::{JsonPath, PathScratch, finds};
///
/// let path = JsonPath::parse("$.items[?@.state == 'open' && @.age > 30].title")?;
/// let json = br#"{"items":[{"state":"open","age":31,"title":"Fix"}]}"#;
/// assert_eq!(finds(&path, json, &mut PathScratch::default()), Some(true));
/// # Ok::<(), mcp_select::result::path::PathError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    source: Box<str>,
    segments: Box<[Segment]>,
    /// How many queries that start at `$` stand inside filters.
    queries: usize,
}

impl JsonPath {
    /// Reads a path of RFC 9535. Regular expressions must be literals (RFC 9485); they are compiled here.
    pub fn parse(source: &str) -> Result<JsonPath, PathError> {
        parse::path(source)
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }
}

/// Why a text is no path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathError {
    pub message: Box<str>,
    /// The byte of the path where it goes wrong, from 0, where that is known.
    pub at: Option<usize>,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PathError {}

/// Buffers to hand in again and again: after warm-up, following a path allocates nothing.
#[derive(Default, Debug)]
pub struct PathScratch {
    nodes: Vec<tree::Node>,
    names: Vec<u32>,
    walk: walk::Buffers,
    marks: project::Marks,
}

/// What [`project`] made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Projected {
    /// All of the value: nothing was appended.
    Whole,
    /// A part, which was appended.
    Value,
    /// Nothing, `{}` or `[]`: nothing was appended.
    Nothing,
    /// A path used up its steps: nothing was appended.
    OverBudget,
}

/// Whether a path finds something in a valid JSON value, white space around it or not.
///
/// `None`: it cannot be known, because the steps were used up: 4 for each node of the value, 1 for each 16 bytes
/// and 100,000; or because the value has more than 4 million nodes.
pub fn finds(path: &JsonPath, json: &[u8], scratch: &mut PathScratch) -> Option<bool> {
    if let Some(found) = finds_directly(path, json) {
        return Some(found);
    }
    let tree = Tree::build(json, &mut scratch.nodes, &mut scratch.names)?;
    let mut walk = Walk::new(tree, path.queries, &mut scratch.walk);
    let hits = walk.select(&path.segments, ROOT, true).ok()?;
    let found = !hits.is_empty();
    walk.release(hits);
    Some(found)
}

/// The answer for a path of names and indexes only, which needs no table.
fn finds_directly(path: &JsonPath, json: &[u8]) -> Option<bool> {
    let singles = || path.segments.iter().map(Segment::single);
    if singles().any(|single| single.is_none()) {
        return None;
    }
    let mut at = Span::new(json::skip_space(json, 0), json.len());
    for single in singles().flatten() {
        let child = match (single, json.get(at.start as usize)) {
            (Selector::Name(name), Some(b'{')) => json::member(json, at, name),
            (Selector::Index(index), Some(b'[')) => {
                let position = match usize::try_from(*index) {
                    Ok(position) => Some(position),
                    Err(_) => {
                        let back = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
                        json::elements(json, at).count().checked_sub(back)
                    }
                };
                position.and_then(|position| json::elements(json, at).nth(position))
            }
            _ => None,
        };
        match child {
            Some(child) => at = child,
            None => return Some(false),
        }
    }
    Some(true)
}

/// Appends what `pick` finds in a valid JSON value (all of it when `pick` is empty) without what `omit` finds.
///
/// What is picked keeps the containers around it; elements that are not picked vanish, and indexes close up. A
/// container in which nothing was picked is not there; one that `omit` empties stays, except the value itself. Both
/// sets of paths look at the value as it came: a filter of `omit` may ask for what `pick` leaves out. Member order
/// and the spelling of names, strings and numbers are kept; of repeated members only the last is there.
///
/// ```
/// use mcp_select::result::path::{JsonPath, PathScratch, Projected, project};
///
/// let pick = [JsonPath::parse("$.items[*]['id','name']")?];
/// let json = br#"{"ok":true,"items":[{"id":1.0,"body":"..","name":"x"},{"body":".."}]}"#;
/// let mut out = Vec::new();
/// assert_eq!(project(&pick, &[], json, &mut out, &mut PathScratch::default()), Projected::Value);
/// assert_eq!(out, br#"{"items":[{"id":1.0,"name":"x"}]}"#);
/// # Ok::<(), mcp_select::result::path::PathError>(())
/// ```
pub fn project(
    pick: &[JsonPath],
    omit: &[JsonPath],
    json: &[u8],
    out: &mut Vec<u8>,
    scratch: &mut PathScratch,
) -> Projected {
    if pick.is_empty() && omit.is_empty() {
        return Projected::Whole;
    }
    let PathScratch { nodes, names, walk: buffers, marks } = scratch;
    let Some(tree) = Tree::build(json, nodes, names) else { return Projected::OverBudget };
    marks.start(tree);
    if pick.is_empty() {
        marks.pick(tree, ROOT);
    }
    let mut mark = |paths: &[JsonPath], act: fn(&mut project::Marks, Tree, u32)| -> Result<(), OverBudget> {
        for path in paths {
            let mut walk = Walk::new(tree, path.queries, buffers);
            let hits = walk.select(&path.segments, ROOT, false)?;
            hits.iter().for_each(|hit| act(marks, tree, hit.node));
            walk.release(hits);
        }
        Ok(())
    };
    if mark(pick, project::Marks::pick).and_then(|()| mark(omit, project::Marks::omit)).is_err() {
        return Projected::OverBudget;
    }
    if marks.keep_all(tree) {
        return if tree.is_empty_container(ROOT) { Projected::Nothing } else { Projected::Whole };
    }
    let start = out.len();
    marks.copy(tree, out);
    if matches!(out.get(start..), Some(b"" | b"{}" | b"[]")) {
        out.truncate(start);
        return Projected::Nothing;
    }
    Projected::Value
}
