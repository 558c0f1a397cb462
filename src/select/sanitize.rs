//! The setting `sanitize`: takes out of texts what a reader cannot see but a model or a terminal obeys.
//!
//! Five sets, each chosen by name:
//!
//! | name | what goes | source |
//! |---|---|---|
//! | `ansi` | terminal sequences, whole, with the text inside operating system commands | ECMA-48, ECMA-35 |
//! | `bidi` | direction marks, embeddings, overrides, isolates | Unicode property `Bidi_Control` |
//! | `invisible` | soft hyphens, zero widths, joiners, fillers, selectors | Unicode property `Default_Ignorable_Code_Point` without the other sets |
//! | `tags` | U+E0000 to U+E007F, those of flags such as Scotland's too | Unicode block Tags |
//! | `control` | all but tab, line feed and carriage return | Unicode general category `Cc` |
//!
//! **Sequences** (`ansi`) begin with ESC, or with one of the single characters that stand for ESC and a letter (CSI
//! U+009B, OSC U+009D, DCS U+0090, SOS U+0098, PM U+009E, APC U+009F, and ST U+009C, which begins nothing):
//!
//! * a control sequence: CSI, parameters, intermediates, a final character;
//! * a control string: OSC, DCS, SOS, PM or APC, its text, and BEL, ST or `ESC \`. Its text has no control character
//!   but tab: a string that is not closed on its line is not taken for one, so that a stray introducer cannot make
//!   the lines after it disappear;
//! * any other escape sequence: ESC, up to two intermediates, a final character;
//! * what begins a sequence that does not come to its end: it alone.
//!
//! **Joiners and selectors** (`invisible`) stay where writing needs them, and directly behind a visible character
//! only, so that runs, which carry hidden text, go: U+200C and U+200D behind a character of a script that is written
//! with them (Arabic to Khmer and Mongolian), U+200D between emoji, U+FE0E and U+FE0F behind an emoji or a symbol that
//! has an emoji form. The selector of a keycap goes.
//!
//! **Nothing new comes to light.** All of `bidi`, `invisible`, `tags` and `control` that begins or ends no sequence is
//! taken out before sequences are looked for, so a sequence that was split by them is found. A sequence goes together
//! with what begins it, so nothing is left that could begin another. Doing it again therefore changes nothing; that
//! takes three passes, each linear.

use crate::policy::rule::Sanitize;
use crate::result::json;
use crate::result::text;

/// How many characters, or for `ansi` sequences, were taken out.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    pub ansi: u64,
    pub bidi: u64,
    pub invisible: u64,
    pub tags: u64,
    pub control: u64,
}

impl Counts {
    pub fn add(&mut self, other: Counts) {
        self.ansi += other.ansi;
        self.bidi += other.bidi;
        self.invisible += other.invisible;
        self.tags += other.tags;
        self.control += other.control;
    }

    pub fn total(self) -> u64 {
        self.ansi + self.bidi + self.invisible + self.tags + self.control
    }
}

/// Takes out of `text` what `what` names; `None` when there is nothing of it.
///
/// ```
/// use mcp_select::policy::rule::Sanitize;
/// use mcp_select::select::sanitize::sanitize;
///
/// let what = Sanitize { ansi: true, bidi: true, ..Sanitize::default() };
/// let (clean, counts) = sanitize("\u{1b}[31mred\u{202e}", what).unwrap();
/// assert_eq!((clean.as_str(), counts.ansi, counts.bidi), ("red", 1, 1));
/// assert!(sanitize("plain", what).is_none());
/// ```
pub fn sanitize(text: &str, what: Sanitize) -> Option<(String, Counts)> {
    next_suspect(text.as_bytes(), 0)?;
    let mut counts = Counts::default();
    let mut clean = take_characters(text, what, what.ansi, &mut counts);
    if what.ansi {
        clean = take_sequences(clean.as_deref().unwrap_or(text), &mut counts).or(clean);
        if what.control {
            // The characters that could have begun or ended a sequence and did not.
            clean = take_characters(clean.as_deref().unwrap_or(text), what, false, &mut counts).or(clean);
        }
    }
    clean.map(|clean| (clean, counts))
}

/// Appends the valid JSON `value` with each of its strings, member names too, sanitised, everything else as it stands.
///
/// `None`: there is nothing to take out, and nothing was appended. Names that were different may be equal now; which
/// one counts is the caller's to say.
pub fn sanitize_json(value: &[u8], what: Sanitize, out: &mut Vec<u8>) -> Option<Counts> {
    let mut counts = Counts::default();
    let (mut at, mut copied) = (0, 0);
    while let Some(quote) = memchr::memchr(b'"', value.get(at..).unwrap_or_default()) {
        let start = at + quote + 1;
        let end = json::end_of_valid_string(value, start);
        at = end + 1;
        let raw = value.get(start..end).unwrap_or_default();
        if !may_need_it(raw) {
            continue;
        }
        let Some((clean, taken)) = sanitize(&json::text_of(raw), what) else { continue };
        counts.add(taken);
        out.extend_from_slice(value.get(copied..start).unwrap_or_default());
        json::escape_into(clean.as_bytes(), out);
        copied = end;
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(value.get(copied..).unwrap_or_default());
    Some(counts)
}

/// Whether a string as it stands between its quotes could hold anything of any set.
fn may_need_it(raw: &[u8]) -> bool {
    // Of the escapes, those of letters, quotes and slashes stand for characters that are in no set.
    next_suspect(raw, 0).is_some()
        || memchr::memchr_iter(b'\\', raw).any(|at| matches!(raw.get(at + 1), Some(b'u' | b'b' | b'f')))
}

/// Whether `character` belongs to the set `invisible`, wherever it stands: what no font shows and no other set takes.
pub fn is_invisible(character: char) -> bool {
    text::is_invisible(character) && !is_bidi(character) && !is_tag(character)
}

/// The set `bidi`.
fn is_bidi(character: char) -> bool {
    matches!(character, '\u{61C}' | '\u{200E}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The set `tags`.
fn is_tag(character: char) -> bool {
    matches!(character, '\u{E0000}'..='\u{E007F}')
}

/// The set `control`.
fn is_control(character: char) -> bool {
    character.is_control() && !matches!(character, '\t' | '\n' | '\r')
}

/// What begins or ends a sequence of `ansi`.
fn is_of_sequences(character: char) -> bool {
    matches!(character, ESC | BEL | CSI | ST) || is_string_introducer(character)
}

const ESC: char = '\u{1B}';
const BEL: char = '\u{7}';
const CSI: char = '\u{9B}';
const ST: char = '\u{9C}';

/// DCS, SOS, OSC, PM or APC as one character.
fn is_string_introducer(character: char) -> bool {
    matches!(character, '\u{90}' | '\u{98}' | '\u{9D}' | '\u{9E}' | '\u{9F}')
}

/// The position of the first byte at or after `at` that could begin a character of any set: a control other than tab
/// and line ends, DEL, or one that is no ASCII.
fn next_suspect(text: &[u8], at: usize) -> Option<usize> {
    let suspect = |byte: u8| byte >= 0x7F || (byte < 0x20 && byte != b'\n' && byte != b'\t' && byte != b'\r');
    let mut start = at;
    // Vectorised by the compiler: one branch for each 64 bytes.
    for chunk in text.get(at..)?.chunks(64) {
        if chunk.iter().fold(false, |any, &byte| any | suspect(byte)) {
            return chunk.iter().position(|&byte| suspect(byte)).map(|found| start + found);
        }
        start += chunk.len();
    }
    None
}

// ---- single characters ----------------------------------------------------------------------------------

/// Takes out all single characters of `what`, save those of sequences when `spare_sequences` says so.
fn take_characters(text: &str, what: Sanitize, spare_sequences: bool, counts: &mut Counts) -> Option<String> {
    let mut out = Remains::of(text);
    let mut at = 0;
    while let Some((start, character)) = next_special(text, at) {
        at = start + character.len_utf8();
        let count = match character {
            c if spare_sequences && is_of_sequences(c) => continue,
            c if what.control && is_control(c) => &mut counts.control,
            c if what.bidi && is_bidi(c) => &mut counts.bidi,
            c if what.tags && is_tag(c) => &mut counts.tags,
            c if what.invisible && is_invisible(c) => {
                let after = || text.get(at..).and_then(|rest| rest.chars().next());
                if is_needed(c, out.last_before(start), after) {
                    continue;
                }
                &mut counts.invisible
            }
            _ => continue,
        };
        *count += 1;
        out.take(start, at);
    }
    out.finish()
}

/// The first character at or after `at` that belongs to any set of single characters, and its position.
fn next_special(text: &str, mut at: usize) -> Option<(usize, char)> {
    while let Some(start) = next_suspect(text.as_bytes(), at) {
        // Other scripts come in runs: look at their characters without searching anew.
        for (offset, character) in text.get(start..)?.char_indices() {
            at = start + offset;
            if character.is_ascii() && !is_control(character) {
                break;
            }
            if is_control(character) || is_bidi(character) || is_tag(character) || is_invisible(character) {
                return Some((at, character));
            }
            at += character.len_utf8();
        }
    }
    None
}

/// Whether a character of `invisible` is part of the writing where it stands.
///
/// It looks at what stands beside it, at nothing that is ASCII: a sequence never ends between the two.
fn is_needed(character: char, before: Option<char>, after: impl Fn() -> Option<char>) -> bool {
    let Some(before) = before else { return false };
    match character {
        '\u{200C}' => is_written_with_joiners(before),
        '\u{200D}' => {
            is_written_with_joiners(before)
                || ((is_emoji(before) || before == '\u{FE0F}') && after().is_some_and(is_emoji))
        }
        '\u{FE0E}' | '\u{FE0F}' => is_emoji(before),
        _ => false,
    }
}

/// Blocks of scripts whose writing uses joiners: Arabic, Syriac, Thaana, N'Ko and the other scripts up to U+08FF, those
/// of India, Tibetan, Myanmar, Khmer, Mongolian, Balinese and their neighbours, and the same in the higher planes.
fn is_written_with_joiners(character: char) -> bool {
    matches!(
        character,
        '\u{600}'..='\u{DFF}'
            | '\u{F00}'..='\u{109F}'
            | '\u{1780}'..='\u{18AF}'
            | '\u{1A20}'..='\u{1CFF}'
            | '\u{A800}'..='\u{ABFF}'
            | '\u{FB50}'..='\u{FDFF}'
            | '\u{FE70}'..='\u{FEFE}'
            | '\u{10A00}'..='\u{11FFF}'
            | '\u{1E900}'..='\u{1E95F}'
    ) && !is_invisible(character)
        && !is_bidi(character)
}

/// Emoji, and the symbols beside them that have an emoji form (`emoji-variation-sequences.txt`), by their blocks.
fn is_emoji(character: char) -> bool {
    matches!(
        character,
        '\u{A9}'
            | '\u{AE}'
            | '\u{203C}'
            | '\u{2049}'
            | '\u{2122}'
            | '\u{2139}'
            | '\u{2190}'..='\u{21FF}'
            | '\u{2300}'..='\u{23FF}'
            | '\u{24C2}'
            | '\u{25A0}'..='\u{27BF}'
            | '\u{2900}'..='\u{297F}'
            | '\u{2B00}'..='\u{2BFF}'
            | '\u{3030}'
            | '\u{303D}'
            | '\u{3297}'
            | '\u{3299}'
            | '\u{1F000}'..='\u{1FAFF}'
    )
}

// ---- sequences ------------------------------------------------------------------------------------------

/// Takes out all that `ansi` names.
fn take_sequences(text: &str, counts: &mut Counts) -> Option<String> {
    let mut out = Remains::of(text);
    let mut at = 0;
    while let Some(start) = next_introducer(text.as_bytes(), at) {
        at = end_of_sequence(text, start);
        counts.ansi += 1;
        out.take(start, at);
    }
    out.finish()
}

/// The position of the first ESC, CSI, ST or string introducer at or after `at`.
fn next_introducer(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        // In UTF-8, U+0080 to U+009F are C2 and a byte of the same value.
        at += memchr::memchr2(0x1B, 0xC2, text.get(at..)?)?;
        match (text.get(at), text.get(at + 1)) {
            (Some(0x1B), _) | (_, Some(0x90 | 0x98 | 0x9B..=0x9F)) => return Some(at),
            _ => at += 1,
        }
    }
}

/// The end of the sequence that begins at `start`; the end of what begins it, when it does not come to its end.
///
/// No search goes beyond the next control character but tab, which is where the next sequence can begin at the
/// earliest: all searches together are linear.
fn end_of_sequence(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let Some(introducer) = rest.chars().next() else { return text.len() };
    let inside = start + introducer.len_utf8();
    let (begun, end) = match (introducer, text.as_bytes().get(inside)) {
        (CSI, _) => (inside, end_of_control_sequence(text, inside)),
        (ESC, Some(b'[')) => (inside + 1, end_of_control_sequence(text, inside + 1)),
        (ESC, Some(b'P' | b'X' | b']' | b'^' | b'_')) => (inside + 1, end_of_string(text, inside + 1)),
        (ESC, _) => (inside, end_of_escape_sequence(text, inside)),
        _ if is_string_introducer(introducer) => (inside, end_of_string(text, inside)),
        _ => (inside, None),
    };
    end.unwrap_or(begun)
}

/// ECMA-48 5.4: parameters 03/00 to 03/15, intermediates 02/00 to 02/15, a final character 04/00 to 07/14.
fn end_of_control_sequence(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at..)?;
    let parameters = rest.iter().take_while(|byte| matches!(byte, 0x30..=0x3F)).count();
    let intermediates = rest.iter().skip(parameters).take_while(|byte| matches!(byte, 0x20..=0x2F)).count();
    let length = parameters + intermediates;
    matches!(rest.get(length), Some(0x40..=0x7E)).then_some(at + length + 1)
}

/// ECMA-48 5.6, closed by BEL as well, as terminals have it.
fn end_of_string(text: &str, at: usize) -> Option<usize> {
    let mut rest = text.get(at..)?.char_indices();
    let (offset, end) = rest.find(|&(_, character)| character.is_control() && character != '\t')?;
    match end {
        BEL | ST => Some(at + offset + end.len_utf8()),
        ESC if rest.as_str().starts_with('\\') => Some(at + offset + 2),
        _ => None,
    }
}

/// ECMA-35 13.2: intermediates 02/00 to 02/15, a final character 03/00 to 07/14. Two intermediates are the most in use.
fn end_of_escape_sequence(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at..)?;
    let intermediates = rest.iter().take(2).take_while(|byte| matches!(byte, 0x20..=0x2F)).count();
    matches!(rest.get(intermediates), Some(0x30..=0x7E)).then_some(at + intermediates + 1)
}

// ---- what remains ---------------------------------------------------------------------------------------

/// A text of which ranges are taken out, from front to back. Nothing is copied before the first.
struct Remains<'a> {
    text: &'a str,
    /// What remains of the text up to `seen`.
    kept: String,
    seen: usize,
    changed: bool,
}

impl<'a> Remains<'a> {
    fn of(text: &'a str) -> Remains<'a> {
        Remains { text, kept: String::new(), seen: 0, changed: false }
    }

    fn take(&mut self, start: usize, end: usize) {
        self.kept.push_str(self.text.get(self.seen..start).unwrap_or_default());
        self.seen = end;
        self.changed = true;
    }

    /// The last character that remains of the text before `at`.
    fn last_before(&self, at: usize) -> Option<char> {
        let unseen = self.text.get(self.seen..at).unwrap_or_default();
        unseen.chars().next_back().or_else(|| self.kept.chars().next_back())
    }

    fn finish(mut self) -> Option<String> {
        self.kept.push_str(if self.changed { self.text.get(self.seen..).unwrap_or_default() } else { "" });
        self.changed.then_some(self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Sanitize = Sanitize { ansi: true, bidi: true, invisible: true, tags: true, control: true };
    const ANSI: Sanitize = Sanitize { ansi: true, bidi: false, invisible: false, tags: false, control: false };
    const INVISIBLE: Sanitize = Sanitize { ansi: false, bidi: false, invisible: true, tags: false, control: false };

    fn clean(text: &str, what: Sanitize) -> String {
        sanitize(text, what).map_or_else(|| text.to_owned(), |(clean, _)| clean)
    }

    #[test]
    fn takes_terminal_codes_overrides_and_zero_widths() {
        // R-67.a
        let what = Sanitize { tags: false, ..ALL };
        let text = "Server: nginx\u{1b}[2J\u{1b}]0;owned\u{7} ok\u{202e}txt.exe\u{200b}";
        let (clean, counts) = sanitize(text, what).unwrap();
        assert_eq!(clean, "Server: nginx oktxt.exe");
        assert_eq!(counts, Counts { ansi: 2, bidi: 1, invisible: 1, tags: 0, control: 0 });
        assert_eq!(counts.total(), 4);
    }

    #[test]
    fn reaches_names_values_and_escapes_of_json() {
        // R-67.b
        let value = br#"{"head\u200ber" : "ngi\u202enx","list":["a\u001b[31mb", 1.50, "\u00e9"]}"#;
        let mut out = b"=".to_vec();
        let counts = sanitize_json(value, Sanitize { tags: false, ..ALL }, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), r#"={"header" : "nginx","list":["ab", 1.50, "\u00e9"]}"#);
        assert_eq!(counts, Counts { ansi: 1, bidi: 1, invisible: 1, tags: 0, control: 0 });
        let mut out = b"=".to_vec();
        for same in [&br#"{"a\\u001b":["\n\t\u00e9",null]}"#[..], b"12", b"\"\"", b"[]"] {
            assert_eq!(sanitize_json(same, ALL, &mut out), None);
        }
        assert_eq!(out, b"=");
    }

    #[test]
    fn knows_the_sequences() {
        for (text, expected) in [
            ("a\u{1b}[1;31mb", "ab"),
            ("a\u{9b}38:5:1 qb", "ab"),
            ("a\u{1b}]8;;https://x.y\u{1b}\\link\u{1b}]8;;\u{1b}\\b", "alinkb"),
            ("a\u{9d}0;title\u{9c}b", "ab"),
            ("a\u{1b}Pq#0\u{1b}\\\u{1b}_G\u{7}\u{1b}^x\u{9c}\u{1b}Xy\u{7}b", "ab"),
            ("a\u{1b}(B\u{1b}7\u{1b}$(Cb", "ab"),
            ("a\u{1b}", "a"),
            ("a\u{1b}\nb", "a\nb"),
            // Not closed on its line: only what begins it goes.
            ("a\u{1b}]0;b\nc\u{7}", "a0;b\nc\u{7}"),
            ("a\u{9f}b", "ab"),
            ("a\u{9c}b", "ab"),
            ("a\u{1b}[12é", "a12é"),
            ("a\u{1b}[12", "a12"),
            ("a\u{1b}]0;b\u{1b}[1mc", "a0;bc"),
            // Nests: each ESC goes with what it begins, the rest is plain text.
            ("\u{1b}\u{1b}[31m[31mx", "[31mx"),
            ("\u{1b}[\u{1b}[31m31mx", "31mx"),
            ("\u{1b}]\u{1b}]0;x\u{7}0;y\u{7}", "0;y\u{7}"),
        ] {
            assert_eq!(clean(text, ANSI), expected, "{text:?}");
            assert_eq!(clean(expected, ANSI), expected);
        }
    }

    #[test]
    fn finds_sequences_that_other_characters_split() {
        for text in ["x\u{1b}\u{200b}[3\u{1}1\u{202e}m", "x\u{1b}[\u{e0041}2J", "x\u{1b}\u{ad}]0;a\u{2}b\u{7}"] {
            assert_eq!(clean(text, ALL), "x", "{text:?}");
        }
        assert_eq!(clean("\u{7}x\u{1b}[3\u{7}1m", ALL), "x31m");
    }

    #[test]
    fn leaves_joiners_where_writing_needs_them() {
        for same in
            ["می\u{200c}خواهم", "क्\u{200d}ष", "ന്\u{200d}", "👩\u{200d}👩\u{200d}👧", "❤\u{fe0f}\u{200d}🔥", "☎\u{fe0e}"]
        {
            assert_eq!(sanitize(same, ALL), None, "{same}");
        }
        for (text, expected) in [
            ("a\u{200d}b\u{200c}c\u{fe0f}", "abc"),
            ("\u{200d}ह", "ह"),
            ("ه\u{200d}\u{200d}\u{200c}ه", "ه\u{200d}ه"),
            ("👩\u{200d}", "👩"),
            ("👩\u{200d}x", "👩x"),
            ("😀\u{fe0f}\u{fe0f}\u{fe01}\u{e0100}", "😀\u{fe0f}"),
            ("1\u{fe0f}\u{20e3}", "1\u{20e3}"),
        ] {
            assert_eq!(clean(text, INVISIBLE), expected, "{text:?}");
        }
        assert_eq!(clean("🏴\u{e0067}\u{e0062}\u{e007f}", ALL), "🏴");
    }

    #[test]
    fn each_set_is_its_own() {
        let text = "\u{1b}[m\u{202e}\u{200b}\u{e0041}\u{1}\u{85}";
        let only = |what: Sanitize| sanitize(text, what).unwrap().1;
        let none = Sanitize::default();
        assert_eq!(only(Sanitize { ansi: true, ..none }), Counts { ansi: 1, ..Counts::default() });
        assert_eq!(only(Sanitize { bidi: true, ..none }), Counts { bidi: 1, ..Counts::default() });
        assert_eq!(only(Sanitize { invisible: true, ..none }), Counts { invisible: 1, ..Counts::default() });
        assert_eq!(only(Sanitize { tags: true, ..none }), Counts { tags: 1, ..Counts::default() });
        assert_eq!(only(Sanitize { control: true, ..none }), Counts { control: 3, ..Counts::default() });
        assert_eq!(sanitize(text, none), None);
        assert_eq!(sanitize("a\tb\r\nc", ALL), None);
    }

    #[test]
    fn is_linear_on_hostile_texts() {
        // Quadratic work on these would take minutes.
        for unit in [
            "\u{1b}",
            "\u{1b}[",
            "\u{1b}]",
            "\u{9d}",
            "\u{1b}[1",
            "\u{1b}]a",
            "\u{200d}",
            "ह\u{200d}",
            "\u{1b}\u{200b}",
        ] {
            let text = unit.repeat((1 << 19) / unit.len());
            let once = clean(&text, ALL);
            assert_eq!(sanitize(&once, ALL), None, "{unit:?}");
        }
    }

    fn sets() -> impl Strategy<Value = Sanitize> {
        any::<[bool; 5]>().prop_map(|[ansi, bidi, invisible, tags, control]| Sanitize {
            ansi,
            bidi,
            invisible,
            tags,
            control,
        })
    }

    /// Texts of what the sets are about, and of what stands around it.
    fn texts() -> impl Strategy<Value = String> {
        let pieces = [
            "\u{1b}",
            "\u{1b}",
            "[",
            "]",
            "\\",
            "P",
            "(",
            " ",
            "3",
            "1;2",
            "m",
            "x",
            "\u{7}",
            "\u{9b}",
            "\u{9c}",
            "\u{9d}",
            "\u{90}",
            "\u{85}",
            "\u{18}",
            "\u{7f}",
            "\n",
            "\t",
            "\u{202e}",
            "\u{61c}",
            "\u{200b}",
            "\u{200c}",
            "\u{200d}",
            "\u{fe0f}",
            "\u{fe00}",
            "\u{e0100}",
            "\u{e0041}",
            "ह",
            "ه",
            "é",
            "👩",
            "❤",
            "汉",
            "\"",
            "\u{180e}",
            "\u{feff}",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24).prop_map(|pieces| pieces.concat())
    }

    /// Whether `part` is `whole` with characters taken out.
    fn is_subsequence(part: &str, whole: &str) -> bool {
        let mut rest = whole.chars();
        part.chars().all(|c| rest.any(|other| other == c))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn once_is_twice_and_nothing_remains(text in texts(), what in sets()) {
            let once = clean(&text, what);
            prop_assert_eq!(sanitize(&once, what), None);
            prop_assert!(is_subsequence(&once, &text));
            for c in once.chars() {
                prop_assert!(!(what.bidi && is_bidi(c)));
                prop_assert!(!(what.tags && is_tag(c)));
                prop_assert!(!(what.control && is_control(c)));
                prop_assert!(!(what.ansi && c != BEL && is_of_sequences(c)));
                let may_be_needed = ['\u{200c}', '\u{200d}', '\u{fe0f}'].contains(&c);
                prop_assert!(!(what.invisible && is_invisible(c)) || may_be_needed);
            }
            if let Some((_, counts)) = sanitize(&text, what) {
                prop_assert!(counts.total() > 0);
            }
        }

        #[test]
        fn what_is_in_no_set_stays(text in "[a-zA-Zäß汉字ğह😀 \t\n\r!-~]{0,40}", what in sets()) {
            prop_assert_eq!(sanitize(&text, what), None);
        }

        #[test]
        fn json_strings_are_as_texts(text in texts(), what in sets(), plain in any::<bool>()) {
            let mut value = b"{\"".to_vec();
            if plain {
                json::escape_into(text.as_bytes(), &mut value);
            } else {
                text.encode_utf16().for_each(|unit| value.extend(format!("\\u{unit:04x}").bytes()));
            }
            value.extend(b"\" : [1]}");
            let mut out = Vec::new();
            match sanitize_json(&value, what, &mut out) {
                None => prop_assert_eq!(sanitize(&text, what), None),
                Some(counts) => {
                    prop_assert_eq!(sanitize(&text, what).map(|(_, counts)| counts), Some(counts));
                    let mut expected = b"{\"".to_vec();
                    json::escape_into(clean(&text, what).as_bytes(), &mut expected);
                    expected.extend(b"\" : [1]}");
                    prop_assert_eq!(out, expected);
                }
            }
        }
    }
}
