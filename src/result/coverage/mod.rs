//! Coverage: how much of the structured value can be read in the content blocks.
//!
//! A server may say a thing in `content`, in `structuredContent`, or in both. Coverage tells the cases apart: the share
//! of the *leaves* of the structured value that the blocks show as well. A copy or a rewording has coverage near 1; a
//! summary that lost the data has little.
//!
//! * **Leaves** are the distinct strings and the distinct numbers of the value, at any depth. Booleans, nulls and member
//!   names do not count, nor do strings that show nothing (White_Space and ignorable characters). Strings are compared,
//!   and told apart, with letter case folded, each run of white space as one space, and none at the ends; numbers by
//!   their exact value. Of a repeated member the last counts.
//! * **Searched text** of a block are its members `text`, `name`, `title` and `description`, and those of its
//!   `resource`. All other strings of a block (`uri`, `data`, `mimeType` …) cover a leaf only when they equal it.
//! * A string is **covered** when a searched text contains it, as the text stands or with JSON escapes undone (once).
//!   Under four characters it must stand there as a word of its own (`words.rs`). A number is covered when a text has a
//!   number of the same value, in any usual spelling (`numbers.rs`).
//!
//! The search takes time in proportion to the input, whatever the server wrote. Leaves are first looked for in their
//! order (`glance.rs`), which finds nearly all of a faithful copy; the others by `strings.rs`, which counts its work and
//! leaves hostile input to `automaton.rs`, and by `words.rs` and `numbers.rs`. The text is searched as it stands, then
//! where other white space may hide a leaf (`near.rs`), then with its escapes undone; each time only for what is still
//! missing. What is over budget (`leaves.rs`) is not measured.

mod automaton;
mod fold;
mod glance;
mod leaves;
#[cfg(test)]
mod naive;
mod near;
mod numbers;
#[cfg(test)]
mod pieces;
mod strings;
#[cfg(test)]
mod tests;
mod words;

use crate::result::json::{self, Span};
use leaves::Leaves;

/// How many missing leaves are named, and how long.
const NAMED: usize = 5;
const NAME_CHARACTERS: usize = 80;

/// So many bytes of text a buffer keeps for the next call.
const KEPT: usize = 4 << 20;

/// How many leaves there are, and how many of them the blocks cover.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    pub covered: u32,
    pub total: u32,
}

impl Measured {
    /// Covered of total, 0 to 1; without leaves nothing is missing: 1.
    pub fn share(self) -> f64 {
        if self.total == 0 { 1.0 } else { f64::from(self.covered) / f64::from(self.total) }
    }
}

/// Measures coverage. It owns its buffers: made once and used again, it allocates nothing for ordinary results.
#[derive(Default)]
pub struct Coverage {
    leaves: Leaves,
    /// The searched texts of all blocks, as they stand; the same folded; space for more forms of it.
    text: Vec<u8>,
    folded: Vec<u8>,
    spare: Vec<u8>,
    other: Vec<u8>,
    scratch: fold::Scratch,
    words: words::Words,
    strings: strings::Strings,
    decimal: numbers::Decimal,
    missing: Vec<String>,
    named: usize,
}

impl Coverage {
    pub fn new() -> Self {
        Self::default()
    }

    /// The same without its buffers: what was found [`missing`](Coverage::missing) is all that is left.
    pub fn trimmed(self) -> Self {
        Coverage { missing: self.missing, named: self.named, ..Self::default() }
    }

    /// Measures how much of `structured` (the JSON of the value) `blocks` (the JSON of each visible block) cover.
    ///
    /// All of it must be valid JSON. `None` when there are more than 16,384 leaves, or more than 1 MiB of leaf text.
    ///
    /// ```
    /// use mcp_select::result::coverage::Coverage;
    ///
    /// let mut coverage = Coverage::new();
    /// let block: &[u8] = br#"{"type":"text","text":"Paris: 22.50 degrees"}"#;
    /// let measured = coverage.measure(br#"{"city":"PARIS","t":22.5,"wind":"north"}"#, [block].into_iter()).unwrap();
    /// assert_eq!((measured.covered, measured.total), (2, 3));
    /// assert_eq!(coverage.missing(), ["north"]);
    /// ```
    pub fn measure<'a>(&mut self, structured: &[u8], blocks: impl Iterator<Item = &'a [u8]>) -> Option<Measured> {
        self.measure_names(structured, false, blocks)
    }

    /// The same. `unique`: no object of the value has a member twice, as somebody has found out before; quicker.
    pub(crate) fn measure_names<'a>(
        &mut self,
        structured: &[u8],
        unique: bool,
        blocks: impl Iterator<Item = &'a [u8]>,
    ) -> Option<Measured> {
        self.named = 0;
        self.strings.start();
        if !self.leaves.collect(structured, unique) {
            return None;
        }
        self.read_blocks(blocks);
        self.search(structured);
        self.name_missing(structured);
        self.let_go();
        let total = self.leaves.strings.len() + self.leaves.numbers.len();
        let left = self.leaves.strings_left + self.leaves.numbers_left;
        Some(Measured { covered: u32::try_from(total - left).ok()?, total: u32::try_from(total).ok()? })
    }

    /// Up to five of the leaves that were missing, in the order of the value: strings as they were written, numbers as
    /// they were spelled, each cut to 80 characters.
    pub fn missing(&self) -> &[String] {
        self.missing.get(..self.named).unwrap_or_default()
    }

    /// Gathers the searched text, and covers what other strings equal.
    fn read_blocks<'a>(&mut self, blocks: impl Iterator<Item = &'a [u8]>) {
        self.text.clear();
        for block in blocks {
            let start = json::skip_space(block, 0);
            let whole = Span::new(start, block.len());
            if let Some(resource) = self.read_block(block, whole)
                && let Some(inner) = self.read_block(block, resource)
            {
                self.match_whole(inner.of(block));
            }
        }
    }

    /// Reads a block or its resource; returns its own member `resource`.
    fn read_block(&mut self, block: &[u8], value: Span) -> Option<Span> {
        if value.of(block).first() != Some(&b'{') {
            self.match_whole(value.of(block));
            return None;
        }
        // Of a repeated member the last counts: of each, where its text stands, or its value when that is no string.
        let mut texts = [Span::ABSENT; 4];
        let mut others = [Span::ABSENT; 4];
        let mut resource = None;
        let mut at = json::skip_space(block, value.start as usize + 1);
        while block.get(at) == Some(&b'"') {
            let (name_end, _) = fold::end_of_string(block, at + 1);
            let name = block.get(at + 1..name_end).unwrap_or_default();
            let colon = json::skip_space(block, name_end + 1);
            let start = json::skip_space(block, colon + 1);
            let searched = ["text", "name", "title", "description"].iter().position(|known| json::name_is(name, known));
            let place = searched.and_then(|place| Some((texts.get_mut(place)?, others.get_mut(place)?)));
            let end = match place {
                Some((text, other)) => {
                    let before = text.start as usize..text.end as usize;
                    self.text.get_mut(before).unwrap_or_default().fill(fold::BREAK);
                    (*text, *other) = (Span::ABSENT, Span::ABSENT);
                    if block.get(start) == Some(&b'"') {
                        let from = self.text.len();
                        let end = fold::decode_string_into(block, start + 1, &mut self.text) + 1;
                        *text = Span::new(from, self.text.len());
                        self.text.push(fold::BREAK);
                        end
                    } else {
                        *other = Span::new(start, json::skip_valid(block, start));
                        other.end as usize
                    }
                }
                None => {
                    let value = Span::new(start, json::skip_valid(block, start));
                    if json::name_is(name, "resource") {
                        resource = Some(value);
                    } else {
                        self.match_whole(value.of(block));
                    }
                    value.end as usize
                }
            };
            at = json::skip_space(block, end);
            if block.get(at) == Some(&b',') {
                at = json::skip_space(block, at + 1);
            }
        }
        for other in others {
            self.match_whole(other.of(block));
        }
        resource
    }

    /// Covers the leaves that a string in this value equals.
    fn match_whole(&mut self, value: &[u8]) {
        let mut at = 0;
        while let Some(quote) = memchr::memchr(b'"', value.get(at..).unwrap_or_default()) {
            let inside = Span::new(at + quote + 1, json::end_of_valid_string(value, at + quote + 1));
            at = inside.end as usize + 1;
            if self.leaves.strings_left == 0 {
                return;
            }
            if value.get(json::skip_space(value, at)) == Some(&b':') {
                continue; // a member name
            }
            self.other.clear();
            let spelled = fold::leaf_into(inside.of(value), self.leaves.longest, &mut self.other, &mut self.scratch);
            if let fold::Spelled::Text { .. } = spelled
                && let Some(index) = self.leaves.find_string(&self.other)
            {
                self.leaves.cover_string(index);
            }
        }
    }

    /// Searches the text in up to three forms; each later one only for what is still missing.
    fn search(&mut self, structured: &[u8]) {
        if self.text.is_empty() || !self.is_missing(false) {
            return;
        }
        self.text.extend_from_slice(&[fold::BREAK; 8]);
        self.folded.clear();
        fold::fold_into(&self.text, &mut self.folded);
        glance::find(&self.folded, structured, &mut self.leaves);
        self.search_form(Form::Folded, structured);

        // What is found in text as it stands is also in the text with its white space collapsed: only leaves with a
        // space may be found in addition.
        if self.is_missing(true) {
            self.spare.clear();
            near::collapse_into(&self.folded, &self.leaves, &mut self.spare);
            self.search_form(Form::Collapsed, structured);
        }

        if self.is_missing(false) {
            self.other.clear();
            if fold::unescape_into(&self.text, &mut self.other) {
                self.folded.clear();
                fold::fold_into(&self.other, &mut self.folded);
                self.spare.clear();
                fold::collapse_into(&self.folded, &mut self.spare);
                self.search_form(Form::Unescaped, structured);
            }
        }
    }

    fn is_missing(&self, spaced: bool) -> bool {
        if spaced {
            return self.leaves.strings.iter().any(|leaf| leaf.spaced && !leaf.covered);
        }
        self.leaves.strings_left + self.leaves.numbers_left > 0
    }

    fn search_form(&mut self, form: Form, structured: &[u8]) {
        let text = if form == Form::Folded { &self.folded } else { &self.spare };
        let only_spaced = form == Form::Collapsed;
        if self.leaves.strings_left > 0 {
            self.words.find(text, only_spaced, &mut self.leaves);
            self.strings.find(text, only_spaced, &mut self.leaves);
        }
        if !only_spaced {
            numbers::find(text, structured, &mut self.leaves, &mut self.decimal);
        }
    }

    fn name_missing(&mut self, structured: &[u8]) {
        let strings = self.leaves.strings.iter().filter(|leaf| !leaf.covered).map(|leaf| leaf.source);
        let numbers = self.leaves.numbers.iter().filter(|leaf| !leaf.covered).map(|leaf| leaf.source);
        let (mut strings, mut numbers) = (strings.peekable(), numbers.peekable());
        self.missing.resize_with(NAMED, String::new);
        for name in &mut self.missing {
            let next = match (strings.peek(), numbers.peek()) {
                (Some(string), Some(number)) if string.start < number.start => strings.next(),
                (Some(_), None) => strings.next(),
                _ => numbers.next(),
            };
            let Some(source) = next else { return };
            shorten_into(source.of(structured), name);
            self.named += 1;
        }
    }

    /// Gives back what an unusual result made too large to keep.
    fn let_go(&mut self) {
        for buffer in [&mut self.text, &mut self.folded, &mut self.spare, &mut self.other] {
            if buffer.capacity() > KEPT {
                *buffer = Vec::new();
            }
        }
    }

    /// What the search has done, in comparisons and steps: for tests.
    #[cfg(test)]
    fn work(&self) -> u64 {
        self.strings.work
    }
}

/// The forms of the searched text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Folded,
    /// Folded and white space collapsed, where that may help.
    Collapsed,
    /// JSON escapes undone, then folded and collapsed.
    Unescaped,
}

/// Writes a string as it stands between its quotes, or a number, with an ellipsis for what is too much.
fn shorten_into(raw: &[u8], out: &mut String) {
    out.clear();
    let mut characters = json::decoded(raw);
    let mut rest = characters.clone();
    if rest.by_ref().take(NAME_CHARACTERS).count() == NAME_CHARACTERS && rest.next().is_some() {
        out.extend(characters.by_ref().take(NAME_CHARACTERS - 1));
        out.push('…');
    } else {
        out.extend(characters);
    }
}
