//! The tokens of JSON, found 64 bytes at a time, and a walk from one to the next that validates.
//!
//! Of each block, masks of one bit a byte tell quotes, backslashes, operators and white space; from them come the bytes
//! that stand inside a string, and the tokens: operators, both quotes of a string, the first byte of a number or literal.
//! The way from quotes to strings by a prefix sum, and escapes by an addition, is that of Langdale and Lemire, "Parsing
//! gigabytes of JSON per second", The VLDB Journal 28 (2019).
//!
//! For speed alone: what is refused here is read again byte by byte (`walk`), which says what is wrong.

use super::json::{
    Fault, MAX_DEPTH, Malformed, NameSet, Names, Noted, Seen, Span, Unnoted, hex4, low_surrogate, validate_escape,
    validate_literal, validate_number,
};
use super::masks::{BLOCK, Level, Marks, Quoted, Quoting, Work, ones};
use super::walk::Walk;

/// A walk through JSON.
pub struct Tokens<'a> {
    cursor: Cursor,
    blocks: Blocks<'a>,
    max_depth: u32,
}

/// Where a walk stands. Small, so that it stays in registers while a value is read.
#[derive(Clone, Copy)]
struct Cursor {
    at: u32,
    /// Where the block starts.
    block: u32,
    /// The tokens of the block that come behind `at`, one bit each.
    left: u64,
}

/// The blocks that are still to come, and what must be known of those before.
struct Blocks<'a> {
    bytes: &'a [u8],
    end: u32,
    level: Level,
    /// Where the next block starts.
    next: u32,
    quoting: Quoting,
    /// 1: the byte before it belongs to a number, a literal, or something that is no token.
    in_scalar: u64,
    /// White space outside strings in the last block, and the first that was met since somebody asked.
    white: u64,
    first_white: Option<u32>,
    faulty: bool,
    seen: Seen,
    /// Where the escape of a low surrogate stands whose high one was met.
    low: u32,
    /// The last escape that has a shorter spelling.
    long_escape: u32,
}

/// Finds the tokens of a block.
struct Find<'x, 'a> {
    block: &'x [u8; BLOCK],
    blocks: &'x mut Blocks<'a>,
}

impl Work for Find<'_, '_> {
    type Output = u64;
    #[inline(always)]
    fn run(self, marks: impl Marks) -> u64 {
        self.blocks.find(self.block, marks)
    }
}

/// A fault: what it is, the walk byte by byte will say.
const FAULT: Malformed = Malformed { at: 0, fault: Fault::Unexpected };

impl<'a> Tokens<'a> {
    /// `None`: the processor has no vector instructions that are known here, or the input is too long for positions of 32 bits.
    pub fn new(bytes: &'a [u8], max_depth: u32) -> Option<Tokens<'a>> {
        let level = Level::to_look();
        if !level.has_vectors() {
            return None;
        }
        let mut blocks = Blocks {
            bytes,
            end: u32::try_from(bytes.len()).ok().filter(|end| *end < u32::MAX / 2)?,
            level,
            next: 0,
            quoting: Quoting::default(),
            in_scalar: 0,
            white: 0,
            first_white: None,
            faulty: false,
            seen: Seen::default(),
            low: u32::MAX,
            long_escape: 0,
        };
        let cursor = Cursor { at: 0, block: 0, left: 0 }.step(&mut blocks);
        Some(Tokens { cursor, blocks, max_depth: max_depth.min(MAX_DEPTH) })
    }
}

impl Cursor {
    /// The next token; one behind the input when there is none.
    #[inline(always)]
    fn step(mut self, blocks: &mut Blocks<'_>) -> Cursor {
        if self.left == 0 {
            (self.block, self.left) = blocks.more();
        }
        self.at = self.block + self.left.trailing_zeros();
        self.left &= self.left.wrapping_sub(1);
        self
    }

    #[inline(always)]
    fn byte(self, bytes: &[u8]) -> u8 {
        bytes.get(self.at as usize).copied().unwrap_or_default()
    }
}

impl Blocks<'_> {
    /// The next block that has a token, and its tokens, one bit each.
    #[inline(never)]
    fn more(&mut self) -> (u32, u64) {
        while self.next < self.end {
            let block = self.next;
            let tokens = self.load();
            if tokens != 0 {
                return (block, tokens);
            }
        }
        (self.end, 1)
    }

    fn load(&mut self) -> u64 {
        let rest = self.bytes.get(self.next as usize..).unwrap_or_default();
        match rest.first_chunk::<BLOCK>() {
            Some(block) => self.level.run(Find { block, blocks: self }),
            None => self.load_last(rest),
        }
    }

    /// The last block, filled up with spaces.
    #[cold]
    fn load_last(&mut self, rest: &[u8]) -> u64 {
        let mut block = [b' '; BLOCK];
        block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        self.level.run(Find { block: &block, blocks: self })
    }

    #[inline(always)]
    fn find(&mut self, block: &[u8; BLOCK], marks: impl Marks) -> u64 {
        let start = self.next;
        self.next += BLOCK as u32;
        self.white = 0;
        let strings = marks.strings(block);
        let (quote, backslash, control) = (strings.quote, strings.backslash, strings.control);
        if self.quoting.in_string != 0 && quote | backslash | self.quoting.escaped | control == 0 {
            self.skip_plain(marks);
            return 0;
        }
        let Quoted { escaped, quotes, inside: strings } = self.quoting.next(strings, marks);
        if backslash != 0 {
            self.seen.add(Seen::ESCAPE);
        }
        if control != 0 {
            self.control(block, control, strings);
        }
        let odd = escaped & !quote & !backslash;
        if odd != 0 {
            self.escapes(start, odd);
        }
        if quotes == 0 && self.quoting.in_string != 0 {
            self.in_scalar = 0;
            return 0;
        }
        let outside = marks.outside(block);
        let scalars = !(outside.operator | outside.white | quotes | strings);
        let starts = scalars & !(scalars << 1 | self.in_scalar);
        self.in_scalar = scalars >> 63;
        self.white = outside.white & !strings;
        if self.white != 0 && self.first_white.is_none() {
            self.first_white = Some(start + self.white.trailing_zeros());
        }
        outside.operator & !strings | quotes | starts
    }

    /// Inside a string, passes over blocks of plain text.
    #[inline(always)]
    fn skip_plain(&mut self, marks: impl Marks) {
        let rest = self.bytes.get(self.next as usize..).unwrap_or_default();
        let (blocks, _) = rest.as_chunks::<BLOCK>();
        for block in blocks {
            if !marks.is_plain(block) {
                break;
            }
            self.next += BLOCK as u32;
        }
    }

    /// Control characters: none inside strings, and outside those that are white space.
    fn control(&mut self, block: &[u8; BLOCK], control: u64, strings: u64) {
        self.faulty |= control & strings != 0;
        for place in ones(control) {
            self.faulty |= !matches!(block.get(place as usize), Some(b'\t' | b'\n' | b'\r'));
        }
    }

    /// Escapes that are neither `\"` nor `\\`.
    fn escapes(&mut self, start: u32, escaped: u64) {
        for place in ones(escaped) {
            let at = start + place;
            let index = at as usize;
            match self.bytes.get(index) {
                Some(b'b' | b'f' | b'n' | b'r' | b't') => {}
                Some(b'/') => self.note_long_escape(at),
                Some(b'u') => {
                    self.note_long_escape(at);
                    match hex4(self.bytes, index + 1) {
                        None => self.faulty = true,
                        Some(0xD800..=0xDBFF) if low_surrogate(self.bytes, index + 5).is_some() => self.low = at + 6,
                        Some(0xD800..=0xDFFF) if self.low != at => self.seen.add(Seen::LONE_SURROGATE),
                        Some(_) => {}
                    }
                }
                _ => self.faulty = true,
            }
        }
    }

    fn note_long_escape(&mut self, at: u32) {
        self.seen.add(Seen::LONG_ESCAPE);
        self.long_escape = at;
    }

    /// What kinds of escapes stand in a value.
    fn escapes_inside(&self, start: usize, end: usize) -> Result<Seen, Malformed> {
        let mut seen = Seen::default();
        let value = self.bytes.get(start..end).unwrap_or_default();
        let mut at = 0;
        while let Some(plain) = value.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
            at = validate_escape(value, at + plain, &mut seen)?;
        }
        Ok(seen)
    }
}

impl Tokens<'_> {
    #[inline(never)]
    fn other_value(&mut self, open: u32) -> Result<usize, Malformed> {
        self.value_with(open, &mut Unnoted, &mut Seen::default())
    }

    #[inline(always)]
    fn value_with<N: Names>(&mut self, open: u32, names: &mut N, seen: &mut Seen) -> Result<usize, Malformed> {
        let bytes = self.blocks.bytes;
        let (mut cursor, blocks) = (self.cursor, &mut self.blocks);
        let allowed = self.max_depth;
        let mut depth = open;
        // One bit for each container opened here, the innermost lowest: 1 = object.
        let mut objects: u128 = 0;
        let mut end;
        macro_rules! step {
            () => {
                end = cursor.at + 1;
                cursor = cursor.step(blocks);
            };
        }
        macro_rules! step_to {
            ($byte:literal) => {
                cursor = cursor.step(blocks);
                if cursor.byte(bytes) != $byte {
                    return Err(FAULT);
                }
            };
        }
        macro_rules! name {
            () => {
                if cursor.byte(bytes) != b'"' {
                    return Err(FAULT);
                }
                let start = cursor.at + 1;
                // Between the quotes of a string there is no token. A name that does not end has no colon behind it.
                cursor = cursor.step(blocks);
                names.name(bytes, Span { start, end: cursor.at }, blocks.seen, seen);
                step_to!(b':');
                cursor = cursor.step(blocks);
            };
        }
        macro_rules! end_scalar {
            ($end:expr) => {
                let after: usize = $end;
                if !ends_scalar(bytes, after) {
                    return Err(FAULT);
                }
                end = u32::try_from(after).unwrap_or(u32::MAX);
                cursor = cursor.step(blocks);
            };
        }
        'value: loop {
            let byte = cursor.byte(bytes);
            match byte {
                b'"' => {
                    step_to!(b'"');
                    step!();
                }
                b'{' | b'[' => {
                    if depth >= allowed {
                        return Err(FAULT);
                    }
                    cursor = cursor.step(blocks);
                    // A closing bracket comes two places after its opening one, in ASCII.
                    if cursor.byte(bytes) == byte + 2 {
                        step!();
                    } else {
                        depth += 1;
                        objects = objects << 1 | u128::from(byte == b'{');
                        if byte == b'{' {
                            names.open();
                            name!();
                        }
                        continue 'value;
                    }
                }
                b'-' | b'0'..=b'9' => {
                    end_scalar!(validate_number(bytes, cursor.at as usize)?);
                }
                _ => {
                    end_scalar!(validate_literal(bytes, cursor.at as usize)?);
                }
            }
            // A value has ended: close what ends with it, or go on to the next one.
            loop {
                if depth == open {
                    self.cursor = cursor;
                    return Ok(end as usize);
                }
                let in_object = objects & 1 == 1;
                match cursor.byte(bytes) {
                    b',' => {
                        cursor = cursor.step(blocks);
                        if in_object {
                            name!();
                        }
                        continue 'value;
                    }
                    b'}' if in_object => names.close(),
                    b']' if !in_object => {}
                    _ => return Err(FAULT),
                }
                step!();
                depth -= 1;
                objects >>= 1;
            }
        }
    }
}

/// The span of the value that a text is, if it is valid JSON with white space around it.
pub fn validate(bytes: &[u8], max_depth: u32) -> Option<Span> {
    let mut tokens = Tokens::new(bytes, max_depth)?;
    let start = tokens.at();
    let end = tokens.value(0).ok()?;
    tokens.finish().is_ok().then(|| Span::new(start, end))
}

impl Walk for Tokens<'_> {
    #[inline(always)]
    fn at(&self) -> usize {
        self.cursor.at as usize
    }

    #[inline(always)]
    fn byte(&self) -> u8 {
        self.cursor.byte(self.blocks.bytes)
    }

    #[inline(always)]
    fn step(&mut self) {
        self.cursor = self.cursor.step(&mut self.blocks);
    }

    #[inline(always)]
    fn skip(&mut self, beginning: &[u8], tokens: usize) -> bool {
        let here = self.blocks.bytes.get(self.cursor.at as usize..).is_some_and(|rest| rest.starts_with(beginning));
        if here {
            let mut cursor = self.cursor;
            for _ in 1..tokens {
                cursor = cursor.step(&mut self.blocks);
            }
            self.cursor = cursor;
        }
        here
    }

    #[inline(always)]
    fn name(&mut self) -> Result<Span, Malformed> {
        let (bytes, blocks) = (self.blocks.bytes, &mut self.blocks);
        // Between the quotes of a string there is no token.
        let open = self.cursor;
        let close = open.step(blocks);
        let colon = close.step(blocks);
        self.cursor = colon.step(blocks);
        match (open.byte(bytes), close.byte(bytes), colon.byte(bytes)) {
            (b'"', b'"', b':') => Ok(Span { start: open.at + 1, end: close.at }),
            _ => Err(FAULT),
        }
    }

    fn value(&mut self, open: u32) -> Result<usize, Malformed> {
        // Most values that a result or a block has are strings or numbers.
        let (bytes, blocks) = (self.blocks.bytes, &mut self.blocks);
        match self.cursor.byte(bytes) {
            b'"' => {
                let close = self.cursor.step(blocks);
                if close.byte(bytes) != b'"' {
                    return Err(FAULT);
                }
                self.cursor = close.step(blocks);
                Ok(close.at as usize + 1)
            }
            b'-' | b'0'..=b'9' => {
                let end = validate_number(bytes, self.cursor.at as usize)?;
                if !ends_scalar(bytes, end) {
                    return Err(FAULT);
                }
                self.cursor = self.cursor.step(blocks);
                Ok(end)
            }
            _ => self.other_value(open),
        }
    }

    fn value_noting_names(&mut self, open: u32, names: &mut Vec<NameSet>) -> Result<(usize, Seen), Malformed> {
        names.clear();
        let mut seen = Seen::default();
        let start = self.cursor.at;
        // Of the block that it starts in, and all that come.
        let white = self.blocks.white & (u64::MAX << (start - self.cursor.block));
        self.blocks.first_white = (white != 0).then(|| self.cursor.block + white.trailing_zeros());
        let end = self.value_with(open, &mut Noted::new(names), &mut seen)?;
        if self.blocks.first_white.is_some_and(|white| (white as usize) < end) {
            seen.add(Seen::SPACE);
        }
        if self.blocks.seen.has(Seen::LONG_ESCAPE) && self.blocks.long_escape >= start {
            // Blocks are read ahead: what was met may stand behind the value.
            seen.add(self.blocks.escapes_inside(start as usize, end)?);
        }
        Ok((end, seen))
    }

    fn seen(&self) -> Seen {
        self.blocks.seen
    }

    fn finish(&self) -> Result<Seen, Malformed> {
        if self.blocks.faulty || self.cursor.at < self.blocks.end { Err(FAULT) } else { Ok(self.blocks.seen) }
    }

    fn unexpected<T>(&self) -> Result<T, Malformed> {
        Err(FAULT)
    }
}

/// Whether a number or literal may end before `at`: nothing may stand there that belongs to it.
#[inline(always)]
fn ends_scalar(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at), Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t') | None)
}
