//! Whether two JSON texts are the same value, told from the bytes.
//!
//! Member order, white space and escapes do not matter, numbers are compared by exact value, and of members with the
//! same name the last counts. No tree is built: both texts are walked side by side as long as their members come in
//! the same order. Where they do not, the members are sorted by name first ([`Index`]), so that hostile input costs no
//! more than n log n.
//!
//! Which texts are compared with what is said in `mirror`.

use std::cmp::Ordering;
use std::fmt::{self, Write};

use super::json::{self, Span, skip_space};

/// How values are compared.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Rules {
    /// Numbers as the doubles that JavaScript reads: `9007199254740993` is `9007199254740992`, and `-0` is not `0`.
    pub doubles: bool,
    /// A member that is null is as good as absent.
    pub null_is_absent: bool,
}

/// Whether two valid JSON texts are the same value. White space may stand around them.
pub fn json_equal(left: &[u8], right: &[u8]) -> bool {
    EqualityScratch::default().equal(left, right, Rules::default())
}

/// Buffers that are used again from call to call.
#[derive(Default, Debug)]
pub struct EqualityScratch {
    open: Vec<Open>,
    pairs: Vec<Pair>,
    left: Index,
    right: Index,
    /// `right` is about the right text.
    right_is_indexed: bool,
    /// Later members of the right text were looked through once.
    right_was_searched: bool,
    /// How many bytes were read beyond one walk over the left text.
    work: usize,
}

/// A container that is open on both sides while they are walked side by side.
#[derive(Clone, Copy, Debug)]
struct Open {
    is_object: bool,
    left: usize,
    right: usize,
    /// Its number among the objects of the right text.
    right_object: usize,
    /// The member that is being compared, in the left text.
    name: Span,
}

/// What comes next when both sides are walked.
enum Next {
    Value,
    Name,
    /// A value has ended on both sides.
    After,
    /// The members of the innermost object are not the same in this order.
    OtherMembers,
    /// The values that start here are not the same.
    Different,
}

impl EqualityScratch {
    /// Like [`json_equal`], by other rules.
    ///
    /// Text that is no JSON is the same as none that is, or is taken for one it resembles: whoever is not sure
    /// validates it when the answer is yes.
    pub fn equal(&mut self, left: &[u8], right: &[u8], rules: Rules) -> bool {
        self.expect_other_right();
        self.equal_again(left, right, rules)
    }

    /// Forgets what is known about the right text.
    pub fn expect_other_right(&mut self) {
        self.right_is_indexed = false;
        self.right_was_searched = false;
        self.work = 0;
    }

    /// How many bytes were read beyond one walk over each left text, since the right text is this one.
    pub fn work(&self) -> usize {
        self.work
    }

    /// [`equal`](Self::equal) with the same right text and rules as before.
    pub fn equal_again(&mut self, left: &[u8], right: &[u8], rules: Rules) -> bool {
        self.open.clear();
        let (mut l, mut r) = (skip_space(left, 0), skip_space(right, 0));
        let mut right_objects = 0;
        // Whether the innermost container is an object.
        let mut in_object = false;
        let mut next = Next::Value;
        loop {
            next = match next {
                Next::Value => match (left.get(l), right.get(r)) {
                    (Some(&byte @ (b'{' | b'[')), Some(&other)) if byte == other => {
                        let is_object = byte == b'{';
                        let right_object = right_objects;
                        self.open.push(Open { is_object, left: l, right: r, right_object, name: Span::ABSENT });
                        if self.open.len() > json::MAX_DEPTH as usize {
                            return false;
                        }
                        right_objects += usize::from(is_object);
                        in_object = is_object;
                        l = skip_space(left, l + 1);
                        r = skip_space(right, r + 1);
                        let close = if is_object { b'}' } else { b']' };
                        match (left.get(l) == Some(&close), right.get(r) == Some(&close)) {
                            (false, false) if is_object => Next::Name,
                            (false, false) => Next::Value,
                            _ => Next::After,
                        }
                    }
                    _ => match self.same_scalar(left, l, right, r, rules) {
                        Some(ends) => {
                            (l, r) = ends;
                            Next::After
                        }
                        None => Next::Different,
                    },
                },
                Next::Name => match same_name(left, l, right, r) {
                    Some((name, l_value, r_value)) => {
                        (l, r) = (l_value, r_value);
                        if let Some(object) = self.open.last_mut() {
                            object.name = name;
                        }
                        Next::Value
                    }
                    None => Next::OtherMembers,
                },
                Next::After => {
                    if self.open.is_empty() {
                        return true;
                    }
                    l = skip_space(left, l);
                    r = skip_space(right, r);
                    match (left.get(l), right.get(r)) {
                        (Some(b','), Some(b',')) => {
                            l = skip_space(left, l + 1);
                            r = skip_space(right, r + 1);
                            if in_object { Next::Name } else { Next::Value }
                        }
                        (Some(a @ (b'}' | b']')), Some(b)) if a == b => {
                            self.open.pop();
                            in_object = self.is_in_object();
                            (l, r) = (l + 1, r + 1);
                            Next::After
                        }
                        _ if in_object => Next::OtherMembers,
                        _ => {
                            let Some(array) = self.open.pop() else { return false };
                            (l, r) = (array.left, array.right);
                            Next::Different
                        }
                    }
                }
                Next::OtherMembers => {
                    let Some(object) = self.open.pop() else { return false };
                    in_object = self.is_in_object();
                    (l, r) = (object.left, object.right);
                    let known = self.index_left(left, l, rules) && self.index_right(right, rules);
                    match known.then(|| self.same_indexed(left, l, right, r, object.right_object, rules)).flatten() {
                        Some((l_end, r_end, passed)) => {
                            (l, r, right_objects) = (l_end, r_end, passed);
                            Next::After
                        }
                        None => Next::Different,
                    }
                }
                Next::Different => return self.counts_for_nothing(left, l, right, r, rules),
            };
        }
    }

    fn is_in_object(&self) -> bool {
        self.open.last().is_some_and(|container| container.is_object)
    }

    /// After a difference in the values at `l` and `r`: whether the texts are the same all the same, because a later
    /// member of the same name counts instead, there or in an object around.
    #[cold]
    fn counts_for_nothing(&mut self, left: &[u8], l: usize, right: &[u8], r: usize, rules: Rules) -> bool {
        if !self.open.iter().any(|container| container.is_object) {
            return false;
        }
        self.work += left.len().saturating_sub(l);
        let repeats = name_comes_again(left, l, &self.open, left)
            || if self.right_was_searched {
                self.index_right(right, rules) && self.right.has_repeats
            } else {
                self.right_was_searched = true;
                self.work += right.len().saturating_sub(r);
                name_comes_again(right, r, &self.open, left)
            };
        let (l, r) = (skip_space(left, 0), skip_space(right, 0));
        repeats
            && self.index_left(left, l, rules)
            && self.index_right(right, rules)
            && self.same_indexed(left, l, right, r, 0, rules).is_some()
    }

    fn index_left(&mut self, left: &[u8], start: usize, rules: Rules) -> bool {
        let end = self.left.build(left, start, rules.null_is_absent);
        self.work += end.unwrap_or(left.len()).saturating_sub(start);
        end.is_some()
    }

    fn index_right(&mut self, right: &[u8], rules: Rules) -> bool {
        if !self.right_is_indexed {
            self.work += right.len();
            self.right_is_indexed = self.right.build(right, skip_space(right, 0), rules.null_is_absent).is_some();
        }
        self.right_is_indexed
    }

    /// Where the strings, numbers or literals that start at `l` and `r` end, if they are the same.
    #[inline(always)]
    fn same_scalar(&mut self, left: &[u8], l: usize, right: &[u8], r: usize, rules: Rules) -> Option<(usize, usize)> {
        match (left.get(l)?, right.get(r)?) {
            (b'"', b'"') => same_string(left, l + 1, right, r + 1),
            (b'-' | b'0'..=b'9', b'-' | b'0'..=b'9') => {
                let (l_end, r_end) = (end_of_number(left, l), end_of_number(right, r));
                self.work += r_end - r;
                let (a, b) = (left.get(l..l_end)?, right.get(r..r_end)?);
                let same = a == b || if rules.doubles { doubles_equal(a, b) } else { numbers_equal(a, b) };
                same.then_some((l_end, r_end))
            }
            (a @ (b't' | b'f' | b'n'), b) if a == b => {
                let length = if *a == b'f' { 5 } else { 4 };
                Some((l + length, r + length))
            }
            _ => None,
        }
    }
}

/// The span of the name at `l`, and where the values start, if the name at `r` is the same.
#[inline(always)]
fn same_name(left: &[u8], l: usize, right: &[u8], r: usize) -> Option<(Span, usize, usize)> {
    if left.get(l) != Some(&b'"') || right.get(r) != Some(&b'"') {
        return None;
    }
    let (l_end, r_end) = same_string(left, l + 1, right, r + 1)?;
    Some((Span::new(l + 1, l_end - 1), value_after_name(left, l_end)?, value_after_name(right, r_end)?))
}

#[inline(always)]
fn value_after_name(bytes: &[u8], at: usize) -> Option<usize> {
    let colon = skip_space(bytes, at);
    (bytes.get(colon) == Some(&b':')).then(|| skip_space(bytes, colon + 1))
}

/// Whether a member that is being compared comes again in its object, after the value at `at`. The names are in `left`.
fn name_comes_again(bytes: &[u8], at: usize, open: &[Open], left: &[u8]) -> bool {
    let mut at = json::skip_valid(bytes, at);
    for container in open.iter().rev() {
        loop {
            at = skip_space(bytes, at);
            match bytes.get(at) {
                Some(b',') => at = skip_space(bytes, at + 1),
                Some(b'}' | b']') => break,
                _ => return false,
            }
            if container.is_object {
                let end = json::end_of_valid_string(bytes, at + 1);
                if compare_strings(bytes.get(at + 1..end).unwrap_or_default(), container.name.of(left)).is_eq() {
                    return true;
                }
                let Some(value) = value_after_name(bytes, end + 1) else { return false };
                at = value;
            }
            at = json::skip_valid(bytes, at);
        }
        at += 1;
    }
    false
}

// ---- members in any order -------------------------------------------------------------------------------

/// The objects of a text in the order they start, each with its members by name, each name once.
#[derive(Default, Debug)]
struct Index {
    objects: Vec<Object>,
    members: Vec<Member>,
    /// Members of the objects that are open.
    pending: Vec<Member>,
    unclosed: Vec<Unclosed>,
    has_repeats: bool,
}

#[derive(Clone, Copy, Default, Debug)]
struct Object {
    /// The position after it.
    end: u32,
    /// The number of the first object that starts after it.
    next: u32,
    /// Its members in [`Index::members`].
    first: u32,
    count: u32,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    name: Span,
    /// The first eight bytes it spells, which sort as the names do.
    key: u64,
    /// Where the value starts.
    value: u32,
    /// The number of the first object that starts there or after.
    object: u32,
}

#[derive(Clone, Copy, Debug)]
struct Unclosed {
    /// The number of the object; arrays have none.
    object: Option<usize>,
    first: usize,
}

/// A container that is open on both sides while they are compared by their index.
#[derive(Clone, Copy, Debug)]
enum Pair {
    Array,
    Object { left: Object, right: Object, done: u32 },
}

impl Member {
    fn compare(&self, bytes: &[u8], other: &Member, other_bytes: &[u8]) -> Ordering {
        self.key.cmp(&other.key).then_with(|| compare_strings(self.name.of(bytes), other.name.of(other_bytes)))
    }
}

/// The first eight bytes that a string spells, as a number that sorts as they do; a shorter one is filled with zeros.
#[inline(always)]
fn first_eight(raw: &[u8]) -> u64 {
    let mut eight = [0; 8];
    let some = raw.get(..8).unwrap_or(raw);
    if some.contains(&b'\\') {
        let mut decoded = json::decoded(raw).flat_map(|c| {
            let mut utf8 = [0; 4];
            let length = c.encode_utf8(&mut utf8).len();
            utf8.into_iter().take(length)
        });
        eight = eight.map(|_| decoded.next().unwrap_or_default());
    } else {
        eight.iter_mut().zip(some).for_each(|(to, from)| *to = *from);
    }
    u64::from_be_bytes(eight)
}

fn short(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Index {
    /// Indexes the value that starts at `start`; returns where it ends.
    fn build(&mut self, bytes: &[u8], start: usize, null_is_absent: bool) -> Option<usize> {
        self.objects.clear();
        self.members.clear();
        self.pending.clear();
        self.unclosed.clear();
        self.has_repeats = false;
        let mut at = start;
        let mut name_comes = false;
        loop {
            match *bytes.get(at)? {
                b'"' => {
                    let end = json::end_of_valid_string(bytes, at + 1);
                    if name_comes {
                        name_comes = false;
                        let value = value_after_name(bytes, end + 1)?;
                        let name = Span::new(at + 1, end);
                        let key = first_eight(name.of(bytes));
                        self.pending.push(Member { name, key, value: short(value), object: short(self.objects.len()) });
                        at = value;
                        continue;
                    }
                    at = end + 1;
                }
                byte @ (b'{' | b'[') => {
                    name_comes = byte == b'{';
                    let object = name_comes.then_some(self.objects.len());
                    if name_comes {
                        self.objects.push(Object::default());
                    }
                    self.unclosed.push(Unclosed { object, first: self.pending.len() });
                    if self.unclosed.len() > json::MAX_DEPTH as usize {
                        return None;
                    }
                    at += 1;
                    continue;
                }
                b'}' | b']' => {
                    name_comes = false;
                    let container = self.unclosed.pop()?;
                    at += 1;
                    if let Some(object) = container.object {
                        self.close(bytes, object, container.first, at, null_is_absent);
                    }
                }
                b',' => {
                    name_comes = self.unclosed.last()?.object.is_some();
                    at += 1;
                    continue;
                }
                b' ' | b'\n' | b'\r' | b'\t' => {
                    at += 1;
                    continue;
                }
                _ => at = json::skip_valid(bytes, at),
            }
            if self.unclosed.is_empty() {
                return Some(at);
            }
        }
    }

    fn close(&mut self, bytes: &[u8], object: usize, first: usize, end: usize, null_is_absent: bool) {
        let start = self.members.len();
        let members = self.pending.get_mut(first..).unwrap_or_default();
        let by_name = |a: &Member, b: &Member| a.compare(bytes, b, bytes);
        members.sort_unstable_by(|a, b| by_name(a, b).then(a.value.cmp(&b.value)));
        let mut later = members.iter().skip(1);
        for member in members.iter() {
            if later.next().is_some_and(|next| by_name(member, next).is_eq()) {
                self.has_repeats = true;
            } else if !null_is_absent || bytes.get(member.value as usize) != Some(&b'n') {
                self.members.push(*member);
            }
        }
        self.pending.truncate(first);
        let next = short(self.objects.len());
        if let Some(object) = self.objects.get_mut(object) {
            let count = short(self.members.len() - start);
            *object = Object { end: short(end), next, first: short(start), count };
        }
    }

    fn member(&self, object: Object, number: u32) -> Option<&Member> {
        self.members.get(object.first as usize + number as usize)
    }
}

impl EqualityScratch {
    /// Where the values end that start at `l` and `r`, and how many objects of the right text have started by then,
    /// if they are the same. Both sides are indexed, the left one from `l` on.
    fn same_indexed(
        &mut self,
        left: &[u8],
        mut l: usize,
        right: &[u8],
        mut r: usize,
        right_object: usize,
        rules: Rules,
    ) -> Option<(usize, usize, usize)> {
        let (mut l_object, mut r_object) = (0, right_object);
        self.pairs.clear();
        loop {
            match (left.get(l)?, right.get(r)?) {
                (b'{', b'{') => {
                    let (a, b) = (*self.left.objects.get(l_object)?, *self.right.objects.get(r_object)?);
                    if a.count != b.count {
                        return None;
                    }
                    self.pairs.push(Pair::Object { left: a, right: b, done: 0 });
                }
                (b'[', b'[') => {
                    self.pairs.push(Pair::Array);
                    (l, r) = (skip_space(left, l + 1), skip_space(right, r + 1));
                    if left.get(l)? != &b']' && right.get(r)? != &b']' {
                        continue;
                    }
                }
                _ => (l, r) = self.same_scalar(left, l, right, r, rules)?,
            }
            // On to the next value of the innermost container that has one.
            loop {
                match self.pairs.last_mut() {
                    None => return Some((l, r, r_object)),
                    Some(Pair::Array) => {
                        (l, r) = (skip_space(left, l), skip_space(right, r));
                        match (left.get(l)?, right.get(r)?) {
                            (b',', b',') => {
                                (l, r) = (skip_space(left, l + 1), skip_space(right, r + 1));
                                break;
                            }
                            (b']', b']') => (l, r) = (l + 1, r + 1),
                            _ => return None,
                        }
                    }
                    Some(Pair::Object { left: a, right: b, done }) if *done < a.count => {
                        let (x, y) = (self.left.member(*a, *done)?, self.right.member(*b, *done)?);
                        if x.compare(left, y, right).is_ne() {
                            return None;
                        }
                        *done += 1;
                        (l, r) = (x.value as usize, y.value as usize);
                        (l_object, r_object) = (x.object as usize, y.object as usize);
                        break;
                    }
                    Some(Pair::Object { left: a, right: b, .. }) => {
                        (l, r) = (a.end as usize, b.end as usize);
                        (l_object, r_object) = (a.next as usize, b.next as usize);
                    }
                }
                self.pairs.pop();
            }
        }
    }
}

// ---- strings --------------------------------------------------------------------------------------------

/// Compares two strings as they stand between their quotes by code point, escapes undone. A lone surrogate is U+FFFD.
pub fn compare_strings(left: &[u8], right: &[u8]) -> Ordering {
    let (mut l, mut r) = (0, 0);
    loop {
        let same = same_plain(left, l, right, r);
        l += same;
        r += same;
        match (left.get(l), right.get(r)) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            // Bytes of UTF-8 are in the order of code points.
            (Some(&a), Some(&b)) if a != b && a != b'\\' && b != b'\\' => return a.cmp(&b),
            (Some(_), Some(_)) => {
                let (a, a_length) = character(left, l);
                let (b, b_length) = character(right, r);
                if a != b {
                    return a.cmp(&b);
                }
                l += a_length;
                r += b_length;
            }
        }
    }
}

/// The positions after the closing quotes of two strings whose insides start at `l` and `r`, if they are the same.
#[inline(always)]
fn same_string(left: &[u8], mut l: usize, right: &[u8], mut r: usize) -> Option<(usize, usize)> {
    loop {
        let same = same_plain(left, l, right, r);
        l += same;
        r += same;
        match (*left.get(l)?, *right.get(r)?) {
            (b'"', b'"') => return Some((l + 1, r + 1)),
            (b'"', _) | (_, b'"') => return None,
            (a, b) if a != b'\\' && b != b'\\' => return None,
            _ => (l, r) = same_character(left, l, right, r)?,
        }
    }
}

/// The positions after two spellings of one character, of which at least one is an escape.
fn same_character(left: &[u8], l: usize, right: &[u8], r: usize) -> Option<(usize, usize)> {
    let (a, a_length) = character(left, l);
    let (b, b_length) = character(right, r);
    (a == b).then_some((l + a_length, r + b_length))
}

/// The character at `at` and how many bytes spell it.
fn character(bytes: &[u8], at: usize) -> (char, usize) {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.first() == Some(&b'\\') {
        return json::decode_escape(rest, 0);
    }
    let c = json::decoded(rest).next().unwrap_or(char::REPLACEMENT_CHARACTER);
    (c, c.len_utf8())
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// How many bytes are the same from `l` and `r` on and no quote or backslash.
#[inline(always)]
fn same_plain(left: &[u8], l: usize, right: &[u8], r: usize) -> usize {
    // The lowest mark is true; higher ones may not be.
    let zero = |v: u64| v.wrapping_sub(ONES) & !v & HIGHS;
    let word = |bytes: &[u8], at: usize| bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes);
    let mut same = 0;
    while let (Some(a), Some(b)) = (word(left, l + same), word(right, r + same)) {
        let stops = (a ^ b) | zero(a ^ (ONES * u64::from(b'"'))) | zero(a ^ (ONES * u64::from(b'\\')));
        if stops != 0 {
            return same + (stops.trailing_zeros() / 8) as usize;
        }
        same += 8;
    }
    while let (Some(a), Some(b)) = (left.get(l + same), right.get(r + same)) {
        if a != b || *a == b'"' || *a == b'\\' {
            break;
        }
        same += 1;
    }
    same
}

// ---- numbers --------------------------------------------------------------------------------------------

#[inline(always)]
fn end_of_number(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) {
        at += 1;
    }
    at
}

/// Whether two JSON numbers have the same value, whatever their size: `1.0` is `10e-1`, and `-0` is `0`.
pub fn numbers_equal(a: &[u8], b: &[u8]) -> bool {
    if a == b {
        return true;
    }
    let (a, b) = (Decimal::read(a), Decimal::read(b));
    match (a.is_zero(), b.is_zero()) {
        (true, true) => true,
        (false, false) => a.negative == b.negative && a.same_digits(&b) && a.same_magnitude(&b),
        _ => false,
    }
}

fn doubles_equal(a: &[u8], b: &[u8]) -> bool {
    double(a).map(f64::to_bits) == double(b).map(f64::to_bits)
}

fn double(raw: &[u8]) -> Option<f64> {
    std::str::from_utf8(raw).ok()?.parse().ok()
}

/// A JSON number in parts.
struct Decimal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent_negative: bool,
    exponent: &'a [u8],
}

impl<'a> Decimal<'a> {
    fn read(raw: &'a [u8]) -> Decimal<'a> {
        let negative = raw.first() == Some(&b'-');
        let raw = raw.get(usize::from(negative)..).unwrap_or_default();
        let cut = |raw: &'a [u8], is_mark: fn(&u8) -> bool| match raw.iter().position(is_mark) {
            Some(at) => (raw.get(..at).unwrap_or_default(), raw.get(at + 1..).unwrap_or_default()),
            None => (raw, &[][..]),
        };
        let (mantissa, exponent) = cut(raw, |b| matches!(b, b'e' | b'E'));
        let (whole, fraction) = cut(mantissa, |b| *b == b'.');
        let exponent_negative = exponent.first() == Some(&b'-');
        let signed = matches!(exponent.first(), Some(b'-' | b'+'));
        let exponent = exponent.get(usize::from(signed)..).unwrap_or_default();
        Decimal { negative, whole, fraction, exponent_negative, exponent }
    }

    fn digits(&self) -> impl Iterator<Item = u8> + use<'a> {
        self.whole.iter().chain(self.fraction).copied()
    }

    fn is_zero(&self) -> bool {
        self.digits().all(|digit| digit == b'0')
    }

    /// Whether the digits are the same from the first that is not zero on, zeros at the end apart.
    fn same_digits(&self, other: &Decimal) -> bool {
        let mut a = self.digits().skip_while(|&digit| digit == b'0');
        let mut b = other.digits().skip_while(|&digit| digit == b'0');
        loop {
            match (a.next(), b.next()) {
                (None, None) => return true,
                (Some(x), Some(y)) if x == y => {}
                (Some(b'0'), None) => return a.all(|digit| digit == b'0'),
                (None, Some(b'0')) => return b.all(|digit| digit == b'0'),
                _ => return false,
            }
        }
    }

    /// Whether the first digit that is not zero stands for the same power of ten.
    fn same_magnitude(&self, other: &Decimal) -> bool {
        self.exponent_minus(other) == other.leading_power().checked_sub(self.leading_power())
    }

    /// That power, the exponent apart.
    fn leading_power(&self) -> i64 {
        let zeros = self.digits().take_while(|&digit| digit == b'0').count();
        let signed = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        signed(self.whole.len()) - signed(zeros)
    }

    /// The difference of the exponents; `None`: more than the length of any input can make up for.
    fn exponent_minus(&self, other: &Decimal) -> Option<i64> {
        let length = self.exponent.len().max(other.exponent.len());
        let digit = |number: &Decimal, place: usize| {
            let at = (place + number.exponent.len()).checked_sub(length);
            let digit = at.and_then(|at| number.exponent.get(at)).map_or(0, |digit| i64::from(digit & 15));
            if number.exponent_negative { -digit } else { digit }
        };
        let mut difference = 0i64;
        for place in 0..length {
            difference = difference * 10 + digit(self, place) - digit(other, place);
            // From here on it can only grow: no digit makes up for ten times this.
            if difference.abs() > 1 << 50 {
                return None;
            }
        }
        Some(difference)
    }
}

/// Whether a JSON number is spelled as ECMAScript writes the double it stands for (`Number::toString`, radix 10).
///
/// `1.0`, `1e3`, `-0`, 2^53 + 1 and what overflows are not.
pub fn is_canonical_number(raw: &[u8]) -> bool {
    let unsigned = raw.strip_prefix(b"-").unwrap_or(raw);
    if unsigned.len() <= 16 && unsigned.iter().all(|b| b.is_ascii_digit() || *b == b'.') {
        return few_digits_are_canonical(raw, unsigned);
    }
    // No double is written longer.
    if raw.len() > 25 {
        return false;
    }
    double(raw).is_some_and(|value| value.is_finite() && ecmascript_number(value).as_bytes() == raw)
}

/// Up to 15 digits: no two such numbers are one double, so there is no shorter spelling but by leaving out zeros.
fn few_digits_are_canonical(raw: &[u8], unsigned: &[u8]) -> bool {
    match unsigned.iter().position(|&b| b == b'.') {
        None if unsigned.len() > 15 => double(raw).is_some_and(|value| ecmascript_number(value).as_bytes() == raw),
        None => raw != b"-0",
        // From seven places after the point on it is written with an exponent.
        Some(_) => unsigned.last() != Some(&b'0') && !unsigned.starts_with(b"0.000000"),
    }
}

/// A finite double as ECMAScript's `Number::toString` writes it.
fn ecmascript_number(value: f64) -> Spelled {
    let mut out = Spelled::default();
    // Writing cannot fail: all of it fits.
    let _ = write_ecmascript_number(value, &mut out);
    out
}

fn write_ecmascript_number(value: f64, out: &mut Spelled) -> fmt::Result {
    if value == 0.0 {
        return out.write_str("0");
    }
    // The shortest digits that read back as this double, the closest of them: both languages ask for the same.
    let mut scientific = Spelled::default();
    write!(scientific, "{:e}", value.abs())?;
    let (mantissa, exponent) = scientific.as_str().split_once('e').unwrap_or(("0", "0"));
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value < 0.0 {
        out.write_str("-")?;
    }
    // How many of the digits after the first one, or zeros, stand before the point.
    let before_point = usize::try_from(exponent).unwrap_or(0);
    match exponent {
        0..=20 => match rest.split_at_checked(before_point) {
            Some((whole, "")) => write!(out, "{first}{whole}"),
            Some((whole, fraction)) => write!(out, "{first}{whole}.{fraction}"),
            None => write!(out, "{first}{rest:0<before_point$}"),
        },
        -6..=-1 => {
            let zeros = usize::try_from(-1 - exponent).unwrap_or(0);
            write!(out, "0.{:0<zeros$}{first}{rest}", "")
        }
        _ if rest.is_empty() => write!(out, "{first}e{exponent:+}"),
        _ => write!(out, "{first}.{rest}e{exponent:+}"),
    }
}

/// A spelled number, which is never longer than this.
#[derive(Default)]
struct Spelled {
    bytes: [u8; 32],
    length: usize,
}

impl Spelled {
    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl Write for Spelled {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Whether every number in a valid JSON text is spelled as ECMAScript writes it.
pub fn numbers_are_canonical(value: &[u8]) -> bool {
    let mut at = 0;
    while let Some(byte) = value.get(at) {
        match byte {
            b'"' => at = json::end_of_valid_string(value, at + 1) + 1,
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(value, at);
                if !is_canonical_number(value.get(at..end).unwrap_or_default()) {
                    return false;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// Both ways round, which must agree.
    fn equal(left: &str, right: &str) -> bool {
        let answer = json_equal(left.as_bytes(), right.as_bytes());
        assert_eq!(json_equal(right.as_bytes(), left.as_bytes()), answer, "{left} {right}");
        answer
    }

    fn equal_by(rules: Rules, left: &str, right: &str) -> bool {
        EqualityScratch::default().equal(left.as_bytes(), right.as_bytes(), rules)
    }

    #[test]
    fn spelling_does_not_matter() {
        for (left, right) in [
            (" { \"a\" : [ 1 , true ] }\n", r#"{"a":[1,true]}"#),
            (r#"{"a":1,"b":{"c":2,"d":[]}}"#, r#"{"b":{"d":[],"c":2},"a":1}"#),
            (r#"[{"a":1,"b":2},{"b":3,"a":4},5]"#, r#"[{"b":2,"a":1},{"a":4,"b":3},5]"#),
            (r#""\u00e9\/\ud83e\udd8a\n""#, "\"é/🦊\\u000a\""),
            (r#"{"\u0061":"\u0022"}"#, r#"{"a":"\""}"#),
            (r#""\ud800""#, "\"\u{fffd}\""),
            ("{}", "{ }"),
            ("[]", "[ ]"),
            ("null", " null "),
        ] {
            assert!(equal(left, right), "{left} {right}");
        }
    }

    #[test]
    fn values_matter() {
        for (left, right) in [
            ("null", "false"),
            ("true", "1"),
            ("[]", "{}"),
            ("\"1\"", "1"),
            ("[1,2]", "[2,1]"),
            ("[1]", "[1,1]"),
            ("[]", "[null]"),
            ("{}", r#"{"a":null}"#),
            (r#"{"a":1}"#, r#"{"b":1}"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            (r#"{"a":{"b":[{"c":1}]}}"#, r#"{"a":{"b":[{"c":2}]}}"#),
            (r#"{"b":1,"a":{"x":1,"y":2}}"#, r#"{"a":{"y":2,"x":2},"b":1}"#),
            (r#""a""#, r#""ab""#),
            (r#""\u00e9""#, r#""e""#),
            (r#""\n""#, r#""n""#),
            (r#""\\""#, r#""\"""#),
        ] {
            assert!(!equal(left, right), "{left} {right}");
        }
    }

    #[test]
    fn of_repeated_members_the_last_counts() {
        for (left, right) in [
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":3,"a":2}"#),
            (r#"{"a":1,"b":2,"\u0061":1}"#, r#"{"b":2,"a":1}"#),
            (r#"{"a":{"x":1},"a":{"x":2}}"#, r#"{"a":{"x":5},"a":{"x":2}}"#),
            (r#"[{"a":[1,{"b":1}],"c":0,"a":3}]"#, r#"[{"a":[1,{"b":2}],"c":0,"a":3}]"#),
            (r#"{"a":{"b":{"c":1,"c":2}},"d":1}"#, r#"{"d":1,"a":{"b":{"c":2}}}"#),
        ] {
            assert!(equal(left, right), "{left} {right}");
        }
        assert!(!equal(r#"{"a":2,"a":1}"#, r#"{"a":2}"#));
        assert!(!equal(r#"{"a":{"x":1},"a":{"x":2}}"#, r#"{"a":{"x":2},"a":{"x":1}}"#));
    }

    #[test]
    fn numbers_are_compared_exactly() {
        for (a, b) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("1", "0.1E+1"),
            ("-0", "0"),
            ("0e99999999999999999999", "-0.000"),
            ("1e400", "10e399"),
            ("1e99999999999999999999", "10e99999999999999999998"),
            ("1e-99999999999999999999", "0.1e-99999999999999999998"),
            ("0.1e1000000000000000000000", "1e999999999999999999999"),
            ("1e1", "0.1e000000000000000000000000002"),
            ("100", "1e2"),
            ("123456789012345678901234567890", "1.2345678901234567890123456789e29"),
            ("-1.50", "-1.5"),
            ("0.001", "1e-3"),
            ("1e0", "1e-0"),
        ] {
            assert!(equal(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("9007199254740993", "9007199254740992"),
            ("1", "-1"),
            ("1", "10"),
            ("1", "1.00000000000000000000000000001"),
            ("1e99999999999999999999", "1e99999999999999999998"),
            ("1e99999999999999999999", "1e-99999999999999999999"),
            ("1e400", "1e401"),
            ("0.1", "0.01"),
            ("0", "1e-99999999999999999999"),
            ("12", "120"),
        ] {
            assert!(!equal(a, b), "{a} {b}");
        }
    }

    #[test]
    fn doubles_are_compared_when_asked() {
        let rules = Rules { doubles: true, ..Rules::default() };
        assert!(equal_by(rules, "[9007199254740993]", "[9007199254740992]"));
        assert!(equal_by(rules, "1.0", "1"));
        assert!(!equal_by(rules, "-0", "0"));
        assert!(!equal_by(rules, "1", "2"));
    }

    #[test]
    fn nulls_are_absent_when_asked() {
        let rules = Rules { null_is_absent: true, ..Rules::default() };
        for (left, right) in [
            (r#"{"a":null}"#, "{}"),
            (r#"{"type":"text","text":"x","annotations":null,"_meta":null}"#, r#"{"text":"x","type":"text"}"#),
            (r#"[{"a":1,"b":null},null]"#, r#"[{"b":null,"a":1,"c":null},null]"#),
            (r#"{"a":1,"a":null}"#, r#"{}"#),
        ] {
            assert!(equal_by(rules, left, right), "{left} {right}");
            assert!(equal_by(rules, right, left), "{left} {right}");
        }
        for (left, right) in [(r#"{"a":null}"#, r#"{"a":0}"#), ("[null]", "[]"), (r#"{"a":null,"b":1}"#, r#"{"a":1}"#)]
        {
            assert!(!equal_by(rules, left, right), "{left} {right}");
        }
    }

    #[test]
    fn a_right_text_can_be_asked_about_again() {
        let right = br#"{"a":{"x":1,"y":[{"p":1,"q":2}]},"b":3}"#;
        let mut scratch = EqualityScratch::default();
        scratch.expect_other_right();
        for (left, expected) in [
            (r#"{"b":3,"a":{"x":1,"y":[{"p":1,"q":2}]}}"#, true),
            (r#"{"a":{"x":1,"y":[{"p":1,"q":3}]},"b":3}"#, false),
            (r#"{"a":{"x":1,"y":[{"q":2,"p":1}]},"b":3}"#, true),
            (r#"{"a":{"x":1,"y":[{"q":1,"p":1}]},"b":3}"#, false),
            (r#"{"a":{"x":1,"y":[{"q":1,"p":1,"q":2}]},"b":4,"b":3}"#, true),
            (r#"{"a":{"y":[{"q":2,"p":1}],"x":1},"b":3}"#, true),
        ] {
            assert_eq!(scratch.equal_again(left.as_bytes(), right, Rules::default()), expected, "{left}");
        }
    }

    #[test]
    fn knows_how_ecmascript_writes_numbers() {
        for good in [
            "0",
            "1",
            "-1",
            "10",
            "1.5",
            "-1.5",
            "0.1",
            "100000000000000000000",
            "1e+21",
            "1.5e+21",
            "0.000001",
            "1e-7",
            "1.234e-7",
            "5e-324",
            "1.7976931348623157e+308",
            "-1.7976931348623157e+308",
            "9007199254740992",
            "0.30000000000000004",
            "123456789012345680000",
            "-0.0000012345678901234567",
            "999999999999999",
            "1e+100",
        ] {
            assert!(is_canonical_number(good.as_bytes()), "{good}");
        }
        for bad in [
            "-0",
            "0.0",
            "1.0",
            "1e3",
            "1E3",
            "1e21",
            "1e+20",
            "0.0000001",
            "1e-6",
            "9007199254740993",
            "1e400",
            "1e-400",
            "1.50",
            "-0.0",
            "123456789012345678901",
            "0.1000000000000000055511151231257827",
            "1e+021",
        ] {
            assert!(!is_canonical_number(bad.as_bytes()), "{bad}");
        }
        assert!(numbers_are_canonical(br#"{"1.0":["1.0",1.5,-3,true]}"#));
        assert!(!numbers_are_canonical(b"[1,[1.0]]"));
    }

    #[test]
    fn hostile_members_cost_no_more_than_sorting() {
        let count = 20_000;
        let object = |names: &mut dyn Iterator<Item = usize>| {
            let members: Vec<_> = names.map(|i| format!("\"{}{i}\":1", "k".repeat(10))).collect();
            format!("{{{}}}", members.join(","))
        };
        let (forward, backward) = (object(&mut (0..count)), object(&mut (0..count).rev()));
        let mut deep = forward.clone();
        let mut reverse = backward.clone();
        for _ in 0..127 {
            deep = format!("{{\"a\":{deep},\"b\":1}}");
            reverse = format!("{{\"b\":1,\"a\":{reverse}}}");
        }
        assert!(equal(&deep, &reverse));
        assert!(!equal(&deep, &reverse.replace("k19999\":1", "k19999\":2")));
    }

    #[test]
    fn what_is_no_json_ends() {
        let mut scratch = EqualityScratch::default();
        for bad in [
            "",
            "{",
            "[",
            "{\"a",
            "{\"a\"",
            "{\"a\":",
            "[1,",
            "{\"b\":1,",
            "{\"b\":1}}",
            "}",
            "\"",
            "\"\\",
            "{1:2}",
            "[}",
            "{\"a\":1]",
        ] {
            for good in ["{\"a\":1,\"b\":2}", "[1,2]", "\"x\"", "{}", "[]"] {
                scratch.equal(bad.as_bytes(), good.as_bytes(), Rules::default());
                scratch.equal(good.as_bytes(), bad.as_bytes(), Rules::default());
                scratch.equal(bad.as_bytes(), bad.as_bytes(), Rules::default());
            }
        }
        let nested = "[".repeat(100_000);
        assert!(!scratch.equal(nested.as_bytes(), nested.as_bytes(), Rules::default()));
        let nested = "{\"a\":1,\"b\":".repeat(100_000);
        assert!(!scratch.equal(nested.as_bytes(), b"{\"b\":1,\"a\":1}", Rules::default()));
    }

    /// JSON texts with few different names and values, so that equal ones come up.
    fn json_text() -> impl Strategy<Value = String> {
        let string =
            || prop_oneof![Just(r#""a""#), Just(r#""\u0061""#), Just(r#""b""#), Just("\"é\""), Just(r#""\u00e9""#)];
        let leaf = prop_oneof![
            string().prop_map(str::to_owned),
            prop_oneof![Just("1"), Just("2"), Just(" null"), Just("true")].prop_map(str::to_owned),
        ];
        leaf.prop_recursive(3, 12, 3, move |inner| {
            let member = (string(), inner.clone()).prop_map(|(name, value)| format!("{name}: {value}"));
            prop_oneof![
                proptest::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(" ,"))),
                proptest::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(", "))),
            ]
        })
    }

    /// The same value with its members in another order.
    fn shuffled(value: &Value, seed: u64) -> String {
        match value {
            Value::Array(items) => {
                format!("[{}]", items.iter().map(|v| shuffled(v, seed / 2)).collect::<Vec<_>>().join(","))
            }
            Value::Object(members) => {
                let mut members: Vec<_> = members
                    .iter()
                    .map(|(k, v)| format!("{}:{}", Value::from(k.as_str()), shuffled(v, seed / 2)))
                    .collect();
                let length = members.len().max(1);
                members.rotate_left(usize::try_from(seed).unwrap() % length);
                if seed.is_multiple_of(3) {
                    members.reverse();
                }
                format!("{{{}}}", members.join(","))
            }
            other => other.to_string(),
        }
    }

    fn without_nulls(value: Value) -> Value {
        match value {
            Value::Array(items) => items.into_iter().map(without_nulls).collect(),
            Value::Object(members) => {
                members.into_iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k, without_nulls(v))).collect()
            }
            other => other,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn agrees_with_a_tree(left in json_text(), right in json_text()) {
            let (a, b): (Value, Value) = (serde_json::from_str(&left).unwrap(), serde_json::from_str(&right).unwrap());
            prop_assert_eq!(equal(&left, &right), a == b);
            let rules = Rules { null_is_absent: true, ..Rules::default() };
            prop_assert_eq!(equal_by(rules, &left, &right), without_nulls(a) == without_nulls(b));
        }

        #[test]
        fn agrees_with_a_tree_inside_one_object(
            left in proptest::collection::vec(("[ab]", json_text()), 0..4),
            right in proptest::collection::vec(("[ab]", json_text()), 0..4),
            change in any::<bool>(),
        ) {
            let write = |members: &[(String, String)]| {
                let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("[{{{}}}]", members.join(","))
            };
            let right = if change { left.iter().cloned().chain(right).collect() } else { right };
            let (left, right) = (write(&left), write(&right));
            let (a, b): (Value, Value) = (serde_json::from_str(&left).unwrap(), serde_json::from_str(&right).unwrap());
            prop_assert_eq!(equal(&left, &right), a == b);
        }

        #[test]
        fn order_does_not_matter(text in json_text(), seed in any::<u64>()) {
            let value: Value = serde_json::from_str(&text).unwrap();
            let other = shuffled(&value, seed);
            prop_assert!(equal(&text, &other), "{} {}", text, other);
        }

        #[test]
        fn strings_compare_by_character(
            a in "[ab\"\\\\é🦊\u{ffff}]{0,10}",
            b in "[ab\"\\\\é🦊\u{ffff}]{0,10}",
            escape in any::<[bool; 2]>(),
        ) {
            let write = |text: &str, all: bool| match all {
                true => text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>(),
                false => { let quoted = Value::from(text).to_string(); quoted[1..quoted.len() - 1].to_owned() }
            };
            let (x, y) = (write(&a, escape[0]), write(&b, escape[1]));
            prop_assert_eq!(compare_strings(x.as_bytes(), y.as_bytes()), a.cmp(&b));
            let same = same_string(format!("{x}\"").as_bytes(), 0, format!("{y}\" ").as_bytes(), 0);
            prop_assert_eq!(same, (a == b).then(|| (x.len() + 1, y.len() + 1)));
        }

        #[test]
        fn numbers_agree_with_integers(a in 0i64..2000, b in 0i64..2000, zeros in 0usize..4, shift in 0u32..4) {
            // a, written with a point and an exponent.
            let exponent = i64::from(shift) - i64::try_from(zeros).unwrap();
            let spelled = format!("{a}{}e{exponent}", "0".repeat(zeros));
            let right = (b * 10i64.pow(shift)).to_string();
            prop_assert_eq!(numbers_equal(spelled.as_bytes(), right.as_bytes()), a == b);
            let fraction = format!("0.00{a}e{}", i64::from(shift) + 2 + i64::try_from(a.to_string().len()).unwrap());
            prop_assert_eq!(numbers_equal(fraction.as_bytes(), right.as_bytes()), a == b);
        }

        #[test]
        fn canonical_numbers_read_back(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let text = ecmascript_number(value).as_str().to_owned();
            prop_assert_eq!(text.parse::<f64>().unwrap(), value);
            prop_assert!(is_canonical_number(text.as_bytes()));
            prop_assert!(text.len() <= 25);
            if !text.contains('e') {
                let longer = if text.contains('.') { text + "0" } else { text + ".0" };
                prop_assert!(!is_canonical_number(longer.as_bytes()));
            }
        }

        #[test]
        fn few_digits_are_canonical_as_many_are(whole in 0u64..2000, fraction in "[0-9]{1,12}", shift in 0usize..8) {
            for text in [format!("{whole}.{fraction}"), format!("0.{}{fraction}", "0".repeat(shift)), whole.to_string()] {
                let long = ecmascript_number(text.parse().unwrap());
                prop_assert_eq!(is_canonical_number(text.as_bytes()), long.as_str() == text, "{}", text);
            }
        }
    }
}
