//! How texts are made comparable: letter case folded, runs of white space made one space, JSON escapes undone.
//!
//! Nothing here knows about leaves or blocks. Texts are UTF-8, except that a byte 0xFF may stand between two of them
//! ([`BREAK`]): it is in no UTF-8, so nothing that is searched can match across it.
//!
//! The table is Unicode simple case folding (CaseFolding.txt, status C and S; `İ` therefore stays what it is). Each
//! class of equivalent characters has one representative, and a class with an ASCII letter has that letter in lower
//! case: so ASCII text needs no table. A test holds it against another implementation of the same data.

use crate::result::json;
use crate::result::text::is_blank_char;

/// Stands between the texts of two blocks.
pub const BREAK: u8 = 0xFF;

/// Runs of characters that fold: first, last, step, and what is added to reach the representative.
type Run = (u32, u32, u32, i32);

#[rustfmt::skip]
const RUNS: &[Run] = &[
    (0x0041, 0x005A, 1, 32), (0x00B5, 0x00B5, 1, 775), (0x00C0, 0x00D6, 1, 32), (0x00D8, 0x00DE, 1, 32),
    (0x0100, 0x012E, 2, 1), (0x0132, 0x0136, 2, 1), (0x0139, 0x0147, 2, 1), (0x014A, 0x0176, 2, 1),
    (0x0178, 0x0178, 1, -121), (0x0179, 0x017D, 2, 1), (0x017F, 0x017F, 1, -268), (0x0181, 0x0181, 1, 210),
    (0x0182, 0x0184, 2, 1), (0x0186, 0x0186, 1, 206), (0x0187, 0x0187, 1, 1), (0x0189, 0x018A, 1, 205),
    (0x018B, 0x018B, 1, 1), (0x018E, 0x018E, 1, 79), (0x018F, 0x018F, 1, 202), (0x0190, 0x0190, 1, 203),
    (0x0191, 0x0191, 1, 1), (0x0193, 0x0193, 1, 205), (0x0194, 0x0194, 1, 207), (0x0196, 0x0196, 1, 211),
    (0x0197, 0x0197, 1, 209), (0x0198, 0x0198, 1, 1), (0x019C, 0x019C, 1, 211), (0x019D, 0x019D, 1, 213),
    (0x019F, 0x019F, 1, 214), (0x01A0, 0x01A4, 2, 1), (0x01A6, 0x01A6, 1, 218), (0x01A7, 0x01A7, 1, 1),
    (0x01A9, 0x01A9, 1, 218), (0x01AC, 0x01AC, 1, 1), (0x01AE, 0x01AE, 1, 218), (0x01AF, 0x01AF, 1, 1),
    (0x01B1, 0x01B2, 1, 217), (0x01B3, 0x01B5, 2, 1), (0x01B7, 0x01B7, 1, 219), (0x01B8, 0x01B8, 1, 1),
    (0x01BC, 0x01BC, 1, 1), (0x01C4, 0x01C4, 1, 2), (0x01C5, 0x01C5, 1, 1), (0x01C7, 0x01C7, 1, 2),
    (0x01C8, 0x01C8, 1, 1), (0x01CA, 0x01CA, 1, 2), (0x01CB, 0x01DB, 2, 1), (0x01DE, 0x01EE, 2, 1),
    (0x01F1, 0x01F1, 1, 2), (0x01F2, 0x01F4, 2, 1), (0x01F6, 0x01F6, 1, -97), (0x01F7, 0x01F7, 1, -56),
    (0x01F8, 0x021E, 2, 1), (0x0220, 0x0220, 1, -130), (0x0222, 0x0232, 2, 1), (0x023A, 0x023A, 1, 10795),
    (0x023B, 0x023B, 1, 1), (0x023D, 0x023D, 1, -163), (0x023E, 0x023E, 1, 10792), (0x0241, 0x0241, 1, 1),
    (0x0243, 0x0243, 1, -195), (0x0244, 0x0244, 1, 69), (0x0245, 0x0245, 1, 71), (0x0246, 0x024E, 2, 1),
    (0x0345, 0x0345, 1, 116), (0x0370, 0x0372, 2, 1), (0x0376, 0x0376, 1, 1), (0x037F, 0x037F, 1, 116),
    (0x0386, 0x0386, 1, 38), (0x0388, 0x038A, 1, 37), (0x038C, 0x038C, 1, 64), (0x038E, 0x038F, 1, 63),
    (0x0391, 0x03A1, 1, 32), (0x03A3, 0x03AB, 1, 32), (0x03C2, 0x03C2, 1, 1), (0x03CF, 0x03CF, 1, 8),
    (0x03D0, 0x03D0, 1, -30), (0x03D1, 0x03D1, 1, -25), (0x03D5, 0x03D5, 1, -15), (0x03D6, 0x03D6, 1, -22),
    (0x03D8, 0x03EE, 2, 1), (0x03F0, 0x03F0, 1, -54), (0x03F1, 0x03F1, 1, -48), (0x03F4, 0x03F4, 1, -60),
    (0x03F5, 0x03F5, 1, -64), (0x03F7, 0x03F7, 1, 1), (0x03F9, 0x03F9, 1, -7), (0x03FA, 0x03FA, 1, 1),
    (0x03FD, 0x03FF, 1, -130), (0x0400, 0x040F, 1, 80), (0x0410, 0x042F, 1, 32), (0x0460, 0x0480, 2, 1),
    (0x048A, 0x04BE, 2, 1), (0x04C0, 0x04C0, 1, 15), (0x04C1, 0x04CD, 2, 1), (0x04D0, 0x052E, 2, 1),
    (0x0531, 0x0556, 1, 48), (0x10A0, 0x10C5, 1, 7264), (0x10C7, 0x10C7, 1, 7264), (0x10CD, 0x10CD, 1, 7264),
    (0x13A0, 0x13EF, 1, 38864), (0x13F0, 0x13F5, 1, 8), (0x1C80, 0x1C80, 1, -6222), (0x1C81, 0x1C81, 1, -6221),
    (0x1C82, 0x1C82, 1, -6212), (0x1C83, 0x1C84, 1, -6210), (0x1C85, 0x1C85, 1, -6211), (0x1C86, 0x1C86, 1, -6204),
    (0x1C87, 0x1C87, 1, -6180), (0x1C88, 0x1C88, 1, 35267), (0x1C89, 0x1C89, 1, 1), (0x1C90, 0x1CBA, 1, -3008),
    (0x1CBD, 0x1CBF, 1, -3008), (0x1E00, 0x1E94, 2, 1), (0x1E9B, 0x1E9B, 1, -58), (0x1E9E, 0x1E9E, 1, -7615),
    (0x1EA0, 0x1EFE, 2, 1), (0x1F08, 0x1F0F, 1, -8), (0x1F18, 0x1F1D, 1, -8), (0x1F28, 0x1F2F, 1, -8),
    (0x1F38, 0x1F3F, 1, -8), (0x1F48, 0x1F4D, 1, -8), (0x1F59, 0x1F5F, 2, -8), (0x1F68, 0x1F6F, 1, -8),
    (0x1F88, 0x1F8F, 1, -8), (0x1F98, 0x1F9F, 1, -8), (0x1FA8, 0x1FAF, 1, -8), (0x1FB8, 0x1FB9, 1, -8),
    (0x1FBA, 0x1FBB, 1, -74), (0x1FBC, 0x1FBC, 1, -9), (0x1FBE, 0x1FBE, 1, -7173), (0x1FC8, 0x1FCB, 1, -86),
    (0x1FCC, 0x1FCC, 1, -9), (0x1FD3, 0x1FD3, 1, -7235), (0x1FD8, 0x1FD9, 1, -8), (0x1FDA, 0x1FDB, 1, -100),
    (0x1FE3, 0x1FE3, 1, -7219), (0x1FE8, 0x1FE9, 1, -8), (0x1FEA, 0x1FEB, 1, -112), (0x1FEC, 0x1FEC, 1, -7),
    (0x1FF8, 0x1FF9, 1, -128), (0x1FFA, 0x1FFB, 1, -126), (0x1FFC, 0x1FFC, 1, -9), (0x2126, 0x2126, 1, -7517),
    (0x212A, 0x212A, 1, -8383), (0x212B, 0x212B, 1, -8262), (0x2132, 0x2132, 1, 28), (0x2160, 0x216F, 1, 16),
    (0x2183, 0x2183, 1, 1), (0x24B6, 0x24CF, 1, 26), (0x2C00, 0x2C2F, 1, 48), (0x2C60, 0x2C60, 1, 1),
    (0x2C62, 0x2C62, 1, -10743), (0x2C63, 0x2C63, 1, -3814), (0x2C64, 0x2C64, 1, -10727), (0x2C67, 0x2C6B, 2, 1),
    (0x2C6D, 0x2C6D, 1, -10780), (0x2C6E, 0x2C6E, 1, -10749), (0x2C6F, 0x2C6F, 1, -10783), (0x2C70, 0x2C70, 1, -10782),
    (0x2C72, 0x2C72, 1, 1), (0x2C75, 0x2C75, 1, 1), (0x2C7E, 0x2C7F, 1, -10815), (0x2C80, 0x2CE2, 2, 1),
    (0x2CEB, 0x2CED, 2, 1), (0x2CF2, 0x2CF2, 1, 1), (0xA640, 0xA66C, 2, 1), (0xA680, 0xA69A, 2, 1),
    (0xA722, 0xA72E, 2, 1), (0xA732, 0xA76E, 2, 1), (0xA779, 0xA77B, 2, 1), (0xA77D, 0xA77D, 1, -35332),
    (0xA77E, 0xA786, 2, 1), (0xA78B, 0xA78B, 1, 1), (0xA78D, 0xA78D, 1, -42280), (0xA790, 0xA792, 2, 1),
    (0xA796, 0xA7A8, 2, 1), (0xA7AA, 0xA7AA, 1, -42308), (0xA7AB, 0xA7AB, 1, -42319), (0xA7AC, 0xA7AC, 1, -42315),
    (0xA7AD, 0xA7AD, 1, -42305), (0xA7AE, 0xA7AE, 1, -42308), (0xA7B0, 0xA7B0, 1, -42258), (0xA7B1, 0xA7B1, 1, -42282),
    (0xA7B2, 0xA7B2, 1, -42261), (0xA7B3, 0xA7B3, 1, 928), (0xA7B4, 0xA7C2, 2, 1), (0xA7C4, 0xA7C4, 1, -48),
    (0xA7C5, 0xA7C5, 1, -42307), (0xA7C6, 0xA7C6, 1, -35384), (0xA7C7, 0xA7C9, 2, 1), (0xA7CB, 0xA7CB, 1, -42343),
    (0xA7CC, 0xA7CC, 1, 1), (0xA7D0, 0xA7D0, 1, 1), (0xA7D6, 0xA7DA, 2, 1), (0xA7DC, 0xA7DC, 1, -42561),
    (0xA7F5, 0xA7F5, 1, 1), (0xFB06, 0xFB06, 1, -1), (0xFF21, 0xFF3A, 1, 32), (0x10400, 0x10427, 1, 40),
    (0x104B0, 0x104D3, 1, 40), (0x10570, 0x1057A, 1, 39), (0x1057C, 0x1058A, 1, 39), (0x1058C, 0x10592, 1, 39),
    (0x10594, 0x10595, 1, 39), (0x10C80, 0x10CB2, 1, 64), (0x10D50, 0x10D65, 1, 32), (0x118A0, 0x118BF, 1, 32),
    (0x16E40, 0x16E5F, 1, 32), (0x1E900, 0x1E921, 1, 34),
];

const PAGE: usize = 64;
const PAGES: usize = 59; // with the empty page 0
const INDEX: usize = 0x1E980 / PAGE;

/// The runs as pages of 64 characters: for each page of Unicode its number in `targets`, 0 for one that folds nothing.
struct Table {
    index: [u8; INDEX],
    /// The lower 16 bits of each representative; folding never leaves a plane.
    targets: [[u16; PAGE]; PAGES],
}

static TABLE: Table = table();

// Evaluated by the compiler: what could go wrong here (an index, a lossy cast) is an error of the build or of the test.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at compile time, checked by a test")]
const fn table() -> Table {
    let mut table = Table { index: [0; INDEX], targets: [[0; PAGE]; PAGES] };
    let mut used = 0;
    let mut run = 0;
    while run < RUNS.len() {
        let (mut code, last, step, delta) = RUNS[run];
        while code <= last {
            let page = code as usize / PAGE;
            if table.index[page] == 0 {
                used += 1;
                table.index[page] = used as u8;
                let mut i = 0;
                while i < PAGE {
                    table.targets[used][i] = (page * PAGE + i) as u16;
                    i += 1;
                }
            }
            table.targets[table.index[page] as usize][code as usize % PAGE] = (code as i32 + delta) as u16;
            code += step;
        }
        run += 1;
    }
    assert!(used + 1 == PAGES);
    table
}

/// The representative of the characters that `c` is equivalent to, letter case apart.
#[inline]
pub fn fold_char(c: char) -> char {
    let code = u32::from(c);
    let page = TABLE.index.get(code as usize / PAGE).copied().unwrap_or_default();
    if page == 0 {
        return c;
    }
    let targets = TABLE.targets.get(usize::from(page));
    let target = targets.and_then(|targets| targets.get(code as usize % PAGE)).copied().unwrap_or_default();
    char::from_u32(code & !0xFFFF | u32::from(target)).unwrap_or(c)
}

/// Whether two such characters beside each other belong to one word: letters, digits and combining marks, except
/// those of scripts that are written without spaces (UAX 14: Han, kana, Bopomofo and Yi among class ID, and class SA).
pub fn joins(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    (c.is_alphanumeric() || is_mark(c)) && !is_unspaced(c)
}

/// The blocks of combining marks that go with any script.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{E00}'..='\u{EFF}'         // Thai, Lao
        | '\u{F00}'..='\u{FFF}'       // Tibetan
        | '\u{1000}'..='\u{109F}'     // Myanmar
        | '\u{1780}'..='\u{17FF}'     // Khmer
        | '\u{1950}'..='\u{19DF}'     // Tai Le, New Tai Lue
        | '\u{1A20}'..='\u{1AAF}'     // Tai Tham
        | '\u{2E80}'..='\u{2FDF}'     // Han radicals
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303B}'
        | '\u{3040}'..='\u{312F}'     // kana, Bopomofo
        | '\u{31A0}'..='\u{31BF}' | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{A000}'..='\u{A4CF}'     // Yi
        | '\u{A9E0}'..='\u{A9FF}' | '\u{AA60}'..='\u{AA7F}' | '\u{AA80}'..='\u{AADF}' // Myanmar, Tai Viet
        | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}'
        | '\u{116D0}'..='\u{116FF}' | '\u{11700}'..='\u{1174F}' // Myanmar, Ahom
        | '\u{16FE0}'..='\u{16FFF}'   // ideographic marks
        | '\u{1AFF0}'..='\u{1B16F}' | '\u{20000}'..='\u{3FFFF}')
}

/// The character that starts at `at`; `None` at an end of the text, a [`BREAK`] too.
#[inline]
pub fn char_at(text: &[u8], at: usize) -> Option<char> {
    let &first = text.get(at)?;
    let next = |n: usize| text.get(at + n).map(|&byte| u32::from(byte & 0x3F));
    let lead = u32::from(first);
    match first {
        0..0x80 => Some(char::from(first)),
        0xC0..0xE0 => char::from_u32((lead & 0x1F) << 6 | next(1)?),
        0xE0..0xF0 => char::from_u32((lead & 0x0F) << 12 | next(1)? << 6 | next(2)?),
        0xF0..0xF8 => char::from_u32((lead & 0x07) << 18 | next(1)? << 12 | next(2)? << 6 | next(3)?),
        _ => None,
    }
}

/// The character that ends before `at`.
#[inline]
pub fn char_before(text: &[u8], at: usize) -> Option<char> {
    let &last = text.get(at.checked_sub(1)?)?;
    if last < 0x80 {
        return Some(char::from(last));
    }
    let start = (1..=4).filter_map(|n| at.checked_sub(n)).find(|&i| text.get(i).is_some_and(|&b| b & 0xC0 != 0x80))?;
    char_at(text, start)
}

/// Appends `text` with its letter case folded.
pub fn fold_into(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    loop {
        let plain = ascii_prefix(rest);
        let (ascii, other) = rest.split_at_checked(plain).unwrap_or((rest, &[]));
        out.extend(ascii.iter().map(u8::to_ascii_lowercase));
        if other.is_empty() {
            return;
        }
        rest = other;
        while let Some(&first) = rest.first()
            && first >= 0x80
        {
            let length = match char_at(rest, 0) {
                Some(c) => {
                    let folded = fold_char(c);
                    out.extend_from_slice(folded.encode_utf8(&mut [0; 4]).as_bytes());
                    c.len_utf8()
                }
                None => {
                    out.push(first);
                    1
                }
            };
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}

/// How many bytes stand before the first that is not ASCII.
fn ascii_prefix(text: &[u8]) -> usize {
    let mut done = 0;
    for chunk in text.chunks(32) {
        if !chunk.is_ascii() {
            return done + chunk.iter().position(|&b| b >= 0x80).unwrap_or_default();
        }
        done += chunk.len();
    }
    done
}

/// Appends `text` with each run of white space as one space.
pub fn collapse_into(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    loop {
        let plain = regular_prefix(rest);
        out.extend_from_slice(rest.get(..plain).unwrap_or_default());
        rest = rest.get(plain..).unwrap_or_default();
        if rest.is_empty() {
            return;
        }
        out.push(b' ');
        rest = rest.get(space_run(rest)..).unwrap_or_default();
    }
}

/// Calls `run` with the start and the end of each run of white space that is not one space, until it says stop.
pub fn irregular_runs(text: &[u8], mut run: impl FnMut(usize, usize)) {
    let mut at = 0;
    loop {
        at += regular_prefix(text.get(at..).unwrap_or_default());
        let length = space_run(text.get(at..).unwrap_or_default());
        if length == 0 {
            return;
        }
        run(at, at + length);
        at += length;
    }
}

/// How many bytes come before the first run of white space that is not one space.
fn regular_prefix(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        // 32 bytes at a time, with one look at the byte after them; then eight; then one.
        let rest = text.get(at..).unwrap_or_default();
        if rest.first_chunk::<33>().is_some_and(is_regular) {
            at += 32;
            continue;
        }
        let end = text.len().min(at + 32);
        while at < end {
            let rest = text.get(at..).unwrap_or_default();
            let mut ahead = 0;
            if let Some(&[.., ninth]) = rest.first_chunk::<9>()
                && let Some(word) = rest.first_chunk::<8>()
            {
                let word = u64::from_le_bytes(*word);
                ahead = (irregular(word, ninth).trailing_zeros() / 8) as usize;
                if ahead == 8 {
                    at += 8;
                    continue;
                }
            }
            at += ahead;
            // Here something may start: what is no white space, or one space, is passed.
            match space_run(text.get(at..).unwrap_or_default()) {
                0 => at += 1,
                1 if text.get(at) == Some(&b' ') => at += 1,
                _ => return at,
            }
        }
        if at >= text.len() {
            return text.len();
        }
    }
}

/// Whether no such run starts in the first 32 bytes. May say no without need.
#[inline]
fn is_regular(chunk: &[u8; 33]) -> bool {
    let mut odd = false;
    for (&byte, &next) in chunk.iter().zip(chunk.iter().skip(1)) {
        odd |= byte < 0x0E;
        odd |= may_start_space(byte);
        odd |= (byte == b' ') & ((next <= b' ') | may_start_space(next));
    }
    !odd
}

/// Marks bytes where such a run may start, the first of them surely if there is one; `ninth` is the byte after the word.
#[inline]
fn irregular(word: u64, ninth: u8) -> u64 {
    let next = word >> 8 | u64::from(ninth) << 56;
    let control = |word: u64| word.wrapping_sub(ONES * 0x0E) & !word & HIGHS;
    let spaces = zeros(word ^ (ONES * u64::from(b' ')));
    let mut marks = control(word) | spaces & (zeros(next ^ (ONES * u64::from(b' '))) | control(next));
    if (word | next) & HIGHS != 0 {
        let leads =
            |word: u64| [0xC2, 0xE1, 0xE2, 0xE3].iter().fold(0, |marks, &lead| marks | zeros(word ^ (ONES * lead)));
        marks |= leads(word) | spaces & leads(next);
    }
    marks
}

/// Whether a white space character outside ASCII may start with this byte.
#[inline]
fn may_start_space(byte: u8) -> bool {
    (byte == 0xC2) | (byte.wrapping_sub(0xE1) < 3)
}

/// How many bytes of white space `text` starts with.
fn space_run(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match text.get(at) {
            Some(b' ' | b'\t'..=b'\r') => at += 1,
            Some(&first) if may_start_space(first) => match char_at(text, at) {
                Some(c) if c.is_whitespace() => at += c.len_utf8(),
                _ => return at,
            },
            _ => return at,
        }
    }
}

/// Appends the string whose inside starts at `at`, escapes undone; returns where it ends.
pub fn decode_string_into(json: &[u8], start: usize, out: &mut Vec<u8>) -> usize {
    let mut at = start;
    // Words without a mark in a row: escapes come near each other, as in JSON inside a text, or seldom.
    let mut plain_words = 0;
    loop {
        let rest = json.get(at..).unwrap_or_default();
        if plain_words < 4
            && let Some(word) = rest.first_chunk::<8>()
        {
            let length = (ends(u64::from_le_bytes(*word)).trailing_zeros() / 8) as usize;
            out.extend_from_slice(word);
            at += length;
            if length == 8 {
                plain_words += 1;
                continue;
            }
            out.truncate(out.len() - (8 - length));
        } else {
            let length = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            out.extend_from_slice(rest.get(..length).unwrap_or_default());
            at += length;
        }
        plain_words = 0;
        // A run of escapes.
        loop {
            let byte = match json.get(at..).unwrap_or_default() {
                [b'\\', b'n', ..] => b'\n',
                [b'\\', byte @ (b'"' | b'\\'), ..] => *byte,
                rest @ [b'\\', ..] => {
                    let (c, length) = json::decode_escape(rest, 0);
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    at += length;
                    continue;
                }
                [b'"', ..] | [] => return at,
                _ => break,
            };
            out.push(byte);
            at += 2;
        }
    }
}

/// Marks the quotes and backslashes.
#[inline]
fn ends(word: u64) -> u64 {
    zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')))
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The high bit of each byte that is zero.
#[inline]
fn zeros(word: u64) -> u64 {
    !((word & !HIGHS).wrapping_add(!HIGHS) | word) & HIGHS
}

/// Where the valid string ends whose inside starts at `at`, and whether it has an escape.
#[inline]
pub fn end_of_string(json: &[u8], mut at: usize) -> (usize, bool) {
    while let Some(word) = json.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let length = (ends(u64::from_le_bytes(*word)).trailing_zeros() / 8) as usize;
        at += length;
        if length < 8 {
            if json.get(at) == Some(&b'"') {
                return (at, false);
            }
            break;
        }
    }
    let end = json::end_of_valid_string(json, at);
    (end, memchr::memchr(b'\\', json.get(at..end).unwrap_or_default()).is_some())
}

/// [`leaf_into`] for the common case, in one pass over a string whose inside starts at `at`: ASCII without escapes, spaces
/// only one by one and not at an end. Returns where it ends, and whether it has a space; `None`: not so, and what was
/// appended is a part.
#[inline]
pub fn plain_leaf_into(json: &[u8], start: usize, out: &mut Vec<u8>) -> Option<(usize, bool)> {
    let mut at = start;
    let mut spaced = false;
    let mut after_space = 0x80;
    loop {
        let word = u64::from_le_bytes(*json.get(at..)?.first_chunk::<8>()?);
        let quotes = zeros(word ^ (ONES * u64::from(b'"')));
        let length = quotes.trailing_zeros() / 8;
        // The bytes before the quote.
        let inside = if length < 8 { (1 << (8 * length)) - 1 } else { u64::MAX };
        let spaces = zeros(word ^ (ONES * u64::from(b' '))) & inside;
        let odd = (word & HIGHS | zeros(word ^ (ONES * u64::from(b'\\')))) & inside;
        if odd | spaces & (spaces << 8 | after_space) != 0 {
            return None;
        }
        let upper = (word & !HIGHS).wrapping_add(ONES * 0x3F) & !(word & !HIGHS).wrapping_add(ONES * 0x25) & HIGHS;
        let lower = word | upper >> 2;
        out.extend_from_slice(&lower.to_le_bytes());
        spaced |= spaces != 0;
        after_space = spaces >> 56;
        if length < 8 {
            let length = length as usize;
            out.truncate(out.len() - (8 - length));
            at += length;
            return (at > start && out.last() != Some(&b' ')).then_some((at, spaced));
        }
        at += 8;
    }
}

/// Appends `text` with what looks like a JSON escape undone; says whether there was any. Other backslashes stay.
pub fn unescape_into(text: &[u8], out: &mut Vec<u8>) -> bool {
    let mut found = false;
    let mut rest = text;
    while let Some(plain) = memchr::memchr(b'\\', rest) {
        let (before, escape) = rest.split_at_checked(plain).unwrap_or((rest, &[]));
        out.extend_from_slice(before);
        let length = if is_escape(escape) {
            let (c, length) = json::decode_escape(escape, 0);
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            found = true;
            length
        } else {
            out.push(b'\\');
            1
        };
        rest = escape.get(length..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    found
}

fn is_escape(text: &[u8]) -> bool {
    match text.get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => true,
        Some(b'u') => text.get(2..6).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
        _ => false,
    }
}

/// What [`leaf_into`] found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelled {
    /// Nothing that shows; nothing was appended.
    Blank,
    /// More than `most` bytes; what was appended is a part.
    TooLong,
    /// `characters` code points were appended; `spaced`: there is a space among them.
    Text { characters: usize, spaced: bool },
}

/// Appends the string between its quotes `raw` as leaves are compared: escapes undone, folded, each run of white
/// space one space, none at the ends.
pub fn leaf_into(raw: &[u8], most: usize, out: &mut Vec<u8>, scratch: &mut Scratch) -> Spelled {
    if json::decoded(raw).all(is_blank_char) {
        return Spelled::Blank;
    }
    let start = out.len();
    // In bulk, unless it is short, or so long that reading a part of it may do.
    if raw.len() > 64 && raw.len() <= most {
        scratch.decoded.clear();
        json::decode_into(raw, &mut scratch.decoded);
        scratch.folded.clear();
        fold_into(&scratch.decoded, &mut scratch.folded);
        collapse_into(scratch.folded.get(space_run(&scratch.folded)..).unwrap_or_default(), out);
        out.pop_if(|last| *last == b' ');
    } else {
        let mut pending = false;
        for c in json::decoded(raw) {
            if c.is_whitespace() {
                pending = out.len() > start;
                continue;
            }
            if pending {
                out.push(b' ');
                pending = false;
            }
            out.extend_from_slice(fold_char(c).encode_utf8(&mut [0; 4]).as_bytes());
            if out.len() - start > most {
                break;
            }
        }
    }
    let text = out.get(start..).unwrap_or_default();
    if text.len() > most {
        return Spelled::TooLong;
    }
    let characters = text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
    Spelled::Text { characters, spaced: memchr::memchr(b' ', text).is_some() }
}

/// Buffers of [`leaf_into`].
#[derive(Default)]
pub struct Scratch {
    decoded: Vec<u8>,
    folded: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

    fn equivalents(c: char) -> Vec<char> {
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
        class.try_case_fold_simple().unwrap();
        class.iter().flat_map(|range| range.start()..=range.end()).collect()
    }

    #[test]
    fn characters_fold_alike_exactly_when_they_are_equivalent() {
        // Every character folds to a member of its class, and all members to the same: so alike means equivalent.
        for c in '\0'..=char::MAX {
            let folded = fold_char(c);
            let class = equivalents(c);
            assert!(class.contains(&folded), "{c:?} folds to {folded:?}");
            assert!(class.iter().all(|&other| fold_char(other) == folded), "{class:?}");
            assert!(!folded.is_ascii() || folded == c.to_ascii_lowercase() || !c.is_ascii());
        }
        for (a, b) in [('K', '\u{212A}'), ('S', 'ſ'), ('µ', 'μ'), ('Σ', 'ς'), ('ẞ', 'ß'), ('Ω', '\u{2126}')] {
            assert_eq!(fold_char(a), fold_char(b));
        }
        assert_eq!((fold_char('İ'), fold_char('ı'), fold_char('I')), ('İ', 'ı', 'i'));
    }

    /// Prints the rows of `RUNS` from the data of regex-syntax, for a new version of Unicode.
    #[test]
    #[ignore = "prints the table, checks nothing"]
    fn print_the_runs() {
        let mut runs: Vec<Run> = Vec::new();
        for c in '\0'..=char::MAX {
            let class = equivalents(c);
            let lower = |m: &char| {
                let mut lower = m.to_lowercase();
                lower.next().filter(|l| lower.next().is_none() && l != m && class.contains(l))
            };
            let representative = class.iter().find_map(lower).unwrap_or(class[0]);
            let (code, delta) = (u32::from(c), representative as i32 - c as i32);
            if delta == 0 {
                continue;
            }
            match runs.last_mut() {
                Some((first, last, step, d)) if *d == delta && *first == *last && code - *last <= 2 => {
                    (*step, *last) = (code - *last, code);
                }
                Some((_, last, step, d)) if *d == delta && code - *last == *step => *last = code,
                _ => runs.push((code, code, 1, delta)),
            }
        }
        for (first, last, step, delta) in runs {
            println!("    (0x{first:04X}, 0x{last:04X}, {step}, {delta}),");
        }
    }

    #[test]
    fn blank_is_white_space_and_default_ignorable() {
        let class = |name: &str| {
            let hir = regex_syntax::parse(name).unwrap();
            match hir.into_kind() {
                regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => class,
                other => panic!("{other:?}"),
            }
        };
        let mut expected = class(r"\p{White_Space}");
        expected.union(&class(r"\p{Default_Ignorable_Code_Point}"));
        for c in '\0'..=char::MAX {
            let blank = expected.ranges().iter().any(|range| (range.start()..=range.end()).contains(&c));
            assert_eq!(is_blank_char(c), blank, "{c:?}");
        }
    }

    #[test]
    fn scripts_written_without_spaces_join_nothing() {
        for script in ["Han", "Hiragana", "Katakana", "Bopomofo", "Yi", "Thai", "Lao", "Khmer", "Myanmar", "Tai_Viet"] {
            let hir = regex_syntax::parse(&format!(r"\p{{Script={script}}}")).unwrap();
            let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) = hir.into_kind() else {
                panic!("{script}");
            };
            for c in class.iter().flat_map(|range| range.start()..=range.end()) {
                assert!(!joins(c), "{script} {c:?}");
            }
        }
        assert!("aZ9é한글рΩעعन\u{301}".chars().all(joins));
        assert!(!" -_./%$€、。「".chars().any(joins));
    }

    #[test]
    fn collapses_at_every_place_of_a_chunk() {
        for before in 0..70 {
            for run in [" ", "  ", "\n", "\t \r\n", "\u{a0}", "\u{3000} ", "\u{2028}", "\u{85}"] {
                let text = "x".repeat(before) + run + "é" + run + "end" + &"y".repeat(40);
                let mut out = Vec::new();
                collapse_into(text.as_bytes(), &mut out);
                let expected = "x".repeat(before) + " é end" + &"y".repeat(40);
                assert_eq!(String::from_utf8(out).unwrap(), expected);
                let mut runs = Vec::new();
                irregular_runs(text.as_bytes(), |start, end| runs.push(&text[start..end]));
                assert_eq!(runs, if run == " " { vec![] } else { vec![run, run] });
            }
        }
    }

    #[test]
    fn decodes_as_the_walker_does() {
        for before in 0..70 {
            for escape in [r"\n", r#"\""#, r"\u00e9\\\\n", r"\ud83e\udd8a", "é", r"\n\n  \n"] {
                let raw = format!("{}{escape}{}{escape}", "x".repeat(before), "y".repeat(before / 2));
                let (mut here, mut there) = (Vec::new(), Vec::new());
                let json = format!("{raw}\", more");
                assert_eq!(decode_string_into(json.as_bytes(), 0, &mut here), raw.len());
                json::decode_into(raw.as_bytes(), &mut there);
                assert_eq!(here, there, "{raw}");
            }
        }
    }

    #[test]
    fn undoes_escapes_and_leaves_other_backslashes() {
        let undone = |text: &str| {
            let mut out = Vec::new();
            let found = unescape_into(text.as_bytes(), &mut out);
            (String::from_utf8(out).unwrap(), found)
        };
        assert_eq!(undone(r#"a\"b\u00e9\ud83e\udd8a\/"#), ("a\"bé🦊/".to_owned(), true));
        assert_eq!(undone(r"C:\Users\d\u12"), (r"C:\Users\d\u12".to_owned(), false));
        assert_eq!(undone(r"\\n \ud800 \"), ("\\n \u{fffd} \\".to_owned(), true));
    }

    #[test]
    fn spells_leaves() {
        let spelled = |raw: &str| {
            let mut out = b"before".to_vec();
            let found = leaf_into(raw.as_bytes(), 1000, &mut out, &mut Scratch::default());
            let spelled = String::from_utf8(out.split_off(6)).unwrap();
            // The quick way says the same, or that it cannot say.
            let json = format!("{raw}\" and more");
            match plain_leaf_into(json.as_bytes(), 0, &mut out) {
                Some((end, spaced)) => {
                    assert_eq!((end, &out[6..]), (raw.len(), spelled.as_bytes()));
                    assert_eq!(found, Spelled::Text { characters: raw.len(), spaced });
                }
                None => assert!(!raw.is_ascii() || raw.contains(['\\', ' ']) || raw.is_empty(), "{raw:?}"),
            }
            assert_eq!(end_of_string(json.as_bytes(), 0), (raw.len(), raw.contains('\\')));
            (spelled, found)
        };
        let text = |s: &str, characters, spaced| (s.to_owned(), Spelled::Text { characters, spaced });
        assert_eq!(spelled("Hello World"), text("hello world", 11, true));
        assert_eq!(spelled(r" \n\tHello\u00a0\u3000 ÉCOLE "), text("hello école", 11, true));
        assert_eq!(spelled(r"\u00c9"), text("é", 1, false));
        let alphabet: String = (' '..='~').filter(|c| !"\"\\".contains(*c)).collect();
        for length in 1..90 {
            let raw = alphabet[length..].trim();
            let expected = text(&raw.to_ascii_lowercase(), raw.len(), false);
            assert_eq!(spelled(raw), expected);
            let raw = format!("{} {}", "Xy".repeat(length), &"éÉ b".repeat(length % 3));
            let folded = raw.to_lowercase().trim().to_owned();
            let characters = folded.chars().count();
            assert_eq!(spelled(&raw), text(&folded, characters, folded.contains(' ')));
        }
        for blank in ["", " ", r"\n\t", "\u{200b}\u{feff}", r"\u00ad \u3164"] {
            assert_eq!(spelled(blank), (String::new(), Spelled::Blank), "{blank:?}");
        }
        let mut out = Vec::new();
        assert_eq!(leaf_into("é".repeat(50).as_bytes(), 9, &mut out, &mut Scratch::default()), Spelled::TooLong);
        assert!(out.len() < 20);
    }
}
