//! What a policy file says, once it is read: rules, their conditions and their settings as types.
//!
//! Nothing here knows TOML, files or results. `read` makes these from text; `table` compiles them.

use super::pattern::{MetaPattern, Pattern};
use crate::result::path::JsonPath;
use std::sync::Arc;

/// Where something stands in a policy file. Lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Index in [`Policy::files`](super::Policy::files).
    pub file: u16,
    pub line: u32,
    pub column: u32,
}

/// The layers of a policy, the strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Layer {
    /// `[[overrides]]`
    Override,
    /// `[[servers.NAME.tools.NAME.rules]]`
    ToolRule,
    /// `[servers.NAME.tools.NAME]`
    ToolSection,
    /// `[[servers.NAME.rules]]`
    ServerRule,
    /// `[servers.NAME]`
    ServerSection,
    /// `[[rules]]`
    Rule,
    /// `[audience.NAME]`
    Audience,
}

/// Whom a rule speaks of. Aliases are already resolved (`assistant` is `model`, `programmatic` is `code`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Audiences {
    All,
    Named(Box<[Box<str>]>),
}

/// Conditions and settings, and what they are of.
///
/// A policy may have a hundred thousand of them, most for another server and otherwise alike: what they say is there once
/// ([`Says`], whose fields are read as if they were the rule's own).
#[derive(Clone, Debug)]
pub struct Rule {
    pub layer: Layer,
    pub place: Place,
    /// The name it was given; sections and nameless rules have none.
    pub name: Option<Box<str>>,
    /// Of `[servers.NAME]` and all under it.
    pub server: Option<Pattern>,
    /// Of `[servers.NAME.tools.NAME]` and all under it.
    pub tool: Option<Pattern>,
    pub says: Arc<Says>,
}

/// What a rule says, wherever it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Says {
    pub audiences: Audiences,
    pub when: Box<[Condition]>,
    pub settings: Box<[(Setting, Value)]>,
}

impl std::ops::Deref for Rule {
    type Target = Says;

    fn deref(&self) -> &Says {
        &self.says
    }
}

// ---- conditions -----------------------------------------------------------------------------------------

/// One condition of a `when`. All must hold; each is true or false and never an error.
#[derive(Clone, PartialEq, Debug)]
pub enum Condition {
    // Known with the route.
    Server(Box<[Pattern]>),
    Tool(Box<[Pattern]>),
    Revision(Box<[Range<Date>]>),
    App(App),
    OutputSchema(bool),
    Label(Box<str>, Box<[Pattern]>),
    // Known after the scan.
    Error(bool),
    /// One of these states, as bits of [`ContentState`].
    Content(ContentStates),
    Has(Kinds),
    Only(Kinds),
    Structured(StructuredStates),
    Measure(Measure, Box<[Range<f64>]>),
    Meta(Box<[MetaKeyPattern]>),
    // Known after parsing something.
    MetaPath(Box<JsonPath>),
    TextJson(bool),
    Mirror(Mirror),
    Path(Box<JsonPath>),
    SchemaValid(bool),
    // Known after a search.
    Coverage(Box<[Range<f64>]>),
}

/// A protocol revision date as the number `yyyymmdd`.
pub type Date = u32;

/// An interval as in DMN unary tests; `None`: open to that side; the flag: the bound itself belongs to it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range<T> {
    pub low: Option<(T, bool)>,
    pub high: Option<(T, bool)>,
}

impl<T: PartialOrd + Copy> Range<T> {
    pub fn holds(&self, value: T) -> bool {
        self.low.is_none_or(|(low, closed)| value > low || (closed && value == low))
            && self.high.is_none_or(|(high, closed)| value < high || (closed && value == high))
    }
}

/// Condition `app`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum App {
    /// `true`: the tool definition has `_meta.ui`.
    Yes,
    /// `false`: it has not, or there is no definition.
    No,
    /// `"only"`: its `visibility` lacks `model`.
    Only,
}

/// Condition `content`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ContentState {
    /// The result has no `content`.
    Missing = 1,
    /// No block that this audience may see.
    Empty = 2,
    /// Nothing but blank texts.
    Blank = 4,
    /// A text with something visible in it, or any block that is no text.
    Visible = 8,
}

/// A set of [`ContentState`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ContentStates(pub u8);

/// Condition `structured`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum StructuredState {
    Absent = 1,
    Null = 2,
    /// An object with members.
    Object = 4,
    /// An array with elements.
    Array = 8,
    /// `{}` or `[]`.
    Empty = 16,
    Scalar = 32,
}

/// A set of [`StructuredState`]; `present` is all but absent and null.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StructuredStates(pub u8);

/// The kinds of content blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    Text = 0,
    Image,
    Audio,
    ResourceLink,
    ResourceText,
    ResourceBlob,
    /// A `ui://` URI, or the MIME type of an MCP App.
    UiResource,
    /// Malformed, or of a type that no revision knows.
    Unknown,
}

impl Kind {
    pub const ALL: [Kind; 8] = [
        Kind::Text,
        Kind::Image,
        Kind::Audio,
        Kind::ResourceLink,
        Kind::ResourceText,
        Kind::ResourceBlob,
        Kind::UiResource,
        Kind::Unknown,
    ];

    /// As policies write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Image => "image",
            Kind::Audio => "audio",
            Kind::ResourceLink => "resource_link",
            Kind::ResourceText => "resource_text",
            Kind::ResourceBlob => "resource_blob",
            Kind::UiResource => "ui_resource",
            Kind::Unknown => "unknown",
        }
    }
}

/// A set of [`Kind`], one bit each (`1 << kind as u8`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kinds(pub u8);

/// The numbers that can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// How many blocks.
    Blocks,
    /// Bytes of all text, decoded.
    TextBytes,
    /// Bytes of the structured value, compact.
    StructuredBytes,
    /// Bytes of the whole result as it came.
    ResultBytes,
    /// Structured bytes divided by text bytes.
    Ratio,
}

/// Condition `meta`: a key of the result's `_meta`, by pattern (`*` and `?` as everywhere).
pub type MetaKeyPattern = Pattern;

/// Condition `mirror`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mirror {
    /// `false`: a structured value is present and nothing mirrors it.
    pub expected: bool,
    pub block: bool,
    pub joined: bool,
    pub wrapped: bool,
    /// A text with a number that ECMAScript would write otherwise mirrors nothing.
    pub canonical: bool,
}

// ---- settings -------------------------------------------------------------------------------------------

/// The output columns. The number is the column's index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Setting {
    Hide = 0,
    Order,
    ErrorOrder,
    Usable,
    Role,
    Annotations,
    BlocksText,
    BlocksImage,
    BlocksAudio,
    BlocksResourceLink,
    BlocksResourceText,
    BlocksResourceBlob,
    BlocksUiResource,
    BlocksUnknown,
    BlocksBlank,
    NotesText,
    NotesImage,
    NotesAudio,
    NotesResourceLink,
    NotesResourceText,
    NotesResourceBlob,
    NotesUiResource,
    NotesUnknown,
    MetaAllow,
    MetaDeny,
    MetaReserved,
    MetaBlocks,
    MetaAs,
    StructuredNull,
    StructuredAs,
    StructuredAt,
    StructuredRender,
    StructuredMedia,
    StructuredPick,
    StructuredOmit,
    StructuredUnwrap,
    TextIfJson,
    Extras,
    MediaOnly,
    Limit,
    Sanitize,
    Schema,
    Placeholder,
    PlaceholderHidden,
}

impl Setting {
    pub const COUNT: usize = Setting::PlaceholderHidden as usize + 1;

    /// Every setting with the key that a policy writes, in column order.
    pub const ALL: [(Setting, &'static str); Setting::COUNT] = [
        (Setting::Hide, "hide"),
        (Setting::Order, "order"),
        (Setting::ErrorOrder, "error_order"),
        (Setting::Usable, "usable"),
        (Setting::Role, "role"),
        (Setting::Annotations, "annotations"),
        (Setting::BlocksText, "blocks.text"),
        (Setting::BlocksImage, "blocks.image"),
        (Setting::BlocksAudio, "blocks.audio"),
        (Setting::BlocksResourceLink, "blocks.resource_link"),
        (Setting::BlocksResourceText, "blocks.resource_text"),
        (Setting::BlocksResourceBlob, "blocks.resource_blob"),
        (Setting::BlocksUiResource, "blocks.ui_resource"),
        (Setting::BlocksUnknown, "blocks.unknown"),
        (Setting::BlocksBlank, "blocks.blank"),
        (Setting::NotesText, "notes.text"),
        (Setting::NotesImage, "notes.image"),
        (Setting::NotesAudio, "notes.audio"),
        (Setting::NotesResourceLink, "notes.resource_link"),
        (Setting::NotesResourceText, "notes.resource_text"),
        (Setting::NotesResourceBlob, "notes.resource_blob"),
        (Setting::NotesUiResource, "notes.ui_resource"),
        (Setting::NotesUnknown, "notes.unknown"),
        (Setting::MetaAllow, "meta.allow"),
        (Setting::MetaDeny, "meta.deny"),
        (Setting::MetaReserved, "meta.reserved"),
        (Setting::MetaBlocks, "meta.blocks"),
        (Setting::MetaAs, "meta.as"),
        (Setting::StructuredNull, "structured.null"),
        (Setting::StructuredAs, "structured.as"),
        (Setting::StructuredAt, "structured.at"),
        (Setting::StructuredRender, "structured.render"),
        (Setting::StructuredMedia, "structured.media"),
        (Setting::StructuredPick, "structured.pick"),
        (Setting::StructuredOmit, "structured.omit"),
        (Setting::StructuredUnwrap, "structured.unwrap"),
        (Setting::TextIfJson, "text.if_json"),
        (Setting::Extras, "extras"),
        (Setting::MediaOnly, "media_only"),
        (Setting::Limit, "limit"),
        (Setting::Sanitize, "sanitize"),
        (Setting::Schema, "schema"),
        (Setting::Placeholder, "placeholder"),
        (Setting::PlaceholderHidden, "placeholder_hidden"),
    ];

    pub fn index(self) -> usize {
        self as usize
    }

    pub fn name(self) -> &'static str {
        Setting::ALL.get(self.index()).map_or("", |(_, name)| name)
    }

    /// The column `blocks.<kind>`.
    pub fn of_blocks(kind: Kind) -> Setting {
        match kind {
            Kind::Text => Setting::BlocksText,
            Kind::Image => Setting::BlocksImage,
            Kind::Audio => Setting::BlocksAudio,
            Kind::ResourceLink => Setting::BlocksResourceLink,
            Kind::ResourceText => Setting::BlocksResourceText,
            Kind::ResourceBlob => Setting::BlocksResourceBlob,
            Kind::UiResource => Setting::BlocksUiResource,
            Kind::Unknown => Setting::BlocksUnknown,
        }
    }

    /// The column `notes.<kind>`.
    pub fn of_notes(kind: Kind) -> Setting {
        match kind {
            Kind::Text => Setting::NotesText,
            Kind::Image => Setting::NotesImage,
            Kind::Audio => Setting::NotesAudio,
            Kind::ResourceLink => Setting::NotesResourceLink,
            Kind::ResourceText => Setting::NotesResourceText,
            Kind::ResourceBlob => Setting::NotesResourceBlob,
            Kind::UiResource => Setting::NotesUiResource,
            Kind::Unknown => Setting::NotesUnknown,
        }
    }

    /// Known before a result comes; a rule that sets it may use route conditions only.
    pub fn is_route_setting(self) -> bool {
        matches!(self, Setting::Role | Setting::Annotations | Setting::Schema)
    }
}

/// What a rule sets a column to.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `hide`
    Flag(bool),
    /// `order`, `error_order`: never empty.
    Order(Box<[Lane]>),
    Usable(Usable),
    Role(Role),
    Annotations(Annotations),
    /// `blocks.<kind>`
    Block(BlockRule),
    /// `blocks.blank`
    Blank(Blank),
    /// `notes.<kind>`
    Note(Template),
    /// `meta.allow`, `meta.deny`
    Meta(Box<[MetaPattern]>),
    Reserved(Reserved),
    MetaBlocks(MetaBlocks),
    /// `meta.as`, `structured.as`
    As(As),
    Null(NullAs),
    At(At),
    Render(Render),
    Media(Media),
    /// `structured.pick`, `structured.omit`
    Paths(Box<[JsonPath]>),
    /// `structured.unwrap` (empty: nothing is unwrapped), `placeholder`, `placeholder_hidden`
    Text(Box<str>),
    IfJson(IfJson),
    Extras(Extras),
    /// `media_only`: templates that know `{tool}`; both empty: nothing is put around.
    Around {
        before: Template,
        after: Template,
    },
    Limit(Option<Limit>),
    Sanitize(Sanitize),
    Schema(Schema),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lane {
    Nothing,
    Content,
    Structured,
    StructuredOnly,
    Both,
    Raw,
    Whole,
}

impl Lane {
    /// Every lane as policies write it.
    pub const ALL: [(Lane, &'static str); 7] = [
        (Lane::Nothing, "nothing"),
        (Lane::Content, "content"),
        (Lane::Structured, "structured"),
        (Lane::StructuredOnly, "structured-only"),
        (Lane::Both, "both"),
        (Lane::Raw, "raw"),
        (Lane::Whole, "whole"),
    ];

    pub fn name(self) -> &'static str {
        Lane::ALL.iter().find(|(lane, _)| *lane == self).map_or("", |(_, name)| name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Usable {
    Visible,
    Noted,
    Text,
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Assistant,
    User,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Annotations {
    Narrow,
    NarrowStrict,
    Ignore,
}

/// What becomes of a block of one kind: one answer, or answers by MIME type (the first that matches; the reader
/// has put the better pattern first and made sure that the last one is `*`).
#[derive(Clone, PartialEq, Debug)]
pub enum BlockRule {
    All(Disposition),
    ByMime(Box<[(Pattern, Disposition)]>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Disposition {
    Keep,
    Drop,
    Note,
    /// The block as compact JSON text.
    Json,
    /// Embedded text, or a blob of a text type decoded, as a text block.
    Text,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blank {
    Drop,
    Keep,
}

/// A text with places to fill, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Template(pub Box<[Piece]>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    Literal(Box<str>),
    /// `{name}` or `{name|default}`
    Field(Field, Box<str>),
}

/// The places of a template. Notes know all but the last four; `media_only` knows `Tool`; a limit's marker the last three.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    Type,
    Mime,
    Bytes,
    Mb,
    Uri,
    Name,
    Title,
    Description,
    Size,
    Tool,
    Omitted,
    Total,
    Unit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reserved {
    Union,
    Revision20250618,
    Revision20251125,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetaBlocks {
    Strip,
    Allow,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum As {
    Field,
    Text,
    Extras,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NullAs {
    Absent,
    Value,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    First,
    Last,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Render {
    Compact,
    Verbatim,
    Pretty,
    Sorted,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Media {
    Note,
    Keep,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IfJson {
    Leave,
    Project,
    Rewrite,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Extras {
    pub before: Box<str>,
    pub after: Box<str>,
    pub escape: Escape,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Escape {
    #[default]
    None,
    /// The closing tag (`after` without white space around) is deleted from the JSON, once, from left to right.
    Remove,
    /// Each `<` is written `\u003c`.
    Lt,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Limit {
    pub unit: Unit,
    pub most: u64,
    pub cut: Cut,
    /// For `middle`: the share of the front, above 0 and below 1.
    pub head: f64,
    pub marker: Template,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    Bytes,
    Chars,
    Utf16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    Head,
    Tail,
    Middle,
    Elements,
}

/// What `sanitize` takes out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sanitize {
    pub ansi: bool,
    pub bidi: bool,
    pub invisible: bool,
    pub tags: bool,
    pub control: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schema {
    Off,
    Note,
    Unusable,
    Reject,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_rule_is_small() {
        assert_eq!(size_of::<Rule>(), 72);
    }

    #[test]
    fn columns_stand_at_their_index() {
        for (index, (setting, name)) in Setting::ALL.into_iter().enumerate() {
            assert_eq!(setting.index(), index);
            assert_eq!(setting.name(), name);
        }
    }

    #[test]
    fn ranges_know_their_bounds() {
        let range = Range { low: Some((1.0, true)), high: Some((5.0, false)) };
        assert_eq!([0.9, 1.0, 4.9, 5.0].map(|v| range.holds(v)), [false, true, true, false]);
    }
}
