//! A JSON value written for people (`pretty`) or in one order (`sorted`). `compact` writes it shortest.
//!
//! Both take what `compact` wrote: no white space between tokens, every member once, strings with shortest escapes.

use super::json::{Span, end_of_valid_string};
use std::cmp::Ordering;

/// Appends the value with two spaces of indentation a level, a space after each colon.
pub fn pretty_into(compact: &[u8], out: &mut Vec<u8>) {
    let mut depth = 0usize;
    let mut at = 0;
    let new_line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', depth * 2));
    };
    while let Some(&byte) = compact.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let end = end_of_valid_string(compact, at);
                out.extend_from_slice(compact.get(at - 1..=end).unwrap_or_default());
                at = end + 1;
            }
            b'{' | b'[' => {
                out.push(byte);
                if let Some(&close @ (b'}' | b']')) = compact.get(at) {
                    out.push(close);
                    at += 1;
                } else {
                    depth += 1;
                    new_line(out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                new_line(out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            _ => out.push(byte),
        }
    }
}

/// A member or an element: its name (elements have none), its value, and the children if it is a container.
#[derive(Clone, Copy)]
struct Child {
    name: Span,
    value: Span,
    inside: Option<Children>,
}

/// A run in the list of all children.
#[derive(Clone, Copy)]
struct Children {
    first: usize,
    count: usize,
    is_object: bool,
}

/// Appends the value with the members of every object in the order of their names, by code point.
pub fn sorted_into(compact: &[u8], out: &mut Vec<u8>) {
    let mut children: Vec<Child> = Vec::new();
    let root = collect(compact, &mut children);
    let mut open: Vec<(Children, usize)> = Vec::new();
    let mut next = Some(root);
    loop {
        if let Some(child) = next.take() {
            match child.inside {
                Some(inside) => {
                    out.push(if inside.is_object { b'{' } else { b'[' });
                    open.push((inside, 0));
                }
                None => out.extend_from_slice(child.value.of(compact)),
            }
        }
        let Some((inside, done)) = open.last_mut() else { return };
        if *done == inside.count {
            out.push(if inside.is_object { b'}' } else { b']' });
            open.pop();
            continue;
        }
        if *done > 0 {
            out.push(b',');
        }
        let child = children.get(inside.first + *done).copied();
        *done += 1;
        if let (Some(child), true) = (child, inside.is_object) {
            out.push(b'"');
            out.extend_from_slice(child.name.of(compact));
            out.extend_from_slice(b"\":");
        }
        next = child;
    }
}

/// Lists the children of every container together, those of objects sorted; returns the value itself.
fn collect(compact: &[u8], children: &mut Vec<Child>) -> Child {
    struct Open {
        start: usize,
        /// The name of the container itself.
        name: Span,
        /// Where its children start among those that are pending.
        first: usize,
    }
    let mut pending: Vec<Child> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut name = Span::ABSENT;
    let mut at = 0;
    while let Some(&byte) = compact.get(at) {
        let start = at;
        match byte {
            b'"' => {
                let end = end_of_valid_string(compact, at + 1);
                at = end + 1;
                if compact.get(at) == Some(&b':') {
                    name = Span::new(start + 1, end);
                    at += 1;
                    continue;
                }
            }
            b'{' | b'[' => {
                open.push(Open { start, name, first: pending.len() });
                name = Span::ABSENT;
                at += 1;
                continue;
            }
            b',' => {
                at += 1;
                continue;
            }
            b'}' | b']' => {
                at += 1;
                let Some(container) = open.pop() else { break };
                let is_object = byte == b'}';
                let mut own = pending.split_off(container.first);
                if is_object {
                    own.sort_by(|one, other| by_code_point(one.name.of(compact), other.name.of(compact)));
                }
                let inside = Children { first: children.len(), count: own.len(), is_object };
                children.append(&mut own);
                let value = Span::new(container.start, at);
                pending.push(Child { name: container.name, value, inside: Some(inside) });
                continue;
            }
            _ => {
                while compact.get(at).is_some_and(|b| !matches!(b, b',' | b'}' | b']')) {
                    at += 1;
                }
            }
        }
        pending.push(Child { name: std::mem::take(&mut name), value: Span::new(start, at), inside: None });
    }
    pending.pop().unwrap_or(Child { name: Span::ABSENT, value: Span::ABSENT, inside: None })
}

/// Names in the order of their characters: UTF-8 keeps the order of code points, escapes do not.
fn by_code_point(one: &[u8], other: &[u8]) -> Ordering {
    super::equality::compare_strings(one, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(how: fn(&[u8], &mut Vec<u8>), text: &str) -> String {
        let mut out = Vec::new();
        how(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn pretty() {
        assert_eq!(
            render(pretty_into, r#"{"a":[1,{}],"b:,":"x{"}"#),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b:,\": \"x{\"\n}"
        );
        assert_eq!(render(pretty_into, "[]"), "[]");
        assert_eq!(render(pretty_into, "7"), "7");
    }

    #[test]
    fn sorted() {
        let text = r#"{"b":[{"z":1.50,"a":[]},2],"é":{},"a\n":null,"":{"y":"b","x":"a"}}"#;
        assert_eq!(render(sorted_into, text), r#"{"":{"x":"a","y":"b"},"a\n":null,"b":[{"a":[],"z":1.50},2],"é":{}}"#);
        assert_eq!(render(sorted_into, r#""s""#), r#""s""#);
        assert_eq!(render(sorted_into, "[[[]]]"), "[[[]]]");
    }
}
