//! Leaves where one would expect them: most texts say what the value says, in the same order.
//!
//! Each leaf is looked for in the short stretch of text after the one before. A hit is a hit; who is not there is left to
//! the searches that miss nothing. A text in another order is given up after a few leaves.

use super::leaves::{Kind, Leaves};
use super::{numbers, words};

/// How far to look: a few times the text there is for each leaf, within these bounds.
const STRETCH: (usize, usize) = (256, 2048);
/// How much farther after each leaf that was not there.
const FARTHER: usize = 128;
/// So many places that begin like the leaf are compared with it.
const COMPARED: usize = 16;
/// So many misses more than hits end it.
const PATIENCE: usize = 4;

/// Covers leaves that stand in `text` (folded, with eight bytes after its end) in their order. `json` is what the leaves were collected from.
pub fn find(text: &[u8], json: &[u8], leaves: &mut Leaves) {
    let (mut string, mut number) = (0, 0);
    let mut from = 0;
    let leaf_count = leaves.strings.len() + leaves.numbers.len();
    let usual = (3 * text.len() / leaf_count.max(1)).clamp(STRETCH.0, STRETCH.1);
    let mut patience = PATIENCE;
    let mut missed = 0;
    loop {
        let next =
            (leaves.strings.get(string).map(|leaf| leaf.source), leaves.numbers.get(number).map(|leaf| leaf.source));
        let stretch = usual + FARTHER * missed;
        let found = match next {
            (None, None) => return,
            (Some(s), n) if n.is_none_or(|n| s.start < n.start) => {
                string += 1;
                let Some(leaf) = leaves.strings.get(string - 1).filter(|leaf| !leaf.covered) else { continue };
                let (leaf_text, word) = (leaves.text(leaf), leaf.kind == Kind::Word);
                let whole = |start: usize, end: usize| !word || words::is_whole(text, start, end);
                let found = find_near(text, from, stretch, leaf_text, whole);
                if found.is_some() {
                    leaves.cover_string(string - 1);
                }
                found
            }
            (_, Some(source)) => {
                number += 1;
                let spelled = source.of(json);
                if spelled.iter().any(|b| matches!(b, b'e' | b'E')) {
                    continue;
                }
                let alone = |start: usize, end: usize| numbers::stands_alone(text, start, end);
                let found = find_near(text, from, stretch, spelled, alone);
                if found.is_some() {
                    leaves.cover_number(number - 1);
                }
                found
            }
            (Some(_), None) => return,
        };
        match found {
            Some(end) => {
                from = end;
                missed = 0;
                patience = (patience + 1).min(4 * PATIENCE);
            }
            None => {
                missed = (missed + 1).min(PATIENCE);
                patience -= 1;
                if patience == 0 {
                    return;
                }
            }
        }
    }
}

/// The end of the first acceptable occurrence of `leaf` that starts in the stretch from `from`.
fn find_near(
    text: &[u8],
    from: usize,
    stretch: usize,
    leaf: &[u8],
    good: impl Fn(usize, usize) -> bool,
) -> Option<usize> {
    let mut first = [0; 8];
    first.iter_mut().zip(leaf).for_each(|(to, byte)| *to = *byte);
    let mask = if leaf.len() < 8 { (1 << (8 * leaf.len())) - 1 } else { u64::MAX };
    let first = u64::from_le_bytes(first);
    let near = text.get(from..text.len().min(from + stretch + 8))?;
    let mut compared = 0;
    for (window, start) in near.windows(8).zip(from..) {
        let word = window.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        if word & mask != first {
            continue;
        }
        let end = start + leaf.len();
        if text.get(start..end) == Some(leaf) && good(start, end) {
            return Some(end);
        }
        compared += 1;
        if compared == COMPARED {
            return None;
        }
    }
    None
}
