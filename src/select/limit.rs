//! The setting `limit`: how much text one output may hold, over all its pieces together.
//!
//! A limit counts bytes of UTF-8, characters (code points) or UTF-16 code units. When the pieces hold more, they are
//! cut, and a marker with the true figures says so, inside the limit:
//!
//! | `cut` | what stays |
//! |---|---|
//! | `head` | the front, then the marker; later pieces are left out |
//! | `tail` | the marker, then the end; earlier pieces are left out |
//! | `middle` | a share of the front, the marker, the end |
//! | `elements` | as `head`, but a piece that is a JSON object or array stays JSON |
//!
//! **JSON that stays JSON.** White space between tokens goes first; often that is enough, and then there is no marker.
//! After that,
//!
//! * an array keeps its first elements and ends with the marker as its last one. Elements are whole or gone, unless
//!   half of the array's room or more would stay empty: then the first that does not fit is cut inside;
//! * an object keeps all its members. Those that need less than an equal share of the room get what they need, the
//!   others share the rest equally;
//! * a string is shortened and ends with the marker, unless the marker is as long as the string;
//! * numbers, `true`, `false`, `null` and member names stay as they are spelled.
//!
//! Each array and each string that lost something carries the marker, so that no cut array looks complete. When not
//! even the least form fits (each array and string gone to its marker), a text becomes the marker as a JSON string,
//! or else `null`, or else the bare marker; a field is left out, because clients hold it against a schema.
//!
//! A [`Field`](PieceKind::Field) is always cut like this. JSON that is broken or deeper than 128 is cut as other text.
//!
//! All of it is iterative and takes time linear in the text (n log n in the number of members and containers).
//! Who puts the pieces together, and what becomes of a block that is left out, is not decided here.

use std::borrow::Cow;

use crate::policy::rule::{self, Limit, Template, Unit};
use crate::result::json::{self, Seen};

/// One piece of text of the output, in output order.
#[derive(Clone, Copy, Debug)]
pub struct TextPiece<'a> {
    pub kind: PieceKind,
    /// A text decoded; a field as the JSON that will be written.
    pub text: &'a str,
}

/// What a piece is in the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PieceKind {
    /// The text of a block, or embedded text.
    Text,
    /// The JSON of a member such as `structuredContent`.
    Field,
}

/// What a limit made of the pieces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shortened {
    /// For each piece: `None` when it stays as it is, the new text, or an empty text when it is left out altogether.
    pub pieces: Vec<Option<String>>,
    /// How many units of the pieces as they came are in no piece now, white space between JSON tokens included.
    pub omitted: u64,
    /// How many units the pieces had.
    pub total: u64,
    /// The marker, when it stands in no piece although something was cut, and there is room for it in a text of its own.
    pub marker: Option<String>,
    /// Only white space between JSON tokens had to go; nothing was cut, and there is no marker.
    pub only_space: bool,
}

/// Cuts the pieces of one output so that they are within `limit`; `None` when they are already.
///
/// ```
/// use mcp_select::policy::rule::{Cut, Limit, Piece, Template, Unit};
/// use mcp_select::select::limit::{PieceKind, TextPiece, limit};
///
/// let marker = Template(Box::new([Piece::Literal("…".into())]));
/// let five = Limit { unit: Unit::Chars, most: 5, cut: Cut::Head, head: 0.75, marker };
/// let pieces = [TextPiece { kind: PieceKind::Text, text: "Grüße!" }];
/// let shortened = limit(&pieces, &five).unwrap();
/// assert_eq!(shortened.pieces, [Some("Grüß…".to_owned())]);
/// assert_eq!((shortened.omitted, shortened.total), (2, 6));
/// ```
pub fn limit(pieces: &[TextPiece<'_>], limit: &Limit) -> Option<Shortened> {
    // No unit is smaller than a byte, and bytes need no counting.
    let bytes = pieces.iter().fold(0, |sum: u64, piece| sum.saturating_add(count(piece.text, Unit::Bytes)));
    if bytes <= limit.most {
        return None;
    }
    let total = pieces.iter().fold(0, |sum: u64, piece| sum.saturating_add(count(piece.text, limit.unit)));
    if total <= limit.most {
        return None;
    }
    let sources: Vec<Source> = pieces.iter().map(|piece| Source::new(*piece, limit)).collect();
    let without_space = sources.iter().fold(0, |sum: u64, source| sum.saturating_add(source.units));
    if without_space <= limit.most {
        let pieces = sources.iter().map(Source::as_it_is).collect();
        return Some(Shortened { pieces, omitted: total - without_space, total, marker: None, only_space: true });
    }

    // The marker takes room and tells how much was cut, so one depends on the other: try the fewest digits that
    // can be, then more. Nothing is longer than the total, so the last try always holds.
    let most_digits = digits(total);
    let mut width = digits(total - limit.most);
    loop {
        let planned = Marker::new(limit, "9".repeat(width), total);
        let draft = Draft::new(&sources, limit, &planned);
        let omitted = total.saturating_sub(draft.kept);
        let marker = Marker::new(limit, omitted.to_string(), total);
        if marker.units <= planned.units || width >= most_digits {
            return Some(draft.write(&sources, limit, &marker, omitted, total));
        }
        width += 1;
    }
}

fn digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

// ---- units ----------------------------------------------------------------------------------------------

/// How a marker names the unit: as policies do.
pub fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "bytes",
        Unit::Chars => "chars",
        Unit::Utf16 => "utf16",
    }
}

/// How many units a text has.
pub fn count(text: &str, unit: Unit) -> u64 {
    count_bytes(text.as_bytes(), unit)
}

fn count_bytes(text: &[u8], unit: Unit) -> u64 {
    let starts = || text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
    let units = match unit {
        Unit::Bytes => text.len(),
        Unit::Chars => starts(),
        // A character of four bytes is a surrogate pair.
        Unit::Utf16 => starts() + text.iter().filter(|&&byte| byte >= 0xF0).count(),
    };
    length(units)
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn units_of(character: char, unit: Unit) -> u64 {
    length(match unit {
        Unit::Bytes => character.len_utf8(),
        Unit::Chars => 1,
        Unit::Utf16 => character.len_utf16(),
    })
}

/// The end of the longest front of whole characters within `room`, and its units.
fn front_within(text: &str, room: u64, unit: Unit) -> (usize, u64) {
    let mut units = 0;
    for (at, character) in text.char_indices() {
        let more = units + units_of(character, unit);
        if more > room {
            return (at, units);
        }
        units = more;
    }
    (text.len(), units)
}

/// The start of the longest end of whole characters within `room`, and its units.
fn back_within(text: &str, room: u64, unit: Unit) -> (usize, u64) {
    let (mut start, mut units) = (text.len(), 0);
    for (at, character) in text.char_indices().rev() {
        let more = units + units_of(character, unit);
        if more > room {
            break;
        }
        (start, units) = (at, more);
    }
    (start, units)
}

/// The end of the longest front of a string as it stands between its quotes, no escape and no pair of them broken.
fn string_within(inside: &[u8], room: u64, unit: Unit) -> usize {
    let (mut at, mut units) = (0, 0);
    while let Some(&byte) = inside.get(at) {
        let taken = match byte {
            b'\\' => json::decode_escape(inside, at).1,
            0..0xC0 => 1,
            0xC0..0xE0 => 2,
            0xE0..0xF0 => 3,
            0xF0.. => 4,
        };
        units += count_bytes(inside.get(at..at + taken).unwrap_or_default(), unit);
        if units > room {
            break;
        }
        at += taken;
    }
    at.min(inside.len())
}

// ---- the marker -----------------------------------------------------------------------------------------

struct Marker {
    text: String,
    units: u64,
    /// Between the quotes of a JSON string.
    inside: Vec<u8>,
    /// As a JSON string, with its quotes.
    string_units: u64,
}

impl Marker {
    fn new(limit: &Limit, omitted: String, total: u64) -> Marker {
        let text = fill(&limit.marker, &omitted, total, limit.unit);
        // The reader of policies refuses a limit smaller than its marker; the limit holds even if one comes here.
        let text = if count(&text, limit.unit) <= limit.most { text } else { String::new() };
        let mut inside = Vec::new();
        json::escape_into(text.as_bytes(), &mut inside);
        Marker { units: count(&text, limit.unit), string_units: count_bytes(&inside, limit.unit) + 2, text, inside }
    }
}

fn fill(template: &Template, omitted: &str, total: u64, unit: Unit) -> String {
    let mut text = String::new();
    for piece in &template.0 {
        match piece {
            rule::Piece::Literal(literal) => text.push_str(literal),
            rule::Piece::Field(rule::Field::Omitted, _) => text.push_str(omitted),
            rule::Piece::Field(rule::Field::Total, _) => text.push_str(&total.to_string()),
            rule::Piece::Field(rule::Field::Unit, _) => text.push_str(unit_name(unit)),
            rule::Piece::Field(_, default) => text.push_str(default),
        }
    }
    text
}

// ---- where the cut falls --------------------------------------------------------------------------------

/// A piece as it is cut: JSON that must stay JSON has no white space between its tokens any more.
struct Source<'a> {
    kind: PieceKind,
    text: Cow<'a, str>,
    stays_json: bool,
    units: u64,
}

impl<'a> Source<'a> {
    fn new(piece: TextPiece<'a>, limit: &Limit) -> Source<'a> {
        let compact = match piece.kind {
            PieceKind::Field => compact(piece.text, |_| true),
            PieceKind::Text if limit.cut == rule::Cut::Elements => {
                compact(piece.text, |first| matches!(first, b'{' | b'['))
            }
            PieceKind::Text => None,
        };
        let stays_json = compact.is_some();
        let text = compact.unwrap_or(Cow::Borrowed(piece.text));
        Source { kind: piece.kind, stays_json, units: count(&text, limit.unit), text }
    }

    fn as_it_is(&self) -> Option<String> {
        match &self.text {
            Cow::Borrowed(_) => None,
            Cow::Owned(compact) => Some(compact.clone()),
        }
    }
}

/// The JSON text without white space between tokens; `None` when it is no JSON, or `wanted` refuses its first byte.
fn compact(text: &str, wanted: impl Fn(u8) -> bool) -> Option<Cow<'_, str>> {
    let bytes = text.as_bytes();
    let start = json::skip_space(bytes, 0);
    if !bytes.get(start).is_some_and(|&first| wanted(first)) {
        return None;
    }
    let mut seen = Seen::default();
    let end = json::validate_value(bytes, start, 0, json::MAX_DEPTH, &mut seen).ok()?;
    if json::skip_space(bytes, end) < bytes.len() {
        return None;
    }
    if !seen.has(Seen::SPACE) {
        return text
            .get(start..end)
            .map(|same| if same.len() == text.len() { Cow::Borrowed(same) } else { Cow::Owned(same.to_owned()) });
    }
    let mut out = String::with_capacity(text.len());
    let (mut at, mut copied) = (start, start);
    while at < end {
        match bytes.get(at) {
            Some(b'"') => at = json::end_of_valid_string(bytes, at + 1) + 1,
            Some(b' ' | b'\n' | b'\r' | b'\t') => {
                out.push_str(text.get(copied..at).unwrap_or_default());
                at = json::skip_space(bytes, at);
                copied = at;
            }
            _ => at += 1,
        }
    }
    out.push_str(text.get(copied..end).unwrap_or_default());
    Some(Cow::Owned(out))
}

/// What becomes of one piece.
enum Part {
    Whole,
    Out,
    /// The text up to the first position, the marker, the text from the second.
    Marked(usize, usize),
    /// The text from here, no marker.
    Back(usize),
    Json(JsonCut),
    /// The marker as a JSON string.
    MarkerString,
    Null,
}

/// What becomes of all pieces, while the figures of the marker are not yet known.
struct Draft {
    parts: Vec<Part>,
    /// Units of the pieces that are still there.
    kept: u64,
    marked: bool,
}

impl Draft {
    fn new(sources: &[Source], limit: &Limit, marker: &Marker) -> Draft {
        let room = limit.most.saturating_sub(marker.units);
        let mut cutting =
            Cutting { sources, limit, marker, draft: Draft { parts: Vec::new(), kept: 0, marked: false } };
        match limit.cut {
            rule::Cut::Head | rule::Cut::Elements => cutting.head(room),
            rule::Cut::Tail => cutting.tail(room),
            rule::Cut::Middle => cutting.middle(room),
        }
        cutting.draft
    }

    fn write(self, sources: &[Source], limit: &Limit, marker: &Marker, omitted: u64, total: u64) -> Shortened {
        let pieces: Vec<Option<String>> =
            self.parts.iter().zip(sources).map(|(part, source)| part.write(source, marker)).collect();
        let now = pieces.iter().zip(sources).fold(0, |sum: u64, (new, source)| {
            sum.saturating_add(new.as_deref().map_or(source.units, |text| count(text, limit.unit)))
        });
        let alone = !self.marked && !marker.text.is_empty() && now.saturating_add(marker.units) <= limit.most;
        let marker = alone.then(|| marker.text.clone());
        Shortened { pieces, omitted, total, marker, only_space: false }
    }
}

impl Part {
    fn write(&self, source: &Source, marker: &Marker) -> Option<String> {
        let text = &source.text;
        match self {
            Part::Whole => source.as_it_is(),
            Part::Out => Some(String::new()),
            Part::Marked(front, back) => {
                let (front, back) = (text.get(..*front).unwrap_or_default(), text.get(*back..).unwrap_or_default());
                Some([front, &marker.text, back].concat())
            }
            Part::Back(start) => Some(text.get(*start..).unwrap_or_default().to_owned()),
            Part::Json(cut) => Some(cut.write(&marker.inside)),
            Part::MarkerString => {
                Some(JsonCut { json: b"\"\"".to_vec(), marks: vec![1], added: 0 }.write(&marker.inside))
            }
            Part::Null => Some("null".to_owned()),
        }
    }
}

struct Cutting<'a> {
    sources: &'a [Source<'a>],
    limit: &'a Limit,
    marker: &'a Marker,
    draft: Draft,
}

impl Cutting<'_> {
    fn head(&mut self, room: u64) {
        let (first, before) = self.first_beyond(room);
        self.whole(0, first);
        self.front_of(first, room - before, self.limit.most - before);
        self.out(first + 1, self.sources.len());
    }

    fn tail(&mut self, room: u64) {
        let (last, after) = self.last_beyond(room);
        self.out(0, last);
        self.back_of(last, room - after, self.limit.most - after);
        self.whole(last + 1, self.sources.len());
    }

    fn middle(&mut self, room: u64) {
        let front_room = share(room, self.limit.head);
        let (first, before) = self.first_beyond(front_room);
        self.whole(0, first);
        let Some(source) = self.sources.get(first) else { return };
        if source.stays_json {
            let back_room = room - front_room;
            let (last, after) = self.last_beyond(back_room);
            if last <= first {
                // It holds the front's end and the back's start, and has one end only: all the room is its own.
                self.json_of(first, self.limit.most - before - after);
            } else {
                self.json_of(first, front_room - before + self.marker.units);
                self.out(first + 1, last);
                if self.draft.marked {
                    self.end_of(last, back_room - after);
                } else {
                    self.back_of(last, back_room - after, back_room - after + self.marker.units);
                }
            }
            return self.whole(last.max(first) + 1, self.sources.len());
        }
        let (end, kept) = front_within(&source.text, front_room - before, self.limit.unit);
        // What the front could not use, because a character would have been broken, is the back's.
        let back_room = room - before - kept;
        let (last, after) = self.last_beyond(back_room);
        if last <= first {
            let (start, kept_back) = back_within(&source.text, back_room - after, self.limit.unit);
            self.marked(end, start, kept + kept_back);
        } else {
            self.marked(end, source.text.len(), kept);
            self.out(first + 1, last);
            self.end_of(last, back_room - after);
        }
        self.whole(last.max(first) + 1, self.sources.len());
    }

    /// The first piece that ends beyond `room`, counted from the front, and the units before it.
    ///
    /// There is one: all pieces together are beyond the limit.
    fn first_beyond(&self, room: u64) -> (usize, u64) {
        let mut before = 0;
        for (index, source) in self.sources.iter().enumerate() {
            if before + source.units > room {
                return (index, before);
            }
            before += source.units;
        }
        (self.sources.len(), before.min(room))
    }

    /// The last piece that starts beyond `room`, counted from the end, and the units after it.
    fn last_beyond(&self, room: u64) -> (usize, u64) {
        let mut after = 0;
        for (index, source) in self.sources.iter().enumerate().rev() {
            if after + source.units > room {
                return (index, after);
            }
            after += source.units;
        }
        (0, after.min(room))
    }

    fn whole(&mut self, from: usize, to: usize) {
        for source in self.sources.get(from..to).unwrap_or_default() {
            self.draft.parts.push(Part::Whole);
            self.draft.kept += source.units;
        }
    }

    fn out(&mut self, from: usize, to: usize) {
        self.draft.parts.extend((from..to).map(|_| Part::Out));
    }

    fn marked(&mut self, end: usize, start: usize, kept: u64) {
        self.draft.parts.push(Part::Marked(end, start));
        self.draft.kept += kept;
        self.draft.marked = true;
    }

    /// The front of a piece with the marker: `room` for a text, `most` for JSON, which holds the marker itself.
    fn front_of(&mut self, index: usize, room: u64, most: u64) {
        let Some(source) = self.sources.get(index) else { return };
        if source.stays_json {
            return self.json_of(index, most);
        }
        let (end, kept) = front_within(&source.text, room, self.limit.unit);
        self.marked(end, source.text.len(), kept);
    }

    fn back_of(&mut self, index: usize, room: u64, most: u64) {
        let Some(source) = self.sources.get(index) else { return };
        if source.stays_json {
            return self.json_of(index, most);
        }
        let (start, kept) = back_within(&source.text, room, self.limit.unit);
        self.marked(0, start, kept);
    }

    /// The end of a piece when the marker stands in an earlier one.
    fn end_of(&mut self, index: usize, room: u64) {
        let Some(source) = self.sources.get(index) else { return };
        if source.stays_json {
            return self.json_of(index, room);
        }
        let (start, kept) = back_within(&source.text, room, self.limit.unit);
        self.draft.parts.push(Part::Back(start));
        self.draft.kept += kept;
    }

    /// JSON that stays JSON, within `most`, and with a marker even when it would fit without one.
    fn json_of(&mut self, index: usize, most: u64) {
        let Some(source) = self.sources.get(index) else { return };
        let room = most.min(source.units.saturating_sub(1));
        let part = match JsonCutting::new(source.text.as_bytes(), self.limit.unit, self.marker.string_units).cut(room) {
            Some(cut) => {
                self.draft.kept += count_bytes(&cut.json, self.limit.unit).saturating_sub(cut.added);
                Part::Json(cut)
            }
            None if source.kind == PieceKind::Field => Part::Out,
            None if self.marker.string_units <= most => Part::MarkerString,
            None if length("null".len()) <= most => Part::Null,
            None => return self.marked(0, source.text.len(), 0),
        };
        self.draft.marked |= !matches!(part, Part::Out | Part::Null);
        self.draft.parts.push(part);
    }
}

/// The part of `room` that the front gets.
fn share(room: u64, head: f64) -> u64 {
    // A room is smaller than the text, and no text comes near 4 GiB.
    let Ok(small) = u32::try_from(room) else { return room / 2 };
    // From a float `as` cuts off the fraction and stays in range: what is wanted here.
    ((f64::from(small) * head) as u64).min(room)
}

// ---- JSON that stays JSON -------------------------------------------------------------------------------

/// JSON that was cut; the marker is put in last, when its figures are known.
struct JsonCut {
    json: Vec<u8>,
    /// Where the marker stands, in order.
    marks: Vec<usize>,
    /// Units of `json` that were not in the source: what surrounds a marker that is an element.
    added: u64,
}

impl JsonCut {
    fn write(&self, marker: &[u8]) -> String {
        let mut out = Vec::with_capacity(self.json.len() + self.marks.len() * marker.len());
        let mut copied = 0;
        for &mark in &self.marks {
            out.extend_from_slice(self.json.get(copied..mark).unwrap_or_default());
            out.extend_from_slice(marker);
            copied = mark;
        }
        out.extend_from_slice(self.json.get(copied..).unwrap_or_default());
        String::from_utf8(out).unwrap_or_default()
    }
}

/// A value in the source, how long it is and how short it can be made.
#[derive(Clone, Copy, Debug)]
struct Size {
    start: usize,
    end: usize,
    units: u64,
    least: u64,
}

/// What is still to be written, the next on top.
enum Step {
    Copy(usize, usize),
    /// A value and the room it has, never less than its least form takes.
    Value(Size, u64),
    /// The marker as an element, after a comma or as the first.
    Mark {
        comma: bool,
    },
}

/// Containers longer than this are remembered from the first pass; others are measured again when they are cut.
/// This bounds the memory: nesting is at most 128 deep, so there is at most about one of them in 32 bytes.
const LARGE: usize = 4096;

struct JsonCutting<'a> {
    json: &'a [u8],
    unit: Unit,
    /// Units of the marker as a JSON string.
    mark: u64,
    /// Containers longer than [`LARGE`], by their start.
    large: Vec<Size>,
    /// All containers of the shorter one that is being cut, by their start.
    small: Vec<Size>,
}

impl<'a> JsonCutting<'a> {
    /// `json` is valid and has no white space between tokens.
    fn new(json: &'a [u8], unit: Unit, mark: u64) -> JsonCutting<'a> {
        JsonCutting { json, unit, mark, large: Vec::new(), small: Vec::new() }
    }

    fn cut(mut self, room: u64) -> Option<JsonCut> {
        let mut large = Vec::new();
        let whole = self.measure(0, LARGE, &mut large);
        self.large = large;
        if whole.least > room {
            return None;
        }
        let mut cut = JsonCut { json: Vec::new(), marks: Vec::new(), added: 0 };
        let mut steps = vec![Step::Value(whole, room)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Copy(start, end) => cut.json.extend_from_slice(self.json.get(start..end).unwrap_or_default()),
                Step::Mark { comma } => {
                    cut.json.extend_from_slice(if comma { b",\"" } else { b"\"" });
                    cut.marks.push(cut.json.len());
                    cut.json.push(b'"');
                    cut.added += 2 + u64::from(comma);
                }
                Step::Value(size, room) if size.units <= room => steps.push(Step::Copy(size.start, size.end)),
                Step::Value(size, room) => match self.json.get(size.start) {
                    Some(b'[') => self.array(size, room, &mut steps),
                    Some(b'{') => self.object(size, room, &mut steps),
                    _ => self.string(size, room, &mut cut),
                },
            }
        }
        Some(cut)
    }

    fn string(&self, size: Size, room: u64, cut: &mut JsonCut) {
        let inside = self.json.get(size.start + 1..size.end - 1).unwrap_or_default();
        let kept = string_within(inside, room.saturating_sub(self.mark), self.unit);
        cut.json.push(b'"');
        cut.json.extend_from_slice(inside.get(..kept).unwrap_or_default());
        cut.marks.push(cut.json.len());
        cut.json.push(b'"');
    }

    /// First elements while they fit, then the marker.
    fn array(&mut self, size: Size, room: u64, steps: &mut Vec<Step>) {
        self.enter(size);
        // Brackets and marker; each element brings a comma.
        let mut used = 2 + self.mark;
        let half = room.saturating_sub(used) / 2;
        let mut at = size.start + 1;
        let (next, last) = loop {
            let next = self.size(at);
            let last = self.json.get(next.end) != Some(&b',');
            if last || used + next.units + 1 > room {
                break (next, last);
            }
            used += next.units + 1;
            at = next.end + 1;
        };
        // `at` stands after the comma of the elements that fit, or after the bracket. Not all fit.
        let free = room - used;
        let inside = if last { free + self.mark } else { free.saturating_sub(1) };
        steps.push(Step::Copy(size.end - 1, size.end));
        if free >= half && next.least <= inside {
            if !last {
                steps.push(Step::Mark { comma: true });
            }
            steps.push(Step::Value(next, inside));
            steps.push(Step::Copy(size.start, at));
        } else {
            let comma = at > size.start + 1;
            steps.push(Step::Mark { comma });
            steps.push(Step::Copy(size.start, at - usize::from(comma)));
        }
    }

    /// All members; what is not needed for their least forms is shared out.
    fn object(&mut self, size: Size, room: u64, steps: &mut Vec<Step>) {
        self.enter(size);
        let mut members = Vec::new();
        let mut at = size.start;
        // `at` stands at the opening brace or a comma, before a name.
        while matches!(self.json.get(at), Some(b'{' | b',')) {
            let value = json::end_of_valid_string(self.json, at + 2) + 2;
            let measured = self.size(value);
            members.push((at, measured, measured.least));
            at = measured.end;
        }
        let mut by_need: Vec<(u64, usize)> = Vec::with_capacity(members.len());
        by_need.extend(members.iter().enumerate().map(|(index, (_, size, _))| (size.units - size.least, index)));
        by_need.sort_unstable();
        let mut spare = room - size.least;
        let mut sharers = length(by_need.len());
        for (need, index) in by_need {
            let gets = need.min(spare / sharers.max(1));
            if let Some((_, _, room)) = members.get_mut(index) {
                *room += gets;
            }
            spare -= gets;
            sharers = sharers.saturating_sub(1);
        }
        steps.push(Step::Copy(size.end - 1, size.end));
        for (before, value, room) in members.into_iter().rev() {
            steps.push(Step::Value(value, room));
            steps.push(Step::Copy(before, value.start));
        }
    }

    /// The value that starts at `at`. Inside a container that was [entered](Self::enter) it is looked up.
    fn size(&self, at: usize) -> Size {
        let found = |table: &[Size]| {
            let index = table.binary_search_by_key(&at, |size| size.start).ok()?;
            table.get(index).copied()
        };
        match self.json.get(at) {
            Some(b'[' | b'{') => found(&self.small)
                .or_else(|| found(&self.large))
                .unwrap_or_else(|| self.measure(at, usize::MAX, &mut Vec::new())),
            _ => self.measure(at, usize::MAX, &mut Vec::new()),
        }
    }

    /// Before a container is cut: makes sure that the containers in it are measured once, not once for each level.
    fn enter(&mut self, size: Size) {
        let known = |table: &[Size]| table.binary_search_by_key(&size.start, |size| size.start).is_ok();
        if !known(&self.large) && !known(&self.small) {
            let mut small = std::mem::take(&mut self.small);
            small.clear();
            self.measure(size.start, 0, &mut small);
            self.small = small;
        }
    }

    /// Measures the value that starts at `start`; containers in it longer than `over` bytes go to `table`.
    fn measure(&self, start: usize, over: usize, table: &mut Vec<Size>) -> Size {
        struct Open {
            row: usize,
            start: usize,
            units_before: u64,
            /// For an object: the braces, and the members so far in their least form.
            least: u64,
            object: bool,
        }
        let mut open: Vec<Open> = Vec::new();
        let (mut at, mut units) = (start, 0u64);
        loop {
            // The value that ends here, if one does.
            let mut ended = None;
            match self.json.get(at) {
                Some(&opening @ (b'{' | b'[')) => {
                    open.push(Open {
                        row: table.len(),
                        start: at,
                        units_before: units,
                        least: 2,
                        object: opening == b'{',
                    });
                    table.push(Size { start: at, end: at, units: 0, least: 0 });
                    (at, units) = (at + 1, units + 1);
                }
                Some(b'}' | b']') => {
                    (at, units) = (at + 1, units + 1);
                    let Some(closed) = open.pop() else { break };
                    let units = units - closed.units_before;
                    let least = if closed.object { closed.least } else { units.min(self.mark + 2) };
                    let size = Size { start: closed.start, end: at, units, least };
                    if at - closed.start > over {
                        if let Some(row) = table.get_mut(closed.row) {
                            *row = size;
                        }
                    } else {
                        // Whatever stands after it in the table is inside it, so even shorter.
                        table.truncate(closed.row);
                    }
                    ended = Some(size);
                }
                Some(b',' | b':') => {
                    (at, units) = (at + 1, units + 1);
                    if let Some(around) = open.last_mut() {
                        around.least += 1;
                    }
                }
                Some(b'"') => {
                    let end = json::end_of_valid_string(self.json, at + 1) + 1;
                    let length = count_bytes(self.json.get(at..end).unwrap_or_default(), self.unit);
                    let is_name = self.json.get(end) == Some(&b':');
                    if is_name {
                        if let Some(around) = open.last_mut() {
                            around.least += length;
                        }
                    } else {
                        ended = Some(Size { start: at, end, units: length, least: length.min(self.mark) });
                    }
                    (at, units) = (end, units + length);
                }
                Some(_) => {
                    let rest = self.json.get(at..).unwrap_or_default();
                    let taken = rest.iter().position(|byte| matches!(byte, b',' | b']' | b'}')).unwrap_or(rest.len());
                    let length = length(taken);
                    ended = Some(Size { start: at, end: at + taken, units: length, least: length });
                    (at, units) = (at + taken, units + length);
                }
                None => break,
            }
            if let Some(size) = ended {
                match open.last_mut() {
                    Some(around) => around.least += size.least,
                    None => return size,
                }
            }
        }
        Size { start, end: at, units, least: units }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::rule::{Cut, Field, Piece};
    use crate::result::json::Span;
    use proptest::prelude::*;

    fn default_marker() -> Template {
        let field = |field| Piece::Field(field, "".into());
        let literal = |text: &str| Piece::Literal(text.into());
        Template(Box::new([
            literal("\n["),
            field(Field::Omitted),
            literal(" of "),
            field(Field::Total),
            literal(" "),
            field(Field::Unit),
            literal(" left out]"),
        ]))
    }

    fn of(unit: Unit, most: u64, cut: Cut, marker: &str) -> Limit {
        let marker =
            if marker.is_empty() { default_marker() } else { Template(Box::new([Piece::Literal(marker.into())])) };
        Limit { unit, most, cut, head: 0.75, marker }
    }

    fn text(text: &str) -> TextPiece<'_> {
        TextPiece { kind: PieceKind::Text, text }
    }

    fn field(text: &str) -> TextPiece<'_> {
        TextPiece { kind: PieceKind::Field, text }
    }

    /// All pieces as they are afterwards.
    fn texts(pieces: &[TextPiece], by: &Limit) -> Vec<String> {
        let Some(shortened) = limit(pieces, by) else { return pieces.iter().map(|p| p.text.to_owned()).collect() };
        pieces.iter().zip(shortened.pieces).map(|(p, new)| new.unwrap_or_else(|| p.text.to_owned())).collect()
    }

    fn is_json(text: &str) -> bool {
        json::validate_text(text.as_bytes(), json::MAX_DEPTH).is_ok()
    }

    #[test]
    fn head_keeps_the_front() {
        // R-43.a, R-43.b
        let nodes = "node-000 node-001 node-002 node-003 node-004 node-005 node-006 node-007 node-008 node-009";
        let cut = |most| texts(&[text(nodes)], &of(Unit::Chars, most, Cut::Head, "#CUT#"));
        assert_eq!(cut(40), ["node-000 node-001 node-002 node-003#CUT#"]);
        assert_eq!(cut(20), ["node-000 node-0#CUT#"]);
        assert_eq!(cut(89), [nodes]);
    }

    #[test]
    fn the_limit_holds_over_all_pieces() {
        // R-47.b
        let value =
            r#"{"events":[{"id":1,"op":"create"},{"id":2,"op":"start"},{"id":3,"op":"stop"},{"id":4,"op":"delete"}]}"#;
        let pieces = [text("[{\"id\":1,\"op\":\"create\"} ... truncated"), text(value), text("more")];
        let by = of(Unit::Chars, 60, Cut::Head, "#CUT#");
        let shortened = limit(&pieces, &by).unwrap();
        assert_eq!(shortened.pieces, [None, Some("{\"events\":[{\"id\":1#CUT#".to_owned()), Some(String::new())]);
        assert_eq!((shortened.omitted, shortened.total), (87, 142));
        // R-47.a
        assert_eq!(
            texts(&[text(value)], &by),
            ["{\"events\":[{\"id\":1,\"op\":\"create\"},{\"id\":2,\"op\":\"start\"}#CUT#"]
        );
        let tail = limit(&pieces, &Limit { cut: Cut::Tail, most: 20, ..by.clone() }).unwrap();
        assert_eq!(tail.pieces, [Some(String::new()), Some("#CUT#\"delete\"}]}".to_owned()), None]);
        let middle = limit(&pieces, &Limit { cut: Cut::Middle, most: 21, ..by }).unwrap();
        assert_eq!(middle.pieces, [Some("[{\"id\":1,\"op#CUT#".to_owned()), Some(String::new()), None]);
    }

    #[test]
    fn characters_stay_whole() {
        // R-49.a, R-49.b
        let chinese = [text("你好世界你好世界")];
        assert_eq!(texts(&chinese, &of(Unit::Bytes, 12, Cut::Head, "#")), ["你好世#"]);
        assert_eq!(texts(&chinese, &of(Unit::Bytes, 12, Cut::Tail, "#")), ["#好世界"]);
        assert_eq!(texts(&chinese, &of(Unit::Bytes, 17, Cut::Middle, "#")), ["你好世界#界"]);
        let foxes = [text("🦊a🦊a🦊")];
        assert_eq!(texts(&foxes, &of(Unit::Utf16, 5, Cut::Head, "#")), ["🦊a#"]);
        assert_eq!(texts(&foxes, &of(Unit::Utf16, 6, Cut::Tail, "#")), ["#🦊a🦊"]);
        assert_eq!(texts(&foxes, &of(Unit::Chars, 4, Cut::Head, "#")), ["🦊a🦊#"]);
        assert_eq!(limit(&foxes, &of(Unit::Utf16, 8, Cut::Head, "#")), None);
    }

    #[test]
    fn the_marker_tells_the_truth() {
        // The marker has 29 characters here: 71 + 29 = 100, and 71 + 929 = 1000.
        let long = "x".repeat(1000);
        let shortened = limit(&[text(&long)], &of(Unit::Chars, 100, Cut::Head, "")).unwrap();
        assert_eq!((shortened.omitted, shortened.total), (929, 1000));
        assert_eq!(shortened.pieces, [Some("x".repeat(71) + "\n[929 of 1000 chars left out]")]);
        // Where the number gains a digit, the marker takes one character more from the text.
        for most in 40..1000 {
            let shortened = limit(&[text(&long)], &of(Unit::Bytes, most, Cut::Middle, "")).unwrap();
            let text = shortened.pieces[0].clone().unwrap();
            assert_eq!(text.len() as u64, most);
            let kept = text.matches('x').count() as u64;
            assert_eq!(shortened.omitted, 1000 - kept);
            assert!(text.contains(&format!("\n[{} of 1000 bytes left out]", 1000 - kept)), "{text}");
        }
    }

    #[test]
    fn elements_go_from_the_end() {
        // R-45.a
        let tags = r#"{"help":"tags","result":["air","bus","census","dams","energy","floods","grants"]}"#;
        let by = of(Unit::Chars, 60, Cut::Elements, "#");
        let shortened = limit(&[text(tags)], &by).unwrap();
        let cut = r##"{"help":"tags","result":["air","bus","census","dams","#"]}"##;
        assert_eq!(shortened.pieces, [Some(cut.to_owned())]);
        assert_eq!((shortened.omitted, shortened.total), (27, 81));
        assert_eq!(shortened.omitted, 81 - (cut.len() as u64 - r##","#""##.len() as u64));
        // White space goes first, and then nothing else has to.
        let spaced = r#"{ "help": "tags", "result": ["air", "bus"] }"#;
        let shortened = limit(&[text("a b"), text(spaced)], &Limit { most: 41, ..by }).unwrap();
        let compact = r#"{"help":"tags","result":["air","bus"]}"#;
        assert_eq!(shortened.pieces, [None, Some(compact.to_owned())]);
        assert_eq!(shortened.omitted, 6);
    }

    #[test]
    fn arrays_keep_their_first_elements() {
        // R-45.b, R-45.c
        let tags: Vec<String> = (0..200).map(|i| format!("\"tag-{i:03}\"")).collect();
        let value = format!("{{\"help\":\"tags\",\"result\":[{}]}}", tags.join(","));
        let by = of(Unit::Chars, 400, Cut::Elements, "");
        for piece in [text(&value), field(&value)] {
            let shortened = limit(&[piece], &by).unwrap();
            let cut = shortened.pieces[0].clone().unwrap();
            assert!(is_json(&cut) && cut.len() <= 400 && cut.len() > 380, "{cut}");
            assert!(cut.starts_with(r#"{"help":"tags","result":["tag-000","tag-001""#));
            let marker = format!(",\"\\n[{} of {} chars left out]\"]}}", shortened.omitted, value.len());
            let kept = cut.strip_suffix(&marker).unwrap();
            assert!(value.starts_with(kept));
            assert_eq!(shortened.omitted as usize, value.len() - kept.len() - "]}".len());
        }
    }

    #[test]
    fn fields_stay_json_whatever_the_cut() {
        // R-47.d
        let value =
            r#"{"events":[{"id":1,"op":"create"},{"id":2,"op":"start"},{"id":3,"op":"stop"},{"id":4,"op":"delete"}]}"#;
        for cut in [Cut::Head, Cut::Tail, Cut::Middle, Cut::Elements] {
            let by = of(Unit::Chars, 60, cut, "#");
            assert_eq!(texts(&[field(value)], &by), [r##"{"events":[{"id":1,"op":"create"},"#"]}"##]);
        }
        let both = [text("0123456789"), field(value), text("abcdefghij")];
        let cut = |cut, most| texts(&both, &of(Unit::Chars, most, cut, "#"));
        assert_eq!(cut(Cut::Middle, 60), ["0123456789", r##"{"events":[{"id":1,"op":"create"},"#"]}"##, "abcdefghij"]);
        assert_eq!(cut(Cut::Tail, 60), ["", r##"{"events":[{"id":1,"op":"create"},"#"]}"##, "abcdefghij"]);
        assert_eq!(cut(Cut::Head, 60), ["0123456789", r##"{"events":[{"id":1,"op":"create"},"#"]}"##, ""]);
        // No room for its least form: it is left out, and the marker can stand in a text of its own.
        let shortened = limit(&both, &of(Unit::Chars, 14, Cut::Head, "#")).unwrap();
        assert_eq!(shortened.pieces, [None, Some(String::new()), Some(String::new())]);
        assert_eq!(shortened.marker.as_deref(), Some("#"));
    }

    #[test]
    fn members_share_the_room() {
        let log = "x".repeat(5000);
        let value = format!(r#"{{"n":1.50,"log":"{log}","ok":true,"rows":[{}]}}"#, vec!["[1,2]"; 900].join(","));
        let cut = &texts(&[text(&value)], &of(Unit::Chars, 400, Cut::Elements, "#"))[0];
        assert!(cut.len() > 390 && cut.len() <= 400 && is_json(cut), "{cut}");
        assert!(cut.starts_with("{\"n\":1.50,\"log\":\"xxx") && cut.ends_with("[1,2],\"#\"]}"), "{cut}");
        let xs = cut.matches('x').count();
        assert!((160..190).contains(&xs), "{xs}");
    }

    #[test]
    fn elements_are_whole_unless_half_the_room_stays_empty() {
        let cut = |value: &str, most| texts(&[text(value)], &of(Unit::Chars, most, Cut::Elements, "#")).remove(0);
        let body = "y".repeat(100);
        assert_eq!(cut(&format!(r#"[{{"a":"{body}"}},2]"#), 30), format!(r##"[{{"a":"{}#"}},"#"]"##, "y".repeat(15)));
        assert_eq!(cut(&format!(r#"[1,{{"a":"{body}"}}]"#), 30), format!(r##"[1,{{"a":"{}#"}}]"##, "y".repeat(17)));
        assert_eq!(cut(&format!(r#"["aaaaaaaaaaaa",{{"a":"{body}"}},2]"#), 30), r##"["aaaaaaaaaaaa","#"]"##);
        assert_eq!(cut(&format!(r#"[[[["{body}"]]]]"#), 20), format!(r##"[[[["{}#"]]]]"##, "y".repeat(9)));
    }

    #[test]
    fn json_that_just_fits_still_tells_that_later_pieces_are_gone() {
        let pieces = [text(r#"["a","b","c"]"#), text("more")];
        let shortened = limit(&pieces, &of(Unit::Chars, 13, Cut::Elements, "#")).unwrap();
        assert_eq!(shortened.pieces, [Some(r##"["a","#"]"##.to_owned()), Some(String::new())]);
        assert_eq!(texts(&pieces, &of(Unit::Chars, 14, Cut::Elements, "#")), [r#"["a","b","c"]"#, "#"]);
    }

    #[test]
    fn escapes_stay_whole() {
        let value = r#"{"a":"\ud83e\udd8a\u00e9\n\"x"}"#;
        let cut = |most| texts(&[text(value)], &of(Unit::Chars, most, Cut::Elements, "#")).remove(0);
        assert_eq!(cut(30), r##"{"a":"\ud83e\udd8a\u00e9\n#"}"##);
        assert_eq!(cut(28), r##"{"a":"\ud83e\udd8a\u00e9#"}"##);
        assert_eq!(cut(26), r##"{"a":"\ud83e\udd8a#"}"##);
        assert_eq!(cut(20), r##"{"a":"#"}"##);
        assert_eq!(
            texts(&[text(r#"{"a":"<long long long>"}"#)], &of(Unit::Chars, 20, Cut::Elements, "\"\n")),
            [r#"{"a":"<long lo\"\n"}"#]
        );
    }

    #[test]
    fn what_cannot_be_cut_gives_way_to_the_marker() {
        let value = format!("{{{}}}", (0..30).map(|i| format!("\"name{i}\":{i}")).collect::<Vec<_>>().join(","));
        let cut = |most, marker| texts(&[text(&value)], &of(Unit::Chars, most, Cut::Elements, marker)).remove(0);
        assert_eq!(cut(100, "#CUT#"), "\"#CUT#\"");
        assert_eq!(cut(7, "#CUT#"), "\"#CUT#\"");
        assert_eq!(cut(6, "#CUT#"), "null");
        assert_eq!(cut(3, "#C#"), "#C#");
        // A limit below its marker is refused at load; here nothing goes over it all the same.
        assert_eq!(cut(1, "#C#"), "");
        // Broken or too deep JSON, and scalars, are other text.
        for other in ["[1,2,3,4,5,6,7", "\"a long string\"", &("[".repeat(129) + &"]".repeat(129))] {
            let cut = texts(&[text(other)], &of(Unit::Chars, 9, Cut::Elements, "#")).remove(0);
            assert_eq!(cut, other.chars().take(8).collect::<String>() + "#");
        }
    }

    #[test]
    fn is_linear_on_hostile_json() {
        let by = |most| of(Unit::Chars, most, Cut::Elements, "");
        let deep = |inner: &str| "[".repeat(127) + inner + &"]".repeat(127);
        let objects = |inner: &str| "{\"a\":[".repeat(60) + inner + &"]}".repeat(60);
        let long = format!("\"{}\"", "é".repeat(1 << 19));
        let many = |value: &str, times| format!("[{}]", vec![value; times].join(","));
        let members = format!("{{{}}}", vec!["\"\":[[[[0]]]]"; 1 << 16].join(","));
        for value in [
            many("1", 500_000),
            deep(&long),
            objects(&long),
            objects(&many("[]", 100_000)),
            many(&"[".repeat(100).chars().chain("]".repeat(100).chars()).collect::<String>(), 5_000),
            format!("[{}", members.clone() + "]"),
            members,
        ] {
            for most in [100, 5_000, value.chars().count() as u64 - 1] {
                let cut = texts(&[text(&value)], &by(most)).remove(0);
                assert!(cut.chars().count() as u64 <= most && is_json(&cut));
            }
        }
    }

    // ---- random pieces and limits ----

    fn json_values() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            prop::sample::select(vec![
                "0",
                "-1.50e+3",
                "true",
                "null",
                "\"\"",
                "[]",
                "{}",
                "{ }",
                "\"\\ud83e\\udd8a\\n\""
            ])
            .prop_map(str::to_owned),
            "[a-zé汉🦊 ]{0,30}".prop_map(|text| format!("\"{text}\"")),
        ];
        scalar.prop_recursive(5, 60, 8, |inner| {
            let space = prop::sample::select(vec!["", "", " ", "\n  "]);
            prop_oneof![
                (prop::collection::vec(inner.clone(), 0..8), space.clone())
                    .prop_map(|(elements, space)| format!("[{space}{}{space}]", elements.join(&format!(",{space}")))),
                (prop::collection::vec(("[a-cé]{0,3}", inner), 0..6), space).prop_map(|(members, space)| {
                    let members: Vec<String> =
                        members.iter().map(|(n, v)| format!("{space}\"{n}\":{space}{v}")).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
    }

    fn pieces() -> impl Strategy<Value = Vec<(PieceKind, String)>> {
        let piece = prop_oneof![
            "[a-zé汉🦊\n ]{0,60}".prop_map(|text| (PieceKind::Text, text)),
            json_values().prop_map(|value| (PieceKind::Text, value)),
            json_values().prop_map(|value| (PieceKind::Field, value)),
        ];
        prop::collection::vec(piece, 0..5)
    }

    fn limits() -> impl Strategy<Value = Limit> {
        let unit = prop::sample::select(vec![Unit::Bytes, Unit::Chars, Unit::Utf16]);
        let cut = prop::sample::select(vec![Cut::Head, Cut::Tail, Cut::Middle, Cut::Elements]);
        let marker = prop::sample::select(vec!["", "#", "…", "\"é\n", "<cut>"]);
        (unit, 1u64..200, cut, marker, 0.01..0.99).prop_map(|(unit, most, cut, marker, head)| Limit {
            head,
            ..of(unit, if marker.is_empty() { most + 60 } else { most + 6 }, cut, marker)
        })
    }

    fn compacted(value: &str) -> String {
        compact(value, |_| true).unwrap().into_owned()
    }

    /// Whether `cut` is `whole` (both without white space) cut as the head of this file says.
    fn is_cut_of(cut: &[u8], whole: &[u8], marker: &[u8]) -> bool {
        let span = |bytes: &[u8]| Span::new(0, bytes.len());
        let quoted = [b"\"", marker, b"\""].concat();
        if cut == whole {
            return true;
        }
        match whole[0] {
            b'[' if cut[0] == b'[' => {
                let mut parts: Vec<&[u8]> = json::elements(cut, span(cut)).map(|s| s.of(cut)).collect();
                let wholes: Vec<&[u8]> = json::elements(whole, span(whole)).map(|s| s.of(whole)).collect();
                let shorter = parts.last() == Some(&quoted.as_slice()) && parts.len() <= wholes.len();
                if shorter {
                    parts.pop();
                }
                (shorter || parts.len() == wholes.len())
                    && parts.iter().zip(wholes).all(|(p, w)| is_cut_of(p, w, marker))
            }
            b'{' if cut[0] == b'{' => {
                let parts: Vec<(Span, Span)> = json::members(cut, span(cut)).collect();
                let wholes: Vec<(Span, Span)> = json::members(whole, span(whole)).collect();
                parts.len() == wholes.len()
                    && parts.iter().zip(wholes).all(|((name, value), (whole_name, whole_value))| {
                        name.of(cut) == whole_name.of(whole) && is_cut_of(value.of(cut), whole_value.of(whole), marker)
                    })
            }
            b'"' if cut[0] == b'"' => cut.strip_suffix(&quoted[1..]).is_some_and(|front| whole.starts_with(front)),
            _ => false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn what_remains_is_within_the_limit(pieces in pieces(), by in limits()) {
            let pieces: Vec<TextPiece> = pieces.iter().map(|(kind, text)| TextPiece { kind: *kind, text }).collect();
            let total: u64 = pieces.iter().map(|p| count(p.text, by.unit)).sum();
            let Some(shortened) = limit(&pieces, &by) else {
                prop_assert!(total <= by.most);
                return Ok(());
            };
            prop_assert!(total > by.most);
            prop_assert_eq!(shortened.total, total);
            prop_assert_eq!(shortened.pieces.len(), pieces.len());
            let marker = Marker::new(&by, shortened.omitted.to_string(), total);
            let mut now: Vec<TextPiece> = Vec::new();
            let mut marks = 0;
            for (piece, new) in pieces.iter().zip(&shortened.pieces) {
                let Some(new) = new else { now.push(*piece); continue };
                now.push(TextPiece { kind: piece.kind, text: new });
                if new.is_empty() {
                    continue;
                }
                let container = is_json(piece.text) && piece.text.trim_start().starts_with(['{', '[']);
                if piece.kind == PieceKind::Field || (by.cut == Cut::Elements && container) {
                    let (old, quoted) = (compacted(piece.text), format!("\"{}\"", String::from_utf8_lossy(&marker.inside)));
                    let cut = is_cut_of(new.as_bytes(), old.as_bytes(), &marker.inside);
                    let gone = piece.kind == PieceKind::Text && [quoted.as_str(), "null", &marker.text].contains(&new.as_str());
                    prop_assert!(cut || gone, "{} -> {}", old, new);
                    prop_assert!(is_json(new) || marker.units < 4, "{}", new);
                    marks += u32::from(new.as_str() != old && new != "null");
                } else if piece.text.ends_with(new.as_str()) {
                    prop_assert!(by.cut == Cut::Middle);
                } else {
                    marks += 1;
                    let fits = |(at, _): (usize, &str)| {
                        piece.text.starts_with(&new[..at]) && piece.text.ends_with(&new[at + marker.text.len()..])
                            && at + (new.len() - at - marker.text.len()) <= piece.text.len()
                    };
                    prop_assert!(new.match_indices(&marker.text).any(fits), "{} -> {}", piece.text, new);
                }
            }
            let length: u64 = now.iter().map(|p| count(p.text, by.unit)).sum();
            prop_assert!(length <= by.most, "{} > {}: {:?}", length, by.most, now);
            prop_assert_eq!(limit(&now, &by), None);
            let space_only = shortened.pieces.iter().zip(&pieces).all(|(new, piece)| {
                new.as_ref().is_none_or(|new| !new.is_empty() && is_json(piece.text) && *new == compacted(piece.text))
            });
            let null = shortened.pieces.contains(&Some("null".to_owned()));
            prop_assert!(marks > 0 || shortened.marker.is_some() || space_only || null, "{:?}", shortened);
            if let Some(alone) = &shortened.marker {
                prop_assert_eq!(marks, 0);
                prop_assert!(length + count(alone, by.unit) <= by.most);
            }
            // Without markers in JSON the figures can be told from the lengths.
            if by.cut != Cut::Elements && pieces.iter().all(|p| p.kind == PieceKind::Text) {
                prop_assert_eq!(marks, 1);
                prop_assert_eq!(shortened.omitted, total - (length - marker.units));
            }
            prop_assert_eq!(limit(&pieces, &by), Some(shortened));
        }

        #[test]
        fn json_is_cut_as_json(value in json_values(), most in 10u64..200) {
            let by = of(Unit::Utf16, most, Cut::Elements, "<c>");
            let container = value.trim_start().starts_with(['{', '[']);
            let new = texts(&[text(&value)], &by).remove(0);
            prop_assert!(!container || is_json(&new), "{} -> {}", value, new);
            if container && count(&value, Unit::Utf16) > most {
                let cut = is_cut_of(new.as_bytes(), compacted(&value).as_bytes(), b"<c>");
                prop_assert!(cut || new == "\"<c>\"", "{} -> {}", value, new);
            }
        }
    }
}
