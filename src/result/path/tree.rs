//! A JSON value as a flat table of nodes in document order, so that a walk needs no parser and no recursion.
//!
//! The children of a node come right after it; each node knows where its subtree ends. Of members with the same name
//! the last one counts: the earlier ones are marked, and no walk sees them.

use crate::result::json::{self, Span};
use std::cmp::Ordering;

/// More nodes are not looked at (128 MiB of table): the budget counts as used up.
const MAX_NODES: usize = 1 << 22;

/// Objects of more members than this look for repeated names by sorting.
const FEW_MEMBERS: u32 = 8;

const NO_PARENT: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number,
    Text { escaped: bool },
    Array,
    Object,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub kind: Kind,
    /// A later member has the same name.
    pub repeated: bool,
    pub name_escaped: bool,
    pub span: Span,
    /// Between the quotes; for members only.
    pub name: Span,
    pub parent: u32,
    /// The node after the subtree.
    pub after: u32,
    /// Children, repeated members apart.
    pub count: u32,
}

/// A table of nodes and the text it was made from.
#[derive(Clone, Copy)]
pub(super) struct Tree<'a> {
    pub json: &'a [u8],
    pub nodes: &'a [Node],
}

pub(super) const ROOT: u32 = 0;

impl<'a> Tree<'a> {
    /// Makes the table of a valid value in `nodes`; `None`: it has too many nodes.
    pub fn build(json: &'a [u8], nodes: &'a mut Vec<Node>, names: &mut Vec<u32>) -> Option<Tree<'a>> {
        nodes.clear();
        read(json, nodes)?;
        mark_repeated(json, nodes, names);
        Some(Tree { json, nodes })
    }

    pub fn node(self, id: u32) -> Option<&'a Node> {
        self.nodes.get(id as usize)
    }

    pub fn text(self, span: Span) -> &'a [u8] {
        span.of(self.json)
    }

    pub fn is_empty_container(self, id: u32) -> bool {
        self.node(id).is_some_and(|node| matches!(node.kind, Kind::Array | Kind::Object) && node.count == 0)
    }

    /// The children of a node, repeated members apart.
    pub fn children(self, id: u32) -> Children<'a> {
        let end = self.node(id).map_or(0, |node| node.after);
        Children { tree: self, next: id.saturating_add(1), end }
    }
}

#[derive(Clone)]
pub(super) struct Children<'a> {
    tree: Tree<'a>,
    next: u32,
    end: u32,
}

impl<'a> Iterator for Children<'a> {
    type Item = (u32, &'a Node);

    fn next(&mut self) -> Option<(u32, &'a Node)> {
        while self.next < self.end {
            let id = self.next;
            let node = self.tree.node(id)?;
            self.next = node.after;
            if !node.repeated {
                return Some((id, node));
            }
        }
        None
    }
}

fn read(json: &[u8], nodes: &mut Vec<Node>) -> Option<()> {
    let mut at = json::skip_space(json, 0);
    let mut parent = NO_PARENT;
    let mut in_object = false;
    let mut name = Span::ABSENT;
    'value: loop {
        if nodes.len() >= MAX_NODES {
            return None;
        }
        let id = u32::try_from(nodes.len()).ok()?;
        let (kind, end) = value(json, at);
        nodes.push(Node {
            kind,
            repeated: false,
            name_escaped: is_escaped(name.of(json)),
            span: Span::new(at, end),
            name,
            parent,
            after: id.saturating_add(1),
            count: 0,
        });
        if let Some(parent) = nodes.get_mut(parent as usize) {
            parent.count = parent.count.saturating_add(1);
        }
        at = end;
        if matches!(kind, Kind::Array | Kind::Object) {
            at = json::skip_space(json, at);
            parent = id;
            in_object = kind == Kind::Object;
            if !matches!(json.get(at), Some(b']' | b'}') | None) {
                (name, at) = if in_object { name_at(json, at) } else { (Span::ABSENT, at) };
                continue 'value;
            }
        }
        // A value has ended, or a container is empty: close what ends with it, or go on to the next one.
        loop {
            let Some(open) = nodes.get(parent as usize).copied() else { return Some(()) };
            at = json::skip_space(json, at);
            match json.get(at) {
                Some(b',') => {
                    at = json::skip_space(json, at + 1);
                    (name, at) = if in_object { name_at(json, at) } else { (Span::ABSENT, at) };
                    continue 'value;
                }
                // The end of a container, or of an input that is no JSON after all: both close.
                closing => at += usize::from(closing.is_some()),
            }
            let after = u32::try_from(nodes.len()).ok()?;
            if let Some(closed) = nodes.get_mut(parent as usize) {
                closed.after = after;
                closed.span.end = Span::new(0, at).end;
            }
            parent = open.parent;
            in_object = nodes.get(parent as usize).is_some_and(|node| node.kind == Kind::Object);
        }
    }
}

/// The kind of the value at `at`, and where it ends; of a container: where its inside begins.
fn value(json: &[u8], at: usize) -> (Kind, usize) {
    match json.get(at) {
        Some(b'{') => (Kind::Object, at + 1),
        Some(b'[') => (Kind::Array, at + 1),
        Some(b'"') => {
            let end = json::end_of_valid_string(json, at + 1);
            (Kind::Text { escaped: is_escaped(Span::new(at + 1, end).of(json)) }, json.len().min(end + 1))
        }
        Some(b't') => (Kind::Bool(true), json.len().min(at + 4)),
        Some(b'f') => (Kind::Bool(false), json.len().min(at + 5)),
        Some(b'n') => (Kind::Null, json.len().min(at + 4)),
        _ => {
            let rest = json.get(at..).unwrap_or_default();
            let length =
                rest.iter().take_while(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count();
            (Kind::Number, at + length)
        }
    }
}

fn is_escaped(raw: &[u8]) -> bool {
    memchr::memchr(b'\\', raw).is_some()
}

/// The name at `at`, and where its value starts.
fn name_at(json: &[u8], at: usize) -> (Span, usize) {
    let end = json::end_of_valid_string(json, at + 1);
    let colon = json::skip_space(json, end + 1);
    (Span::new(at + 1, end), json::skip_space(json, colon + 1))
}

fn mark_repeated(json: &[u8], nodes: &mut [Node], names: &mut Vec<u32>) {
    for id in 0..u32::try_from(nodes.len()).unwrap_or(u32::MAX) {
        match nodes.get(id as usize) {
            Some(node) if node.kind == Kind::Object && node.count > 1 => {
                let few = node.count <= FEW_MEMBERS;
                names.clear();
                names.extend(Tree { json, nodes }.children(id).map(|(child, _)| child));
                if few { repeated_among_few(json, nodes, names) } else { repeated_among_many(json, nodes, names) }
            }
            _ => {}
        }
    }
}

fn repeated_among_few(json: &[u8], nodes: &mut [Node], members: &[u32]) {
    for (i, &member) in members.iter().enumerate() {
        let later = members.get(i + 1..).unwrap_or_default();
        if later.iter().any(|&other| compare_names(json, nodes, member, other).is_eq()) {
            mark(nodes, member);
        }
    }
}

fn repeated_among_many(json: &[u8], nodes: &mut [Node], members: &mut [u32]) {
    members.sort_unstable_by(|&one, &two| compare_names(json, nodes, one, two).then(one.cmp(&two)));
    for pair in members.windows(2) {
        if let &[one, two] = pair
            && compare_names(json, nodes, one, two).is_eq()
        {
            mark(nodes, one);
        }
    }
}

/// An order of names, equal when they are when decoded. Lengths first: it is quicker, and any order will do.
fn compare_names(json: &[u8], nodes: &[Node], one: u32, two: u32) -> Ordering {
    let (Some(one), Some(two)) = (nodes.get(one as usize), nodes.get(two as usize)) else { return Ordering::Equal };
    let escaped = one.name_escaped || two.name_escaped;
    let (one, two) = (one.name.of(json), two.name.of(json));
    if escaped {
        return json::decoded_len(one)
            .cmp(&json::decoded_len(two))
            .then_with(|| json::decoded(one).cmp(json::decoded(two)));
    }
    one.len().cmp(&two.len()).then_with(|| one.cmp(two))
}

fn mark(nodes: &mut [Node], id: u32) {
    let Some(node) = nodes.get_mut(id as usize) else { return };
    node.repeated = true;
    let parent = node.parent;
    if let Some(parent) = nodes.get_mut(parent as usize) {
        parent.count = parent.count.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(json: &str) -> Vec<(bool, String)> {
        let (mut nodes, mut scratch) = (Vec::new(), Vec::new());
        let tree = Tree::build(json.as_bytes(), &mut nodes, &mut scratch).unwrap();
        let text = |span| String::from_utf8_lossy(tree.text(span)).into_owned();
        tree.nodes.iter().map(|node| (node.repeated, text(node.name) + "=" + &text(node.span))).collect()
    }

    #[test]
    fn holds_every_node_in_order() {
        let json =
            " { \"a\" : [ 1 , [ ] , { } ] ,\"b\":\"x]\", \"c\":{\"d\":null,\"e\":-1.5e+9,\"f\":true,\"g\":false}} ";
        let expected = [
            &format!("={}", json.trim()),
            "a=[ 1 , [ ] , { } ]",
            "=1",
            "=[ ]",
            "={ }",
            "b=\"x]\"",
            "c={\"d\":null,\"e\":-1.5e+9,\"f\":true,\"g\":false}",
            "d=null",
            "e=-1.5e+9",
            "f=true",
            "g=false",
        ];
        assert_eq!(names(json).iter().map(|(_, name)| &**name).collect::<Vec<_>>(), expected);
        let (mut nodes, mut scratch) = (Vec::new(), Vec::new());
        let tree = Tree::build(json.as_bytes(), &mut nodes, &mut scratch).unwrap();
        assert_eq!(tree.nodes.iter().map(|n| n.after).collect::<Vec<_>>(), [11, 5, 3, 4, 5, 6, 11, 8, 9, 10, 11]);
        assert_eq!(tree.nodes.iter().map(|n| n.count).collect::<Vec<_>>(), [3, 3, 0, 0, 0, 0, 4, 0, 0, 0, 0]);
    }

    #[test]
    fn the_last_of_a_repeated_name_counts() {
        let repeated = |json: &str| -> Vec<String> {
            names(json).into_iter().filter(|(repeated, _)| *repeated).map(|(_, name)| name).collect()
        };
        assert_eq!(repeated(r#"{"a":1,"b":2,"\u0061":3,"a":4}"#), ["a=1", r"\u0061=3"]);
        let mut many: Vec<String> = (0..40).map(|i| format!("\"n{}\":{i}", i % 38)).collect();
        many.push(r#""\u006e5":9"#.to_owned());
        assert_eq!(repeated(&format!("{{{}}}", many.join(","))), ["n0=0", "n1=1", "n5=5"]);
    }

    #[test]
    fn what_is_no_json_ends() {
        let text = r#"{"a":[1,{"b":"\u00e9"},tru],"c":{}}"#;
        for cut in 0..text.len() {
            names(&text[..cut]);
            names(&text[cut..]);
        }
        names("}{][,,::\"\\");
        names("");
    }
}
