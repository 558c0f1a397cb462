//! The parts of a text where a leaf may stand with other white space than it has itself.
//!
//! Only leaves with a space can be found by collapsing white space, and only where the text has a run of white space that
//! is not one space. Most such runs stand between characters that no missing leaf has round a space (`,\n    "`); what is
//! left is a few stretches of the text, often none.

use super::fold;
use super::leaves::{Kind, Leaves};

/// The stretches of `text` (folded) that may have a missing leaf only when collapsed, collapsed, with breaks between.
pub fn collapse_into(text: &[u8], leaves: &Leaves, out: &mut Vec<u8>) {
    let mut places = Places { near: [0; 64], far: [0; 64] };
    let mut reach = 0;
    for leaf in leaves.strings.iter().filter(|leaf| leaf.spaced && !leaf.covered) {
        if leaf.kind == Kind::Word {
            // Where a stretch is cut a word would seem to end.
            return fold::collapse_into(text, out);
        }
        let leaf = leaves.text(leaf);
        reach = reach.max(leaf.len());
        for space in memchr::memchr_iter(b' ', leaf) {
            places.add(Around::of(leaf, space, space + 1));
        }
    }
    let mut open = (0, 0);
    fold::irregular_runs(text, |start, end| {
        if !places.has(Around::of(text, start, end)) {
            return;
        }
        let (from, to) = (start.saturating_sub(reach), text.len().min(end + reach));
        if from > open.1 {
            close(text, open, out);
            open = (from, to);
        } else {
            open.1 = to;
        }
    });
    close(text, open, out);
}

fn close(text: &[u8], (from, to): (usize, usize), out: &mut Vec<u8>) {
    if from < to {
        fold::collapse_into(text.get(from..to).unwrap_or_default(), out);
        out.push(fold::BREAK);
    }
}

/// Two bytes before and two after some white space; [`fold::BREAK`] where there is none.
struct Around([u8; 4]);

impl Around {
    fn of(text: &[u8], start: usize, end: usize) -> Around {
        let before = |n: usize| start.checked_sub(n).and_then(|at| text.get(at)).copied().unwrap_or(fold::BREAK);
        let after = |n: usize| text.get(end + n).copied().unwrap_or(fold::BREAK);
        Around([before(2), before(1), after(0), after(1)])
    }

    fn near(&self) -> usize {
        let [_, before, after, _] = self.0.map(usize::from);
        (before * 64 + after) % 4096
    }

    fn far(&self) -> usize {
        let hash = u32::from_le_bytes(self.0).wrapping_mul(0x9E37_79B1) >> 20;
        usize::try_from(hash).unwrap_or_default()
    }
}

/// Surroundings of white space as sets of 4,096 bits: they may seem to have one that was not added.
struct Places {
    /// By one byte on each side, where a word of the leaf has but one byte there.
    near: [u64; 64],
    /// By two bytes on each side.
    far: [u64; 64],
}

impl Places {
    fn add(&mut self, around: Around) {
        let [before, .., after] = around.0;
        // A space or an end there may be other white space, or anything, in the text.
        let short = |byte: u8| byte == b' ' || byte == fold::BREAK;
        let (set, place) = match short(before) || short(after) {
            true => (&mut self.near, around.near()),
            false => (&mut self.far, around.far()),
        };
        if let Some(word) = set.get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
    }

    fn has(&self, around: Around) -> bool {
        let has = |set: &[u64; 64], place: usize| set.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 != 0);
        has(&self.near, around.near()) || has(&self.far, around.far())
    }
}
