//! Leaves of four characters and more: which of them stand anywhere in a text.
//!
//! **Sampled grams.** Of each leaf, STRIDE grams of W bytes that start one byte after the other go into a table;
//! of the text, every STRIDE-th position is looked up. Each occurrence of a leaf has one of its grams at such a
//! position, so none is missed; each hit is checked by comparing. Which part of a leaf gives the grams is chosen so
//! that leaves share few (URLs have the same beginning).
//!
//! **Budget.** Leaves chosen to share all their grams would make the checks quadratic. They are counted; when they
//! are more than a small multiple of the input, the rest is left to the [`automaton`].

use memchr::memmem;

use super::automaton;
use super::leaves::{Kind, Leaves};

/// So many leaves are each searched by themselves.
const FEW: usize = 8;

#[derive(Default)]
pub struct Strings {
    /// Leaves by length: 11 bytes and more, 7 to 10, 4 to 6.
    long: Vec<u32>,
    middle: Vec<u32>,
    short: Vec<u32>,
    grams: Grams,
    /// What was done since [`Strings::start`]: checks, by their size, and steps of the automaton.
    pub work: u64,
    /// Tests leave everything to the automaton with this.
    #[cfg(test)]
    pub no_budget: bool,
}

/// The checks were more than the budget.
struct OverBudget;

impl Strings {
    pub fn start(&mut self) {
        self.work = 0;
    }

    /// Covers the leaves that stand in `text`, which is folded; with `only_spaced` those with a space.
    pub fn find(&mut self, text: &[u8], only_spaced: bool, leaves: &mut Leaves) {
        self.sort_by_length(only_spaced, leaves);
        #[cfg(test)]
        let over_budget = self.no_budget || self.search(text, leaves).is_err();
        #[cfg(not(test))]
        let over_budget = self.search(text, leaves).is_err();
        if over_budget {
            let mut wanted = std::mem::take(&mut self.long);
            wanted.append(&mut self.middle);
            wanted.append(&mut self.short);
            wanted.retain(|&index| !leaves.is_covered(index as usize));
            self.work += automaton::find(text, &mut wanted, leaves);
            self.long = wanted;
        }
    }

    fn sort_by_length(&mut self, only_spaced: bool, leaves: &Leaves) {
        self.long.clear();
        self.middle.clear();
        self.short.clear();
        for (leaf, index) in leaves.strings.iter().zip(0..) {
            if leaf.covered || leaf.kind != Kind::Text || (only_spaced && !leaf.spaced) {
                continue;
            }
            match leaves.text(leaf).len() {
                0..=6 => self.short.push(index),
                7..=10 => self.middle.push(index),
                _ => self.long.push(index),
            }
        }
        if self.short.len() > FEW {
            // The short ones cost a look at every byte: with them the middle ones are free.
            self.short.append(&mut self.middle);
        }
    }

    fn search(&mut self, text: &[u8], leaves: &mut Leaves) -> Result<(), OverBudget> {
        let leaf_count = self.long.len() + self.middle.len() + self.short.len();
        let budget = self.work + 2 * size(text.len()) + 64 * size(leaf_count);
        if leaf_count <= FEW {
            // A very long leaf is worth a table: to prepare a search for it costs more than the search.
            let is_short = |index: &u32| leaves.text_of(*index as usize).len() <= 256;
            self.middle.extend(self.long.extract_if(.., |index| is_short(index)));
            self.short.append(&mut self.middle);
        }
        self.grams.search::<8, 4>(text, &self.long, leaves, &mut self.work, budget)?;
        self.grams.search::<4, 4>(text, &self.middle, leaves, &mut self.work, budget)?;
        if self.short.len() > FEW {
            return self.grams.search::<4, 1>(text, &self.short, leaves, &mut self.work, budget);
        }
        find_each(text, &self.short, leaves);
        Ok(())
    }
}

/// The search for a few leaves: each by itself.
fn find_each(text: &[u8], wanted: &[u32], leaves: &mut Leaves) {
    for &index in wanted {
        if memmem::find(text, leaves.text_of(index as usize)).is_some() {
            leaves.cover_string(index as usize);
        }
    }
}

/// A table of grams: a set of bits that most positions of a text fail, and chains of entries for the others.
#[derive(Default)]
struct Grams {
    bits: Vec<u64>,
    /// For each hash the number of its first entry plus one.
    heads: Vec<u32>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    gram: u64,
    leaf: u32,
    /// Where in the leaf the gram stands.
    offset: u32,
    /// The next entry plus one.
    next: u32,
}

impl Grams {
    /// Covers the leaves `wanted` (each of at least `W + STRIDE - 1` bytes) that stand in `text`.
    fn search<const W: usize, const STRIDE: usize>(
        &mut self,
        text: &[u8],
        wanted: &[u32],
        leaves: &mut Leaves,
        work: &mut u64,
        budget: u64,
    ) -> Result<(), OverBudget> {
        if wanted.is_empty() || text.len() < W {
            return Ok(());
        }
        let shift = self.clear(wanted.len() * STRIDE);
        for &index in wanted {
            self.add::<W, STRIDE>(index, leaves.text_of(index as usize), shift);
        }
        self.scan::<W, STRIDE>(text, wanted.len(), leaves, shift, work, budget)
    }

    /// Empties the table for this many entries; returns how far hashes are shifted for it.
    fn clear(&mut self, entries: usize) -> u32 {
        let bits = (entries * 16).next_power_of_two().max(64);
        self.bits.clear();
        self.bits.resize(bits / 64, 0);
        self.heads.clear();
        self.heads.resize(bits / HEAD_SHARE, 0);
        self.entries.clear();
        64 - bits.trailing_zeros()
    }

    fn add<const W: usize, const STRIDE: usize>(&mut self, index: u32, leaf: &[u8], shift: u32) {
        let offset = self.choose::<W, STRIDE>(leaf, shift);
        let Some(part) = leaf.get(offset..) else { return };
        for (window, offset) in part.windows(W).take(STRIDE).zip(offset..) {
            let gram = gram::<W>(window);
            let hash = hash(gram, shift);
            if let Some(word) = self.bits.get_mut(hash / 64) {
                *word |= 1 << (hash % 64);
            }
            let Some(head) = self.heads.get_mut(hash / HEAD_SHARE) else { continue };
            self.entries.push(Entry { gram, leaf: index, offset: number(offset), next: *head });
            *head = number(self.entries.len());
        }
    }

    /// Where in the leaf its grams start: of four places, from the end, that where the fewest are taken.
    fn choose<const W: usize, const STRIDE: usize>(&self, leaf: &[u8], shift: u32) -> usize {
        let last = leaf.len().saturating_sub(W + STRIDE - 1);
        let mut best = (STRIDE + 1, last);
        for place in [4, 3, 2, 0] {
            let offset = last * place / 4;
            let part = leaf.get(offset..).unwrap_or_default();
            let taken = part.windows(W).take(STRIDE).filter(|window| self.has(hash(gram::<W>(window), shift))).count();
            if taken < best.0 {
                best = (taken, offset);
            }
            if taken == 0 {
                break;
            }
        }
        best.1
    }

    #[inline]
    fn has(&self, hash: usize) -> bool {
        self.bits.get(hash / 64).is_some_and(|word| word >> (hash % 64) & 1 != 0)
    }

    fn scan<const W: usize, const STRIDE: usize>(
        &mut self,
        text: &[u8],
        wanted: usize,
        leaves: &mut Leaves,
        shift: u32,
        work: &mut u64,
        budget: u64,
    ) -> Result<(), OverBudget> {
        let mut left = wanted;
        for (window, at) in text.windows(W).step_by(STRIDE).zip((0..).step_by(STRIDE)) {
            let gram = gram::<W>(window);
            let hash = hash(gram, shift);
            if !self.has(hash) {
                continue;
            }
            left -= self.check(text, at, gram, hash, leaves, work);
            if left == 0 {
                return Ok(());
            }
            if *work > budget {
                return Err(OverBudget);
            }
        }
        Ok(())
    }

    /// Compares the leaves that have this gram with the text round it; returns how many were found, which leave the
    /// chain.
    #[inline(never)]
    fn check(&mut self, text: &[u8], at: usize, gram: u64, hash: usize, leaves: &mut Leaves, work: &mut u64) -> usize {
        let mut found = 0;
        let mut before = None;
        let mut next = self.heads.get(hash / HEAD_SHARE).copied().unwrap_or_default();
        while let Some(here) = (next as usize).checked_sub(1)
            && let Some(&entry) = self.entries.get(here)
        {
            *work += 1;
            next = entry.next;
            let index = entry.leaf as usize;
            let mut done = leaves.is_covered(index);
            if !done && entry.gram == gram {
                let leaf = leaves.text_of(index);
                let start = at.checked_sub(entry.offset as usize);
                if let Some(there) = start.and_then(|start| text.get(start..start + leaf.len()))
                    && there.first_chunk::<4>() == leaf.first_chunk::<4>()
                    && there.last_chunk::<4>() == leaf.last_chunk::<4>()
                {
                    *work += size(leaf.len() / 16);
                    if there == leaf {
                        leaves.cover_string(index);
                        found += 1;
                        done = true;
                    }
                }
            }
            if !done {
                before = Some(here);
                continue;
            }
            let link = match before {
                Some(before) => self.entries.get_mut(before).map(|entry| &mut entry.next),
                None => self.heads.get_mut(hash / HEAD_SHARE),
            };
            if let Some(link) = link {
                *link = entry.next;
            }
        }
        found
    }
}

/// So many bits share one chain.
const HEAD_SHARE: usize = 8;

#[inline]
fn gram<const W: usize>(window: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    if let (Some(to), Some(from)) = (bytes.first_chunk_mut::<W>(), window.first_chunk::<W>()) {
        *to = *from;
    }
    u64::from_le_bytes(bytes)
}

#[inline]
fn hash(gram: u64, shift: u32) -> usize {
    // The golden ratio: neighbouring grams go far apart.
    usize::try_from(gram.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift).unwrap_or_default()
}

fn size(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
