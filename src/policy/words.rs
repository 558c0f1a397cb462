//! Policy text: every word as policies write it, and values and conditions printed back.

use super::pattern::{MetaPattern, Pattern};
use super::rule::*;
use crate::result::path::JsonPath;
use std::fmt;

/// An enum that policies write as one word.
pub trait Word: Copy + PartialEq + 'static {
    /// Every one with its word.
    const WORDS: &'static [(Self, &'static str)];
}

macro_rules! words {
    ($($type:ident { $($variant:ident => $word:literal),+ $(,)? })+) => { $(
        impl Word for $type {
            const WORDS: &'static [(Self, &'static str)] = &[$(($type::$variant, $word)),+];
        }

        impl $type {
            /// As policies write it.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $word),+
                }
            }
        }
    )+ };
}

words! {
    ContentState { Missing => "missing", Empty => "empty", Blank => "blank", Visible => "visible" }
    StructuredState {
        Absent => "absent", Null => "null", Object => "object", Array => "array", Empty => "empty", Scalar => "scalar",
    }
    Measure {
        Blocks => "blocks", TextBytes => "text_bytes", StructuredBytes => "structured_bytes",
        ResultBytes => "result_bytes", Ratio => "ratio",
    }
    App { Yes => "true", No => "false", Only => "only" }
    Usable { Visible => "visible", Noted => "noted", Text => "text", Any => "any" }
    Role { Assistant => "assistant", User => "user" }
    Annotations { Narrow => "narrow", NarrowStrict => "narrow-strict", Ignore => "ignore" }
    Disposition { Keep => "keep", Drop => "drop", Note => "note", Json => "json", Text => "text" }
    Blank { Drop => "drop", Keep => "keep" }
    Field {
        Type => "type", Mime => "mime", Bytes => "bytes", Mb => "mb", Uri => "uri", Name => "name", Title => "title",
        Description => "description", Size => "size", Tool => "tool", Omitted => "omitted", Total => "total",
        Unit => "unit",
    }
    Reserved { Union => "union", Revision20250618 => "2025-06-18", Revision20251125 => "2025-11-25" }
    MetaBlocks { Strip => "strip", Allow => "allow" }
    As { Field => "field", Text => "text", Extras => "extras" }
    NullAs { Absent => "absent", Value => "value" }
    At { First => "first", Last => "last" }
    Render { Compact => "compact", Verbatim => "verbatim", Pretty => "pretty", Sorted => "sorted" }
    Media { Note => "note", Keep => "keep" }
    IfJson { Leave => "leave", Project => "project", Rewrite => "rewrite" }
    Escape { None => "none", Remove => "remove", Lt => "lt" }
    Unit { Bytes => "bytes", Chars => "chars", Utf16 => "utf16" }
    Cut { Head => "head", Tail => "tail", Middle => "middle", Elements => "elements" }
    Schema { Off => "off", Note => "note", Unusable => "unusable", Reject => "reject" }
}

impl Word for Lane {
    const WORDS: &'static [(Self, &'static str)] = &Lane::ALL;
}

impl Word for Kind {
    const WORDS: &'static [(Self, &'static str)] = &[
        (Kind::Text, "text"),
        (Kind::Image, "image"),
        (Kind::Audio, "audio"),
        (Kind::ResourceLink, "resource_link"),
        (Kind::ResourceText, "resource_text"),
        (Kind::ResourceBlob, "resource_blob"),
        (Kind::UiResource, "ui_resource"),
        (Kind::Unknown, "unknown"),
    ];
}

impl Layer {
    /// The header that policies write, with `*` for names.
    pub const fn name(self) -> &'static str {
        match self {
            Layer::Override => "[[overrides]]",
            Layer::ToolRule => "[[servers.*.tools.*.rules]]",
            Layer::ToolSection => "[servers.*.tools.*]",
            Layer::ServerRule => "[[servers.*.rules]]",
            Layer::ServerSection => "[servers.*]",
            Layer::Rule => "[[rules]]",
            Layer::Audience => "[audience.*]",
        }
    }
}

impl Field {
    /// Places of a note.
    pub const OF_NOTES: &'static [Field] = &[
        Field::Type,
        Field::Mime,
        Field::Bytes,
        Field::Mb,
        Field::Uri,
        Field::Name,
        Field::Title,
        Field::Description,
        Field::Size,
    ];
    /// Places of `media_only`.
    pub const OF_MEDIA_ONLY: &'static [Field] = &[Field::Tool];
    /// Places of a limit's marker.
    pub const OF_MARKERS: &'static [Field] = &[Field::Omitted, Field::Total, Field::Unit];
}

impl StructuredStates {
    /// All but absent and null.
    pub const PRESENT: StructuredStates = StructuredStates(
        StructuredState::Object as u8
            | StructuredState::Array as u8
            | StructuredState::Empty as u8
            | StructuredState::Scalar as u8,
    );

    pub fn names(self) -> Vec<&'static str> {
        names_of(|state: StructuredState| self.0 & state as u8 != 0)
    }
}

impl ContentStates {
    pub fn names(self) -> Vec<&'static str> {
        names_of(|state: ContentState| self.0 & state as u8 != 0)
    }
}

impl Kinds {
    pub fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    pub fn names(self) -> Vec<&'static str> {
        names_of(|kind: Kind| self.contains(kind))
    }
}

fn names_of<W: Word>(chosen: impl Fn(W) -> bool) -> Vec<&'static str> {
    W::WORDS.iter().filter(|(word, _)| chosen(*word)).map(|(_, name)| *name).collect()
}

impl Sanitize {
    /// The words that are written for it.
    pub const WORDS: [&'static str; 5] = ["ansi", "bidi", "invisible", "tags", "control"];

    pub fn names(self) -> Vec<&'static str> {
        let flags = [self.ansi, self.bidi, self.invisible, self.tags, self.control];
        Sanitize::WORDS.into_iter().zip(flags).filter(|(_, on)| *on).map(|(word, _)| word).collect()
    }
}

impl Mirror {
    /// The words that are written for it when it is a list.
    pub const WORDS: [&'static str; 4] = ["block", "joined", "wrapped", "canonical"];

    pub fn names(self) -> Vec<&'static str> {
        let flags = [self.block, self.joined, self.wrapped, self.canonical];
        Mirror::WORDS.into_iter().zip(flags).filter(|(_, on)| *on).map(|(word, _)| word).collect()
    }
}

impl MetaPattern {
    /// As policies write it.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            MetaPattern::Inherit => "inherit".into(),
            MetaPattern::Any => "*".into(),
            MetaPattern::Prefix(prefix) => format!("{prefix}*").into(),
            MetaPattern::Key(key) => (&**key).into(),
        }
    }
}

impl Condition {
    /// The key that is written for it in `when`.
    pub fn name(&self) -> std::borrow::Cow<'static, str> {
        let name = match self {
            Condition::Server(_) => "server",
            Condition::Tool(_) => "tool",
            Condition::Revision(_) => "revision",
            Condition::App(_) => "app",
            Condition::OutputSchema(_) => "output_schema",
            Condition::Label(label, _) => return format!("label.{}", key(label)).into(),
            Condition::Error(_) => "error",
            Condition::Content(_) => "content",
            Condition::Has(_) => "has",
            Condition::Only(_) => "only",
            Condition::Structured(_) => "structured",
            Condition::Measure(measure, _) => measure.name(),
            Condition::Meta(_) => "meta",
            Condition::MetaPath(_) => "meta_path",
            Condition::TextJson(_) => "text_json",
            Condition::Mirror(_) => "mirror",
            Condition::Path(_) => "path",
            Condition::SchemaValid(_) => "schema_valid",
            Condition::Coverage(_) => "coverage",
        };
        name.into()
    }

    /// Known before a result comes.
    pub fn is_route_condition(&self) -> bool {
        matches!(
            self,
            Condition::Server(_)
                | Condition::Tool(_)
                | Condition::Revision(_)
                | Condition::App(_)
                | Condition::OutputSchema(_)
                | Condition::Label(..)
        )
    }
}

/// `coverage < 0.9`, `mirror = true`, `server = ["a", "b"]`, `blocks in [1..5]`.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        match self {
            Condition::Server(patterns)
            | Condition::Tool(patterns)
            | Condition::Label(_, patterns)
            | Condition::Meta(patterns) => equals(f, patterns.iter().map(Pattern::as_str)),
            Condition::Revision(ranges) => comparison(f, ranges, |date| date_text(*date)),
            Condition::Measure(_, ranges) | Condition::Coverage(ranges) => comparison(f, ranges, f64::to_string),
            Condition::App(App::Only) => f.write_str(" = \"only\""),
            Condition::App(app) => write!(f, " = {}", app.name()),
            Condition::OutputSchema(flag)
            | Condition::Error(flag)
            | Condition::TextJson(flag)
            | Condition::SchemaValid(flag) => write!(f, " = {flag}"),
            Condition::Content(states) => equals(f, states.names().into_iter()),
            Condition::Has(kinds) | Condition::Only(kinds) => equals(f, kinds.names().into_iter()),
            Condition::Structured(StructuredStates::PRESENT) => f.write_str(" = \"present\""),
            Condition::Structured(states) => equals(f, states.names().into_iter()),
            Condition::MetaPath(path) | Condition::Path(path) => write!(f, " = {}", quoted(path.as_str())),
            Condition::Mirror(Mirror { expected: false, .. }) => f.write_str(" = false"),
            Condition::Mirror(Mirror { block: true, joined: true, wrapped: true, canonical: false, .. }) => {
                f.write_str(" = true")
            }
            Condition::Mirror(mirror) => {
                f.write_str(" = ")?;
                list(f, mirror.names().into_iter())
            }
        }
    }
}

/// One stands alone, several as a list.
fn equals<'a>(f: &mut fmt::Formatter<'_>, mut words: impl ExactSizeIterator<Item = &'a str>) -> fmt::Result {
    f.write_str(" = ")?;
    match (words.len(), words.next()) {
        (1, Some(word)) => f.write_str(&quoted(word)),
        (_, first) => list(f, first.into_iter().chain(words)),
    }
}

fn comparison<T: PartialEq>(f: &mut fmt::Formatter<'_>, ranges: &[Range<T>], print: fn(&T) -> String) -> fmt::Result {
    match ranges {
        [range] => {
            let is_interval = range.low.is_some() && range.high.is_some() && range.single().is_none();
            write!(f, "{}{}", if is_interval { " in " } else { " " }, range_text(range, print))
        }
        ranges => {
            f.write_str(" = ")?;
            let texts: Vec<String> = ranges.iter().map(|range| range_text(range, print)).collect();
            list(f, texts.iter().map(String::as_str))
        }
    }
}

impl<T: PartialEq> Range<T> {
    /// The only value it holds for, if there is one.
    fn single(&self) -> Option<&T> {
        match (&self.low, &self.high) {
            (Some((low, true)), Some((high, true))) if low == high => Some(low),
            _ => None,
        }
    }
}

fn range_text<T: PartialEq>(range: &Range<T>, print: fn(&T) -> String) -> String {
    if let Some(value) = range.single() {
        return format!("= {}", print(value));
    }
    match (&range.low, &range.high) {
        (Some((low, closed)), None) => format!("{} {}", if *closed { ">=" } else { ">" }, print(low)),
        (None, Some((high, closed))) => format!("{} {}", if *closed { "<=" } else { "<" }, print(high)),
        (Some((low, low_closed)), Some((high, high_closed))) => format!(
            "{}{}..{}{}",
            if *low_closed { '[' } else { '(' },
            print(low),
            print(high),
            if *high_closed { ']' } else { ')' }
        ),
        (None, None) => "any".to_string(),
    }
}

/// `yyyymmdd` as `yyyy-mm-dd`.
pub(super) fn date_text(date: Date) -> String {
    format!("{:04}-{:02}-{:02}", date / 10_000, date / 100 % 100, date % 100)
}

/// As the value of the setting's key.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Order(lanes) => list(f, lanes.iter().map(|lane| lane.name())),
            Value::Usable(word) => f.write_str(&quoted(word.name())),
            Value::Role(word) => f.write_str(&quoted(word.name())),
            Value::Annotations(word) => f.write_str(&quoted(word.name())),
            Value::Block(BlockRule::All(word)) => f.write_str(&quoted(word.name())),
            Value::Block(BlockRule::ByMime(answers)) => {
                for (index, (pattern, word)) in answers.iter().enumerate() {
                    let open = if index == 0 { "{ " } else { ", " };
                    write!(f, "{open}{} = {}", quoted(pattern.as_str()), quoted(word.name()))?;
                }
                f.write_str(" }")
            }
            Value::Blank(word) => f.write_str(&quoted(word.name())),
            Value::Note(template) => f.write_str(&quoted(&template_text(template))),
            Value::Meta(patterns) => {
                let texts: Vec<_> = patterns.iter().map(MetaPattern::text).collect();
                list(f, texts.iter().map(|text| &**text))
            }
            Value::Reserved(word) => f.write_str(&quoted(word.name())),
            Value::MetaBlocks(word) => f.write_str(&quoted(word.name())),
            Value::As(word) => f.write_str(&quoted(word.name())),
            Value::Null(word) => f.write_str(&quoted(word.name())),
            Value::At(word) => f.write_str(&quoted(word.name())),
            Value::Render(word) => f.write_str(&quoted(word.name())),
            Value::Media(word) => f.write_str(&quoted(word.name())),
            Value::Paths(paths) => list(f, paths.iter().map(JsonPath::as_str)),
            Value::Text(text) => f.write_str(&quoted(text)),
            Value::IfJson(word) => f.write_str(&quoted(word.name())),
            Value::Extras(Extras { before, after, escape }) => write!(
                f,
                "{{ before = {}, after = {}, escape = {} }}",
                quoted(before),
                quoted(after),
                quoted(escape.name())
            ),
            Value::Around { before, after } => write!(
                f,
                "{{ before = {}, after = {} }}",
                quoted(&template_text(before)),
                quoted(&template_text(after))
            ),
            Value::Limit(None) => f.write_str("\"none\""),
            Value::Limit(Some(Limit { unit, most, cut, head, marker })) => {
                write!(f, "{{ {} = {most}, cut = {}", unit.name(), quoted(cut.name()))?;
                if *cut == Cut::Middle {
                    write!(f, ", head = {head}")?;
                }
                write!(f, ", marker = {} }}", quoted(&template_text(marker)))
            }
            Value::Sanitize(sanitize) => list(f, sanitize.names().into_iter()),
            Value::Schema(word) => f.write_str(&quoted(word.name())),
        }
    }
}

fn list<'a>(f: &mut fmt::Formatter<'_>, words: impl Iterator<Item = &'a str>) -> fmt::Result {
    f.write_str("[")?;
    for (index, word) in words.enumerate() {
        write!(f, "{}{}", if index == 0 { "" } else { ", " }, quoted(word))?;
    }
    f.write_str("]")
}

/// A template as policies write it.
pub fn template_text(template: &Template) -> String {
    let mut text = String::new();
    for piece in &template.0 {
        match piece {
            Piece::Literal(literal) => text.push_str(&literal.replace('{', "{{").replace('}', "}}")),
            Piece::Field(field, default) if default.is_empty() => {
                text.extend(["{", field.name(), "}"]);
            }
            Piece::Field(field, default) => text.extend(["{", field.name(), "|", default, "}"]),
        }
    }
    text
}

/// A TOML basic string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // What turns a line round is written so that it can be seen.
            c if c.is_control()
                || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}') =>
            {
                out.push_str(&format!("\\u{:04X}", u32::from(c)))
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A TOML key, quoted where it must be.
pub(super) fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if bare { name.to_string() } else { quoted(name) }
}

/// Text in a message: quoted, harmless, not endless.
pub(super) fn show(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => quoted(&format!("{}…", text.get(..end).unwrap_or_default())),
        None => quoted(text),
    }
}

/// A key in a message.
pub(super) fn show_key(key: &str) -> String {
    let plain = key.len() <= 60 && key.bytes().all(|b| b.is_ascii_graphic() && b != b'`');
    if plain && !key.is_empty() { format!("`{key}`") } else { show(key) }
}

/// The start of a long text.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}
