//! The leaves of a structured value: its distinct strings and numbers, collected in one walk.
//!
//! Distinct means: after folding and collapsing for strings (`Berlin` and `BERLIN ` are one leaf), by exact value for
//! numbers (`1`, `1.0` and `10e-1` are one). Of a repeated member of an object only the last counts.
//!
//! Whether a text covers a leaf is decided elsewhere; here it is only remembered.

use std::hash::{BuildHasher, RandomState};

use super::fold::{self, Scratch, Spelled};
use super::numbers::{Decimal, Value};
use crate::result::json::{self, Span};

/// More distinct leaves are not measured.
pub const MAX_LEAVES: usize = 16_384;
/// More bytes of distinct strings (as compared) are not measured.
pub const MAX_LEAF_TEXT: usize = 1 << 20;
/// More members of objects that are open at once are not measured: each is remembered until its object ends.
const MAX_OPEN_MEMBERS: usize = 1 << 16;

/// How a string leaf is searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Under four characters: it must stand as a word of its own.
    Word,
    /// Anywhere in the text.
    Text,
}

#[derive(Clone, Copy, Debug)]
pub struct StringLeaf {
    start: u32,
    len: u32,
    pub kind: Kind,
    /// It has a space, which any run of white space matches.
    pub spaced: bool,
    pub covered: bool,
    /// The string where it first stands, between its quotes.
    pub source: Span,
}

#[derive(Clone, Copy, Debug)]
pub struct NumberLeaf {
    pub value: Value,
    more: Span,
    pub covered: bool,
    /// The number where it first stands.
    pub source: Span,
}

#[derive(Default)]
pub struct Leaves {
    pub strings: Vec<StringLeaf>,
    pub numbers: Vec<NumberLeaf>,
    pub strings_left: usize,
    pub numbers_left: usize,
    /// The bytes of the longest string.
    pub longest: usize,
    text: Vec<u8>,
    digits: Vec<u8>,
    string_table: Table,
    number_table: Table,
    key: Key,
    decimal: Decimal,
    name: Vec<u8>,
    scratch: Scratch,
    hashes: Vec<u64>,
    members: Vec<Member>,
    objects: Vec<u32>,
    superseded: Vec<u32>,
}

/// What is made of the names of members.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Nothing: none comes twice in its object.
    Unique,
    /// The values that a later member of the same name supersedes are noted.
    Watch,
    /// These values are passed over.
    Skip,
}

/// A member of an object that has not ended yet.
#[derive(Clone, Copy)]
struct Member {
    hash: u64,
    name: Span,
    value: u32,
}

impl Leaves {
    /// Collects the leaves of a valid JSON text; false when they are over budget. `unique`: no object of it has a member
    /// twice.
    pub fn collect(&mut self, json: &[u8], unique: bool) -> bool {
        self.superseded.clear();
        if !self.walk(json, if unique { Names::Unique } else { Names::Watch }) {
            return false;
        }
        if !self.superseded.is_empty() {
            // Rare: once more, without the values that a later member of the same name takes the place of.
            self.superseded.sort_unstable();
            return self.walk(json, Names::Skip);
        }
        true
    }

    /// One pass over the tokens.
    fn walk(&mut self, json: &[u8], names: Names) -> bool {
        self.clear(json.len());
        let mut skips = 0;
        let mut at = 0;
        // One bit for each open container, the innermost lowest: 1 = object.
        let mut nesting: u128 = 0;
        let mut name_next = false;
        while let Some(&byte) = json.get(at) {
            at += 1;
            match byte {
                b'"' if name_next => {
                    name_next = false;
                    if names == Names::Unique {
                        at = json::end_of_valid_string(json, at) + 1;
                        continue;
                    }
                    let (end, escaped) = fold::end_of_string(json, at);
                    let name = Span::new(at, end);
                    let colon = json::skip_space(json, end + 1);
                    at = json::skip_space(json, colon + 1);
                    if names == Names::Watch {
                        if self.members.len() >= MAX_OPEN_MEMBERS {
                            return false;
                        }
                        let hash = self.hash_of_name(name.of(json), escaped);
                        self.members.push(Member { hash, name, value: Span::new(at, at).start });
                    } else {
                        while self.superseded.get(skips).is_some_and(|&value| (value as usize) < at) {
                            skips += 1;
                        }
                        if self.superseded.get(skips).is_some_and(|&value| value as usize == at) {
                            at = json::skip_valid(json, at);
                        }
                    }
                }
                b'"' => match self.add_string(json, at) {
                    Some(end) => at = end + 1,
                    None => return false,
                },
                b'-' | b'0'..=b'9' => {
                    let start = at - 1;
                    while json.get(at).is_some_and(|&b| is_of_number(b)) {
                        at += 1;
                    }
                    if !self.add_number(json, Span::new(start, at)) {
                        return false;
                    }
                }
                b',' => name_next = nesting & 1 == 1,
                b'{' => {
                    nesting = nesting << 1 | 1;
                    name_next = true;
                    if names == Names::Watch {
                        self.objects.push(Span::new(self.members.len(), 0).start);
                    }
                }
                b'[' => {
                    nesting <<= 1;
                    name_next = false;
                }
                b'}' => {
                    nesting >>= 1;
                    if names == Names::Watch {
                        self.end_object(json);
                    }
                }
                b']' => nesting >>= 1,
                _ => {}
            }
        }
        self.strings_left = self.strings.len();
        self.numbers_left = self.numbers.len();
        true
    }

    fn clear(&mut self, size: usize) {
        self.strings.clear();
        self.numbers.clear();
        self.text.clear();
        self.digits.clear();
        // Few values have a leaf in less than 16 bytes, so the tables seldom grow.
        self.string_table.clear(size / 8);
        self.number_table.clear(size / 32);
        self.members.clear();
        self.objects.clear();
        (self.strings_left, self.numbers_left, self.longest) = (0, 0, 0);
    }

    /// Notes the values of the innermost object that a later member supersedes, and forgets the object.
    fn end_object(&mut self, json: &[u8]) {
        let from = self.objects.pop().unwrap_or_default() as usize;
        let Some(members) = self.members.get_mut(from..) else { return };
        if any_alike(members, &mut self.hashes) {
            members.sort_unstable_by_key(|member| (member.hash, member.name.start));
            for alike in members.chunk_by(|a, b| a.hash == b.hash) {
                // From the last to the first; nearly always all have one name.
                let mut last_of_each: Vec<Span> = Vec::new();
                for member in alike.iter().rev() {
                    let name = member.name.of(json);
                    if last_of_each.iter().any(|last| json::decoded(last.of(json)).eq(json::decoded(name))) {
                        self.superseded.push(member.value);
                    } else {
                        last_of_each.push(member.name);
                    }
                }
            }
        }
        self.members.truncate(from);
    }

    fn hash_of_name(&mut self, name: &[u8], escaped: bool) -> u64 {
        if !escaped {
            return self.key.hash(name);
        }
        self.name.clear();
        json::decode_into(name, &mut self.name);
        self.key.hash(&self.name)
    }

    /// Adds the string whose inside starts at `at`; returns where it ends. `None`: over budget.
    fn add_string(&mut self, json: &[u8], at: usize) -> Option<usize> {
        let start = self.text.len();
        let most = MAX_LEAF_TEXT.saturating_sub(start);
        let (source, kind, spaced) = match fold::plain_leaf_into(json, at, &mut self.text) {
            Some((end, spaced)) if end - at <= most => (Span::new(at, end), kind(end - at), spaced),
            _ => {
                self.text.truncate(start);
                let source = Span::new(at, json::end_of_valid_string(json, at));
                let end = source.end as usize;
                match fold::leaf_into(source.of(json), most, &mut self.text, &mut self.scratch) {
                    Spelled::Blank => return Some(end),
                    Spelled::TooLong => return self.is_known(json, source, start).then_some(end),
                    Spelled::Text { characters, spaced } => (source, kind(characters), spaced),
                }
            }
        };
        let end = source.end as usize;
        let (known, text) = self.text.split_at_checked(start).unwrap_or_default();
        let index = self.strings.len();
        let same = |i: usize| self.strings.get(i).is_some_and(|leaf| leaf.span().of(known) == text);
        let length = text.len();
        if self.string_table.find_or_insert(self.key.hash(text), index, same).is_some() {
            self.text.truncate(start);
            return Some(end);
        }
        let span = Span::new(start, start + length);
        let len = span.end - span.start;
        self.strings.push(StringLeaf { start: span.start, len, kind, spaced, covered: false, source });
        self.longest = self.longest.max(length);
        (self.strings.len() + self.numbers.len() <= MAX_LEAVES).then_some(end)
    }

    /// Whether a string that the budget has no room for is a leaf already, or none.
    fn is_known(&mut self, json: &[u8], source: Span, start: usize) -> bool {
        self.text.truncate(start);
        let mut text = Vec::new();
        match fold::leaf_into(source.of(json), self.longest, &mut text, &mut self.scratch) {
            Spelled::Blank => true,
            Spelled::TooLong => false,
            Spelled::Text { .. } => self.find_string(&text).is_some(),
        }
    }

    fn add_number(&mut self, json: &[u8], source: Span) -> bool {
        let value = self.decimal.read(source.of(json));
        let more = self.decimal.more();
        let index = self.numbers.len();
        let same = |i: usize| {
            self.numbers.get(i).is_some_and(|leaf| leaf.value == value && leaf.more.of(&self.digits) == more)
        };
        if self.number_table.find_or_insert(self.key.hash_number(value, more), index, same).is_some() {
            return true;
        }
        let start = self.digits.len();
        self.digits.extend_from_slice(more);
        let more = Span::new(start, self.digits.len());
        self.numbers.push(NumberLeaf { value, more, covered: false, source });
        self.strings.len() + self.numbers.len() <= MAX_LEAVES && self.digits.len() <= MAX_LEAF_TEXT
    }

    /// The bytes of a string leaf, as they are compared.
    #[inline]
    pub fn text(&self, leaf: &StringLeaf) -> &[u8] {
        leaf.span().of(&self.text)
    }

    /// The bytes of a string leaf by its number.
    #[inline]
    pub fn text_of(&self, index: usize) -> &[u8] {
        self.strings.get(index).map(|leaf| self.text(leaf)).unwrap_or_default()
    }

    #[inline]
    pub fn is_covered(&self, index: usize) -> bool {
        self.strings.get(index).is_none_or(|leaf| leaf.covered)
    }

    /// The number of the string leaf that is spelled so.
    #[inline]
    pub fn find_string(&self, text: &[u8]) -> Option<usize> {
        let same = |i: usize| self.strings.get(i).is_some_and(|leaf| leaf.span().of(&self.text) == text);
        self.string_table.find(self.key.hash(text), same)
    }

    #[inline]
    pub fn cover_string(&mut self, index: usize) {
        if let Some(leaf) = self.strings.get_mut(index)
            && !leaf.covered
        {
            leaf.covered = true;
            self.strings_left -= 1;
        }
    }

    /// Covers the number leaf of this value, if there is one.
    #[inline]
    pub fn cover_value(&mut self, value: Value, more: &[u8]) {
        let same = |i: usize| {
            self.numbers.get(i).is_some_and(|leaf| leaf.value == value && leaf.more.of(&self.digits) == more)
        };
        if let Some(index) = self.number_table.find(self.key.hash_number(value, more), same) {
            self.cover_number(index);
        }
    }

    pub fn cover_number(&mut self, index: usize) {
        if let Some(leaf) = self.numbers.get_mut(index)
            && !leaf.covered
        {
            leaf.covered = true;
            self.numbers_left -= 1;
        }
    }
}

impl StringLeaf {
    #[inline]
    fn span(&self) -> Span {
        Span { start: self.start, end: self.start + self.len }
    }
}

fn kind(characters: usize) -> Kind {
    if characters < 4 { Kind::Word } else { Kind::Text }
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Whether two members may have one name. Most objects are small: comparing all pairs is quicker than sorting.
fn any_alike(members: &[Member], hashes: &mut Vec<u64>) -> bool {
    if members.len() > 16 {
        hashes.clear();
        hashes.extend(members.iter().map(|member| member.hash));
        hashes.sort_unstable();
        return hashes.windows(2).any(|pair| pair.first() == pair.last());
    }
    let mut rest = members;
    while let Some((member, others)) = rest.split_first() {
        if others.iter().fold(false, |any, other| any | (other.hash == member.hash)) {
            return true;
        }
        rest = others;
    }
    false
}

/// A key that a server cannot know, so that it cannot choose leaves that collide. No answer depends on it.
#[derive(Clone, Copy)]
struct Key {
    seed: u64,
    factor: u64,
}

impl Default for Key {
    fn default() -> Key {
        let random = RandomState::new();
        Key { seed: random.hash_one(1), factor: random.hash_one(2) | 1 }
    }
}

impl Key {
    #[inline]
    fn hash(self, bytes: &[u8]) -> u64 {
        let mut hash = self.mix(self.seed, u64::try_from(bytes.len()).unwrap_or_default());
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            hash = self.mix(hash, u64::from_le_bytes(*word));
        }
        let tail = rest.iter().fold(0, |tail, &byte| tail << 8 | u64::from(byte));
        self.mix(hash, tail)
    }

    #[inline]
    fn hash_number(self, value: Value, more: &[u8]) -> u64 {
        let exponent = value.exponent.cast_unsigned() << 1 | u64::from(value.negative);
        let hash = self.mix(self.mix(self.seed, value.mantissa), exponent);
        if more.is_empty() { hash } else { self.mix(hash, self.hash(more)) }
    }

    /// The two halves of a product, one over the other.
    #[inline]
    fn mix(self, hash: u64, word: u64) -> u64 {
        let product = u128::from(hash ^ word) * u128::from(self.factor);
        let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or_default();
        half(product) ^ half(product >> 64)
    }
}

/// Numbers of leaves by hash: open addressing, never more than half full.
#[derive(Default)]
struct Table {
    /// Half a hash, then the number of the leaf plus one; 0 is an empty place. Only the first `size` are in use.
    places: Vec<u64>,
    size: usize,
    used: usize,
    growing: Vec<u64>,
}

impl Table {
    fn clear(&mut self, size: usize) {
        self.resize(size.clamp(32, 2 * MAX_LEAVES).next_power_of_two());
        self.used = 0;
    }

    fn resize(&mut self, size: usize) {
        if self.places.len() < size {
            self.places.resize(size, 0);
        }
        self.places.get_mut(..size).unwrap_or_default().fill(0);
        self.size = size;
    }

    #[inline]
    fn find(&self, hash: u64, same: impl Fn(usize) -> bool) -> Option<usize> {
        let half = hash >> 32;
        let mut at = half;
        loop {
            let &place = self.places.get(usize::try_from(at).unwrap_or_default() & (self.size.wrapping_sub(1)))?;
            if place == 0 {
                return None;
            }
            let index = usize::try_from(place & 0xFFFF_FFFF).unwrap_or_default() - 1;
            if place >> 32 == half && same(index) {
                return Some(index);
            }
            at += 1;
        }
    }

    /// The leaf with this hash that is the same; without one, `index` is put there.
    fn find_or_insert(&mut self, hash: u64, index: usize, same: impl Fn(usize) -> bool) -> Option<usize> {
        let found = self.find(hash, same);
        if found.is_none() {
            if self.used * 2 >= self.size {
                self.grow();
            }
            self.put((hash >> 32) << 32 | (u64::try_from(index).unwrap_or_default() + 1));
            self.used += 1;
        }
        found
    }

    fn put(&mut self, entry: u64) {
        let mut at = usize::try_from(entry >> 32).unwrap_or_default();
        while let Some(place) = self.places.get_mut(at & (self.size.wrapping_sub(1))) {
            if *place == 0 {
                *place = entry;
                return;
            }
            at += 1;
        }
    }

    fn grow(&mut self) {
        let mut entries = std::mem::take(&mut self.growing);
        entries.clear();
        entries.extend(self.places.iter().take(self.size).filter(|&&entry| entry != 0));
        self.resize(self.size * 4);
        for &entry in &entries {
            self.put(entry);
        }
        self.growing = entries;
    }
}
