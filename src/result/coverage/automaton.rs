//! The search that is linear whatever the leaves: an Aho-Corasick automaton with marks.
//!
//! It is slower than the sampled search on ordinary input and takes memory for each byte of the leaves, so it runs
//! only when that one has used up its budget. No state has a list of the leaves that end there (with leaves inside
//! leaves these lists are quadratic). Instead the scan marks each state it visits; afterwards the marks go along the
//! failure links, from the deepest states up; a leaf is there when the state of its last byte is marked.
//!
//! States are numbered breadth first, so the children of a state are neighbours, sorted by byte: a step is a binary
//! search among at most 256. The trie is built from the sorted leaves, level by level, without a table.

use super::leaves::Leaves;

struct State {
    /// The byte that leads here from the parent.
    byte: u8,
    marked: bool,
    fail: u32,
    /// The children.
    first: u32,
    count: u32,
}

/// The leaves that begin with the bytes of a state: a range of the sorted leaves.
struct Open {
    from: u32,
    to: u32,
    depth: u32,
}

/// Covers those of the leaves `wanted` that stand in `text`. Returns the steps taken: linear in the text and leaves.
pub fn find(text: &[u8], wanted: &mut [u32], leaves: &mut Leaves) -> u64 {
    let mut steps = 0;
    wanted.sort_unstable_by(|&a, &b| leaves.text_of(a as usize).cmp(leaves.text_of(b as usize)));
    let (mut states, ends) = build(wanted, leaves, &mut steps);
    scan(text, &mut states, &mut steps);
    for at in (1..states.len()).rev() {
        if let Some(&State { marked: true, fail, .. }) = states.get(at)
            && let Some(state) = states.get_mut(fail as usize)
        {
            state.marked = true;
        }
    }
    for (&index, &end) in wanted.iter().zip(&ends) {
        if states.get(end as usize).is_some_and(|state| state.marked) {
            leaves.cover_string(index as usize);
        }
    }
    steps
}

/// The states, and for each sorted leaf its last state.
fn build(sorted: &[u32], leaves: &Leaves, steps: &mut u64) -> (Vec<State>, Vec<u32>) {
    let mut ends = vec![0; sorted.len()];
    let mut states = vec![State { byte: 0, marked: false, fail: 0, first: 0, count: 0 }];
    let mut opens = vec![Open { from: 0, to: number(sorted.len()), depth: 0 }];
    let mut at = 0;
    while let Some(&Open { from, to, depth }) = opens.get(at) {
        let first = number(states.len());
        let mut from = from;
        let byte_of = |i: u32| {
            let &index = sorted.get(i as usize)?;
            leaves.text_of(index as usize).get(depth as usize).copied()
        };
        // Leaves are distinct, so at most one ends here, and it is sorted before those that go on.
        if depth > 0 && byte_of(from).is_none() {
            if let Some(end) = ends.get_mut(from as usize) {
                *end = number(at);
            }
            from += 1;
        }
        while from < to
            && let Some(byte) = byte_of(from)
        {
            let mut next = from + 1;
            while next < to && byte_of(next) == Some(byte) {
                next += 1;
            }
            *steps += u64::from(next - from);
            states.push(State { byte, marked: false, fail: 0, first: 0, count: 0 });
            opens.push(Open { from, to: next, depth: depth + 1 });
            from = next;
        }
        let count = number(states.len()) - first;
        if let Some(state) = states.get_mut(at) {
            (state.first, state.count) = (first, count);
        }
        // All states above are linked already, so the links of the children can be followed.
        let fail = states.get(at).map_or(0, |state| state.fail);
        for child in first..first + count {
            let byte = states.get(child as usize).map_or(0, |state| state.byte);
            let link = if at == 0 { 0 } else { step(&states, fail, byte, steps) };
            if let Some(state) = states.get_mut(child as usize) {
                state.fail = link;
            }
        }
        at += 1;
    }
    (states, ends)
}

fn scan(text: &[u8], states: &mut [State], steps: &mut u64) {
    let mut at = 0;
    for &byte in text {
        at = step(states, at, byte, steps);
        if let Some(state) = states.get_mut(at as usize) {
            state.marked = true;
        }
    }
}

/// The state after `byte`: the longest suffix of what was read that begins a leaf.
#[inline]
fn step(states: &[State], from: u32, byte: u8, steps: &mut u64) -> u32 {
    let mut at = from;
    loop {
        *steps += 1;
        let Some(state) = states.get(at as usize) else { return 0 };
        let first = state.first as usize;
        let children = states.get(first..first + state.count as usize).unwrap_or_default();
        if let Ok(found) = children.binary_search_by_key(&byte, |child| child.byte) {
            return state.first + number(found);
        }
        if at == 0 {
            return 0;
        }
        at = state.fail;
    }
}

fn number(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
