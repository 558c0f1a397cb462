//! Leaves of under four characters: each must stand as a word of its own.
//!
//! An occurrence counts unless a letter or digit at its edge goes on in the text (`id` in `idle`). Characters of
//! scripts written without spaces go on nowhere, nor do signs: `東京` counts in `東京都`, `%` in `5%`.

use memchr::memmem;

use super::fold;
use super::leaves::{Kind, Leaves};

/// Buffers of the search.
#[derive(Default)]
pub struct Words {
    wanted: Vec<u32>,
}

impl Words {
    /// Covers the short leaves that stand in `text`, which is folded; with `only_spaced` those with a space.
    pub fn find(&mut self, text: &[u8], only_spaced: bool, leaves: &mut Leaves) {
        self.wanted.clear();
        let wanted = leaves
            .strings
            .iter()
            .zip(0..)
            .filter(|(leaf, _)| !leaf.covered && leaf.kind == Kind::Word && (leaf.spaced || !only_spaced));
        self.wanted.extend(wanted.map(|(_, index)| index));
        if self.wanted.len() <= 8 {
            self.find_each(text, leaves);
        }
        if !self.wanted.is_empty() {
            self.find_all(text, leaves);
        }
    }

    /// Looks at a few places for each leaf; what is settled is no longer wanted.
    fn find_each(&mut self, text: &[u8], leaves: &mut Leaves) {
        self.wanted.retain(|&index| {
            let index = index as usize;
            let word = leaves.text_of(index);
            let finder = memmem::Finder::new(word);
            let (mut found, mut looked, mut from) = (false, 0, 0);
            while !found
                && looked < 4
                && let Some(at) = finder.find(text.get(from..).unwrap_or_default())
            {
                let start = from + at;
                found = is_whole(text, start, start + word.len());
                looked += 1;
                from = start + 1;
            }
            if found {
                leaves.cover_string(index);
            }
            !found && looked == 4
        });
    }

    /// One pass over the text, looking up one, two and three characters wherever a wanted leaf could start.
    fn find_all(&mut self, text: &[u8], leaves: &mut Leaves) {
        // For each first byte, how many characters the leaves have that start with it: bits 1, 2, 3.
        let mut lengths = [0u8; 256];
        for &index in &self.wanted {
            let word = leaves.text_of(index as usize);
            let characters = word.iter().filter(|&&b| b & 0xC0 != 0x80).count();
            if let Some(bits) = word.first().and_then(|&first| lengths.get_mut(usize::from(first))) {
                *bits |= 1 << characters.min(3);
            }
        }
        let mut left = self.wanted.len();
        for (start, &first) in text.iter().enumerate() {
            let bits = lengths.get(usize::from(first)).copied().unwrap_or_default();
            if bits == 0 || !edge(text, start) {
                continue;
            }
            let mut end = start;
            for characters in 1..4 {
                let Some(c) = fold::char_at(text, end) else { break };
                end += c.len_utf8();
                if bits & 1 << characters != 0
                    && edge(text, end)
                    && let Some(index) = text.get(start..end).and_then(|word| leaves.find_string(word))
                    && !leaves.is_covered(index)
                {
                    leaves.cover_string(index);
                    // Others than the wanted ones may be found on the way: no matter, they are covered too.
                    left = left.saturating_sub(1);
                }
            }
            if left == 0 {
                return;
            }
        }
    }
}

/// Whether what stands there is no part of a longer word.
pub fn is_whole(text: &[u8], start: usize, end: usize) -> bool {
    edge(text, start) && edge(text, end)
}

/// Whether a word may start or end here.
#[inline]
fn edge(text: &[u8], at: usize) -> bool {
    let joins = |c: Option<char>| c.is_some_and(fold::joins);
    !(joins(fold::char_before(text, at)) && joins(fold::char_at(text, at)))
}
