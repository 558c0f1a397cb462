//! A path as types: what `parse` makes and `walk` follows.

use super::regexp::Regexp;

/// One step of a query: children, or descendants with their children.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    pub descendant: bool,
    pub selectors: Box<[Selector]>,
}

impl Segment {
    /// Whether any selector can select a member.
    pub fn reads_objects(&self) -> bool {
        self.selectors.iter().any(|s| !matches!(s, Selector::Index(_) | Selector::Slice(_)))
    }

    /// Whether any selector can select an element.
    pub fn reads_arrays(&self) -> bool {
        self.selectors.iter().any(|s| !matches!(s, Selector::Name(_)))
    }

    /// The selector, when this segment selects one node at most.
    pub fn single(&self) -> Option<&Selector> {
        match &*self.selectors {
            [one @ (Selector::Name(_) | Selector::Index(_))] if !self.descendant => Some(one),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Selector {
    Name(Box<str>),
    Wildcard,
    Index(i64),
    Slice(Slice),
    Filter(Box<Filter>),
}

/// `start:end:step`
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slice {
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub step: i64,
}

impl Slice {
    /// Whether the element at `position` of `length` is in the slice (RFC 9535, 2.3.4.2.2).
    pub fn holds(self, position: i64, length: i64) -> bool {
        let normal = |bound: i64| if bound < 0 { length.saturating_add(bound) } else { bound };
        match self.step {
            0 => false,
            step if step > 0 => {
                let lower = self.start.map_or(0, normal).clamp(0, length);
                let upper = self.end.map_or(length, normal).clamp(0, length);
                lower <= position && position < upper && (position - lower) % step == 0
            }
            step => {
                let upper = self.start.map_or(length - 1, normal).clamp(-1, length - 1);
                let lower = self.end.map_or(-1, normal).clamp(-1, length - 1);
                lower < position && position <= upper && (upper - position) % step == 0
            }
        }
    }
}

/// What `?` asks of a child.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Filter {
    Or(Box<[Filter]>),
    And(Box<[Filter]>),
    Not(Box<Filter>),
    /// The query finds something.
    Exists(Query),
    Compare(Comparison, Operand, Operand),
    /// `match` or `search`.
    Matches(Operand, Regexp),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// One side of a comparison, or the argument of a function.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Null,
    Bool(bool),
    /// As JSON spells it.
    Number(Box<str>),
    Text(Box<str>),
    /// The node of a singular query, and `value`.
    Value(Query),
    Count(Query),
    Length(Box<Operand>),
}

/// A query inside a filter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    pub start: Start,
    pub segments: Box<[Segment]>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Start {
    /// `@`
    Current,
    /// `$`. What such a query finds is the same for every child, so it is kept under this number.
    Root(usize),
}
