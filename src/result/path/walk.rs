//! Following a path over the table of nodes.
//!
//! Segment by segment, each time from the set of nodes the one before found. A set holds each node once, with how
//! many times it was found (`count` asks for that), so that `$..*..*..*` costs three times `$..*`. Everything that
//! is looked at costs a step, and steps are limited: a server must not make a path cost more than linear time. The
//! only recursion is over the path itself, whose nesting `parse` limits.

use super::number;
use super::query::{Comparison, Filter, Operand, Query, Segment, Selector, Start};
use super::tree::{Children, Kind, Node, ROOT, Tree};
use crate::result::json;
use std::cmp::Ordering;

/// The steps are used up.
pub(super) struct OverBudget;

type Within<T> = Result<T, OverBudget>;

/// A node that was found, and how many times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    pub node: u32,
    times: u32,
}

/// What is kept of the nodes that a query inside a filter found.
#[derive(Clone, Copy, Debug)]
struct Found {
    count: u32,
    first: u32,
}

const NOTHING: Found = Found { count: 0, first: ROOT };

/// Buffers that walks use again and again.
#[derive(Default, Debug)]
pub(super) struct Buffers {
    sets: Vec<Vec<Hit>>,
    /// What the queries found that start at `$`, by their number.
    found: Vec<Option<Found>>,
    text: Vec<u8>,
    pairs: Vec<(u32, u32)>,
}

pub(super) struct Walk<'a> {
    tree: Tree<'a>,
    left: usize,
    buffers: &'a mut Buffers,
}

/// A value that a filter compares.
#[derive(Clone, Copy)]
enum Value<'v> {
    Nothing,
    Null,
    Bool(bool),
    Number(&'v [u8]),
    Count(usize),
    /// A string as UTF-8.
    Text(&'v [u8]),
    /// A string as it stands between its quotes, with escapes.
    Escaped(&'v [u8]),
    Container(u32),
}

impl<'a> Walk<'a> {
    /// A walk for one path, with `queries` queries inside it that start at `$`.
    pub fn new(tree: Tree<'a>, queries: usize, buffers: &'a mut Buffers) -> Walk<'a> {
        buffers.found.clear();
        buffers.found.resize(queries, None);
        // Strings cost a step for each 16 bytes, so that looking at all of the text once is always within.
        let left = tree.nodes.len().saturating_mul(4).saturating_add(tree.json.len() / 16).saturating_add(100_000);
        Walk { tree, left, buffers }
    }

    fn spend(&mut self, steps: usize) -> Within<()> {
        self.left = self.left.checked_sub(steps).ok_or(OverBudget)?;
        Ok(())
    }

    /// The nodes that `segments` find from `start`, in document order. With `first_only`, one of them is enough.
    ///
    /// Give the set back with [`Walk::release`].
    pub fn select(&mut self, segments: &[Segment], start: u32, first_only: bool) -> Within<Vec<Hit>> {
        let mut hits = self.empty_set();
        let mut next = self.empty_set();
        hits.push(Hit { node: start, times: 1 });
        for (i, segment) in segments.iter().enumerate() {
            let stop = first_only && i + 1 == segments.len();
            if segment.descendant {
                self.descend(segment, &hits, stop, &mut next)?;
            } else {
                for &hit in &hits {
                    if self.select_children(segment, hit, stop, &mut next)? {
                        break;
                    }
                }
            }
            merge(&mut next);
            std::mem::swap(&mut hits, &mut next);
            next.clear();
        }
        self.release(next);
        Ok(hits)
    }

    fn empty_set(&mut self) -> Vec<Hit> {
        self.buffers.sets.pop().unwrap_or_default()
    }

    pub fn release(&mut self, mut set: Vec<Hit>) {
        set.clear();
        self.buffers.sets.push(set);
    }

    /// The children of each node of a set and of each node below: one sweep, however the nodes lie in each other.
    fn descend(&mut self, segment: &Segment, from: &[Hit], stop: bool, out: &mut Vec<Hit>) -> Within<()> {
        // Where each node of the set that is open ends, and how many times its inside is looked at.
        let mut open = self.empty_set();
        let mut from = from.iter().peekable();
        'sweep: while let Some(&&outermost) = from.peek() {
            let mut at = outermost.node;
            let end = self.tree.node(at).map_or(0, |node| node.after);
            while at < end {
                self.spend(1)?;
                let Some(node) = self.tree.node(at) else { break };
                if node.repeated {
                    at = node.after;
                    continue;
                }
                while open.last().is_some_and(|inside| inside.node <= at) {
                    open.pop();
                }
                let mut times = open.last().map_or(0, |inside| inside.times);
                if let Some(hit) = from.next_if(|hit| hit.node == at) {
                    times = times.saturating_add(hit.times);
                    open.push(Hit { node: node.after, times });
                }
                if self.select_children(segment, Hit { node: at, times }, stop, out)? {
                    break 'sweep;
                }
                at += 1;
            }
            open.clear();
        }
        self.release(open);
        Ok(())
    }

    /// Adds the children of a node that a segment selects; whether it found one and may stop.
    fn select_children(&mut self, segment: &Segment, parent: Hit, stop: bool, out: &mut Vec<Hit>) -> Within<bool> {
        let Some(container) = self.tree.node(parent.node) else { return Ok(false) };
        let read = match container.kind {
            Kind::Array => segment.reads_arrays(),
            Kind::Object => segment.reads_objects(),
            _ => false,
        };
        if !read {
            return Ok(false);
        }
        for (position, (id, child)) in self.tree.children(parent.node).enumerate() {
            self.spend(1)?;
            let mut times = 0u32;
            for selector in &segment.selectors {
                if self.selects(selector, container, position, id, child)? {
                    times = times.saturating_add(parent.times);
                }
            }
            if times > 0 {
                out.push(Hit { node: id, times });
                if stop {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn selects(
        &mut self,
        selector: &Selector,
        container: &Node,
        position: usize,
        id: u32,
        child: &Node,
    ) -> Within<bool> {
        let in_array = container.kind == Kind::Array;
        let position = || i64::try_from(position).unwrap_or(i64::MAX);
        let length = i64::from(container.count);
        Ok(match selector {
            Selector::Wildcard => true,
            Selector::Name(name) => !in_array && self.is_named(child, name),
            Selector::Index(index) => in_array && position() == if *index < 0 { length + index } else { *index },
            Selector::Slice(slice) => in_array && slice.holds(position(), length),
            Selector::Filter(filter) => self.holds(filter, id)?,
        })
    }

    fn holds(&mut self, filter: &Filter, node: u32) -> Within<bool> {
        match filter {
            Filter::Or(filters) => {
                for filter in filters {
                    if self.holds(filter, node)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Filter::And(filters) => {
                for filter in filters {
                    if !self.holds(filter, node)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Filter::Not(filter) => Ok(!self.holds(filter, node)?),
            Filter::Exists(query) => Ok(self.find(query, node, true)?.count > 0),
            Filter::Compare(comparison, left, right) => {
                let left = self.value(left, node)?;
                let right = self.value(right, node)?;
                self.compare(*comparison, left, right)
            }
            Filter::Matches(text, regexp) => match self.value(text, node)? {
                Value::Text(text) => {
                    self.spend(text.len() / 16)?;
                    Ok(regexp.is_match(text))
                }
                Value::Escaped(raw) => {
                    self.spend(raw.len() / 16)?;
                    self.buffers.text.clear();
                    json::decode_into(raw, &mut self.buffers.text);
                    Ok(regexp.is_match(&self.buffers.text))
                }
                _ => Ok(false),
            },
        }
    }

    // ---- queries inside filters -------------------------------------------------------------------------

    fn find(&mut self, query: &Query, node: u32, first_only: bool) -> Within<Found> {
        let start = match query.start {
            Start::Current => node,
            Start::Root(number) => {
                if let Some(Some(found)) = self.buffers.found.get(number) {
                    return Ok(*found);
                }
                ROOT
            }
        };
        let found = match self.follow(&query.segments, start)? {
            Some(found) => found,
            None => {
                let hits = self.select(&query.segments, start, first_only)?;
                let count = hits.iter().fold(0u32, |sum, hit| sum.saturating_add(hit.times));
                let found = hits.first().map_or(NOTHING, |hit| Found { count, first: hit.node });
                self.release(hits);
                found
            }
        };
        if let Start::Root(number) = query.start
            && let Some(slot) = self.buffers.found.get_mut(number)
        {
            *slot = Some(found);
        }
        Ok(found)
    }

    /// What a singular query finds; `None`: it is not singular. Most queries in filters are, and need no sets.
    fn follow(&mut self, segments: &[Segment], start: u32) -> Within<Option<Found>> {
        let mut at = start;
        if !segments.iter().all(|segment| segment.single().is_some()) {
            return Ok(None);
        }
        for segment in segments {
            let child = match segment.single() {
                Some(Selector::Name(name)) => self.member(at, name)?,
                Some(Selector::Index(index)) => self.element(at, *index)?,
                _ => None,
            };
            match child {
                Some(child) => at = child,
                None => return Ok(Some(NOTHING)),
            }
        }
        Ok(Some(Found { count: 1, first: at }))
    }

    fn member(&mut self, object: u32, name: &str) -> Within<Option<u32>> {
        self.spend(1)?;
        if self.tree.node(object).is_none_or(|node| node.kind != Kind::Object) {
            return Ok(None);
        }
        for (id, child) in self.tree.children(object) {
            self.spend(1)?;
            if self.is_named(child, name) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    fn is_named(&self, member: &Node, name: &str) -> bool {
        let raw = self.tree.text(member.name);
        if member.name_escaped { json::name_is(raw, name) } else { raw == name.as_bytes() }
    }

    fn element(&mut self, array: u32, index: i64) -> Within<Option<u32>> {
        self.spend(1)?;
        let Some(node) = self.tree.node(array).filter(|node| node.kind == Kind::Array) else { return Ok(None) };
        let position = if index < 0 { i64::from(node.count) + index } else { index };
        let Some(position) = u32::try_from(position).ok().filter(|&position| position < node.count) else {
            return Ok(None);
        };
        self.spend(position as usize)?;
        Ok(self.tree.children(array).nth(position as usize).map(|(id, _)| id))
    }

    // ---- values -----------------------------------------------------------------------------------------

    fn value<'v>(&mut self, operand: &'v Operand, node: u32) -> Within<Value<'v>>
    where
        'a: 'v,
    {
        Ok(match operand {
            Operand::Null => Value::Null,
            Operand::Bool(truth) => Value::Bool(*truth),
            Operand::Number(spelled) => Value::Number(spelled.as_bytes()),
            Operand::Text(text) => Value::Text(text.as_bytes()),
            Operand::Value(query) => match self.find(query, node, false)? {
                Found { count: 1, first } => self.value_of(first),
                _ => Value::Nothing,
            },
            Operand::Count(query) => Value::Count(self.find(query, node, false)?.count as usize),
            Operand::Length(operand) => match self.value(operand, node)? {
                Value::Text(text) => {
                    self.spend(text.len() / 16)?;
                    // Bytes that begin a character.
                    Value::Count(text.iter().filter(|&&b| b & 0xC0 != 0x80).count())
                }
                Value::Escaped(raw) => {
                    self.spend(raw.len() / 16)?;
                    Value::Count(json::decoded(raw).count())
                }
                Value::Container(id) => Value::Count(self.tree.node(id).map_or(0, |node| node.count as usize)),
                _ => Value::Nothing,
            },
        })
    }

    fn value_of(&self, id: u32) -> Value<'a> {
        let Some(node) = self.tree.node(id) else { return Value::Nothing };
        match node.kind {
            Kind::Null => Value::Null,
            Kind::Bool(truth) => Value::Bool(truth),
            Kind::Number => Value::Number(self.tree.text(node.span)),
            Kind::Text { escaped } => {
                let inside = json::string_inside(self.tree.json, node.span).unwrap_or_default();
                let raw = self.tree.text(inside);
                if escaped { Value::Escaped(raw) } else { Value::Text(raw) }
            }
            Kind::Array | Kind::Object => Value::Container(id),
        }
    }

    fn compare(&mut self, comparison: Comparison, left: Value, right: Value) -> Within<bool> {
        // Only numbers and strings have an order; `<=` is "less or equal" for everything (RFC 9535, 2.3.5.2.2).
        let order = self.order(left, right)?;
        Ok(match comparison {
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::LessOrEqual => order == Some(Ordering::Less) || self.equal(order, left, right)?,
            Comparison::GreaterOrEqual => order == Some(Ordering::Greater) || self.equal(order, left, right)?,
            Comparison::Equal => self.equal(order, left, right)?,
            Comparison::NotEqual => !self.equal(order, left, right)?,
        })
    }

    fn order(&mut self, left: Value, right: Value) -> Within<Option<Ordering>> {
        let (mut one, mut two) = ([0; 20], [0; 20]);
        if let (Some(left), Some(right)) = (number(left, &mut one), number(right, &mut two)) {
            self.spend(left.len().max(right.len()) / 16)?;
            return Ok(Some(number::order(left, right)));
        }
        let (Some(ours), Some(theirs)) = (text(left), text(right)) else { return Ok(None) };
        self.spend(ours.len().min(theirs.len()) / 16)?;
        // The order of UTF-8 bytes is that of the characters (RFC 9535, 2.3.5.2.2: Unicode scalar values).
        Ok(Some(match (left, right) {
            (Value::Text(ours), Value::Text(theirs)) => ours.cmp(theirs),
            (Value::Text(ours), _) => text_and_escaped(ours, theirs),
            (_, Value::Text(theirs)) => text_and_escaped(theirs, ours).reverse(),
            _ => json::decoded(ours).cmp(json::decoded(theirs)),
        }))
    }

    fn equal(&mut self, order: Option<Ordering>, left: Value, right: Value) -> Within<bool> {
        if let Some(order) = order {
            return Ok(order.is_eq());
        }
        Ok(match (left, right) {
            (Value::Nothing, Value::Nothing) | (Value::Null, Value::Null) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Container(left), Value::Container(right)) => self.equal_containers(left, right)?,
            _ => false,
        })
    }

    /// Member order apart.
    fn equal_containers(&mut self, left: u32, right: u32) -> Within<bool> {
        let mut pairs = std::mem::take(&mut self.buffers.pairs);
        pairs.clear();
        pairs.push((left, right));
        let mut equal = true;
        while let Some((left, right)) = pairs.pop() {
            equal = self.equal_so_far(left, right, &mut pairs)?;
            if !equal {
                break;
            }
        }
        self.buffers.pairs = pairs;
        Ok(equal)
    }

    /// Whether two nodes can be equal; `pairs` gets the children that must be.
    fn equal_so_far(&mut self, left: u32, right: u32, pairs: &mut Vec<(u32, u32)>) -> Within<bool> {
        self.spend(1)?;
        let (Some(one), Some(two)) = (self.tree.node(left), self.tree.node(right)) else { return Ok(false) };
        match (one.kind, two.kind) {
            _ if left == right => Ok(true),
            (Kind::Array, Kind::Array) if one.count == two.count => {
                self.spend(one.count as usize)?;
                let (ours, theirs) = (self.tree.children(left), self.tree.children(right));
                pairs.extend(ours.zip(theirs).map(|((ours, _), (theirs, _))| (ours, theirs)));
                Ok(true)
            }
            (Kind::Object, Kind::Object) if one.count == two.count => {
                // In the same order most of the time: look for each name behind the one before, then from the start.
                let mut theirs = self.tree.children(right);
                for (ours, member) in self.tree.children(left) {
                    let mut found = self.same_name(&mut theirs, member)?;
                    if found.is_none() {
                        theirs = self.tree.children(right);
                        found = self.same_name(&mut theirs, member)?;
                    }
                    let Some(found) = found else { return Ok(false) };
                    pairs.push((ours, found));
                }
                Ok(true)
            }
            (Kind::Array | Kind::Object, _) | (_, Kind::Array | Kind::Object) => Ok(false),
            _ => self.compare(Comparison::Equal, self.value_of(left), self.value_of(right)),
        }
    }

    fn same_name(&mut self, members: &mut Children, wanted: &Node) -> Within<Option<u32>> {
        let name = self.tree.text(wanted.name);
        for (id, member) in members {
            self.spend(1)?;
            let other = self.tree.text(member.name);
            let escaped = wanted.name_escaped || member.name_escaped;
            if other == name || (escaped && json::decoded(other).eq(json::decoded(name))) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }
}

/// Sorts a set and makes one of what was found more than once.
fn merge(hits: &mut Vec<Hit>) {
    if !hits.is_sorted_by_key(|hit| hit.node) {
        hits.sort_unstable_by_key(|hit| hit.node);
    }
    hits.dedup_by(|next, kept| {
        let same = next.node == kept.node;
        if same {
            kept.times = kept.times.saturating_add(next.times);
        }
        same
    });
}

/// A number as JSON spells it.
fn number<'v>(value: Value<'v>, buffer: &'v mut [u8; 20]) -> Option<&'v [u8]> {
    match value {
        Value::Number(spelled) => Some(spelled),
        Value::Count(count) => {
            let mut rest = count;
            let mut start = buffer.len();
            for digit in buffer.iter_mut().rev() {
                *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
                rest /= 10;
                start -= 1;
                if rest == 0 {
                    break;
                }
            }
            buffer.get(start..)
        }
        _ => None,
    }
}

fn text(value: Value<'_>) -> Option<&[u8]> {
    match value {
        Value::Text(bytes) | Value::Escaped(bytes) => Some(bytes),
        _ => None,
    }
}

fn text_and_escaped(text: &[u8], raw: &[u8]) -> Ordering {
    let mut rest = text;
    for c in json::decoded(raw) {
        let mut buffer = [0; 4];
        let theirs = c.encode_utf8(&mut buffer).as_bytes();
        match rest.strip_prefix(theirs) {
            Some(behind) => rest = behind,
            None => return rest.cmp(theirs),
        }
    }
    if rest.is_empty() { Ordering::Equal } else { Ordering::Greater }
}
