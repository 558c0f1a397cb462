//! The first step: one pass over the bytes of a result.
//!
//! Validates JSON and UTF-8, finds the spans of the members, sorts the content blocks into kinds. Copies nothing and
//! judges nothing: what may be seen, and what it means, is for `table` and `select`.

use super::json::{
    MAX_DEPTH, Malformed, Members, NameSet, Seen, Span, decode_into, decoded, elements, has_escape, members, name_is,
    string_inside, validate_noting_names,
};
use super::refusal::{Refusal, Wrong};
use super::tokens::Tokens;
use super::walk::{Bytewise, Walk};
use crate::policy::rule::Kind;
use std::collections::HashSet;

/// What kind of object the bytes are. The host says it; it is never guessed from bytes that a server wrote (C-120).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Input {
    /// The `result` of `tools/call` or `tasks/result`.
    #[default]
    Result,
    /// A `tool_result` block of a sampling message: its `type`, `toolUseId` and `_meta` stay.
    Sampling,
}

/// What the host and the policy say about the bytes before they are read.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub input: Input,
    /// The largest input in bytes.
    pub max_bytes: usize,
    /// The deepest nesting, the result itself being level 1.
    pub max_depth: u32,
    /// Whether `resultType: task` was negotiated (C-05).
    pub tasks: bool,
    /// Whether the structured value is likely to be shown whatever `content` holds: then it is looked at more closely.
    pub shows_structured: bool,
}

/// Who should read it at all (design: outcomes).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Outcome {
    /// A result to select from.
    #[default]
    Selected,
    /// `resultType: input_required`: for the protocol driver, shown to nobody.
    NeedsInput,
    /// `resultType: task`, negotiated: for the protocol driver, shown to nobody.
    Task,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Selected => "selected",
            Outcome::NeedsInput => "needs_input",
            Outcome::Task => "task",
        }
    }
}

/// The roles that a block's `annotations.audience` names, as bits. No bits and not `GIVEN`: no annotation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Named(u8);

impl Named {
    pub const ASSISTANT: Named = Named(1);
    pub const USER: Named = Named(2);
    /// An `audience` with at least one entry.
    pub const SOME: Named = Named(4);
    /// An `audience` without entries.
    pub const EMPTY: Named = Named(8);

    pub fn has(self, other: Named) -> bool {
        self.0 & other.0 != 0
    }

    fn add(&mut self, other: Named) {
        self.0 |= other.0;
    }
}

/// One content block. Spans are of whole values, strings with their quotes; of an embedded resource `text`, `data`
/// (its `blob`), `mime` and `uri` are those inside.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Block {
    pub span: Span,
    pub kind: Kind,
    pub text: Span,
    pub data: Span,
    pub mime: Span,
    pub uri: Span,
    pub name: Span,
    pub title: Span,
    pub description: Span,
    pub size: Span,
    /// `type` as it came, whatever it is.
    pub type_: Span,
    /// Named on the block, and on the resource inside it (C-55: both are read).
    pub audience: Named,
    pub inner_audience: Named,
    pub traits: Traits,
}

/// What must be known to copy a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traits(u8);

impl Traits {
    /// It has a `_meta`.
    pub const META: Traits = Traits(1);
    /// The resource inside it has a `_meta`.
    pub const INNER_META: Traits = Traits(2);
    /// A member stands twice, in the block, its resource or their annotations.
    pub const REPEATED: Traits = Traits(4);
    /// A member that may be absent is null, of the block, its resource or their annotations.
    pub const NULLS: Traits = Traits(8);
    /// It is no valid block of the type it names.
    pub const MALFORMED: Traits = Traits(16);

    pub fn has(self, other: Traits) -> bool {
        self.0 & other.0 != 0
    }

    fn add(&mut self, other: Traits) {
        self.0 |= other.0;
    }
}

/// Things worth saying about a result, counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Remarks {
    /// Repeated members of the result or of a block (the last one counts).
    pub repeated: u32,
    /// Members of the result that no revision knows; they go to nobody (C-15).
    pub unknown: u32,
    /// `isError: null`, read as absent.
    pub null_is_error: bool,
    /// `content` absent or null beside a `structuredContent`, read as `[]` (C-11).
    pub no_content: bool,
}

/// A scanned result: where everything is.
#[derive(Debug, Default)]
pub struct Scan {
    /// The object itself.
    pub whole: Span,
    /// The array; absent when missing or null.
    pub content: Span,
    pub blocks: Vec<Block>,
    /// The value; absent only when there is no such member. It may be `null`.
    pub structured: Span,
    /// `true` or `false` as it stands; absent when missing or null.
    pub is_error: Span,
    /// The object; absent when missing or null.
    pub meta: Span,
    /// Its members, repeated ones too: names between their quotes, values.
    pub meta_members: Vec<(Span, Span)>,
    /// A member may stand twice in it.
    pub meta_repeats: bool,
    /// A buffer of the walker.
    names: Vec<NameSet>,
    /// The string; absent when missing or null.
    pub result_type: Span,
    /// `type` and `toolUseId` of a sampling block.
    pub sampling: [Span; 2],
    pub remarks: Remarks,
    /// Null members that are not printed: their number.
    pub nulls: u32,
    pub seen: Seen,
    /// What was seen inside `structuredContent` alone, [`Seen::REPEATS`] too, when it was looked at closely.
    pub structured_seen: Option<Seen>,
    pub outcome: Outcome,
}

/// The members of a result that mean something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Member {
    Content,
    Structured,
    IsError,
    Meta,
    ResultType,
    /// SEP-3279, not published: known so that it can be refused by name (C-17).
    Outputs,
    /// `inputRequests` or `requestState`: never looked into (C-08).
    Driver,
    /// `task` of revision 2025-11-25 (C-130).
    Task,
    SamplingType,
    ToolUseId,
    Unknown,
}

fn member_of(name: &[u8], input: Input) -> Member {
    match name {
        b"content" => Member::Content,
        b"structuredContent" => Member::Structured,
        b"isError" => Member::IsError,
        b"_meta" => Member::Meta,
        b"resultType" => Member::ResultType,
        b"outputs" => Member::Outputs,
        b"inputRequests" | b"requestState" => Member::Driver,
        b"task" => Member::Task,
        b"type" if input == Input::Sampling => Member::SamplingType,
        b"toolUseId" if input == Input::Sampling => Member::ToolUseId,
        _ => without_escapes(name).map_or(Member::Unknown, |name| member_of(&name, input)),
    }
}

/// Escaped names are the same names (`"con\u0074ent"`): those rare ones that have an escape, without it.
fn without_escapes(name: &[u8]) -> Option<Vec<u8>> {
    if !has_escape(name) {
        return None;
    }
    let mut decoded = Vec::new();
    decode_into(name, &mut decoded);
    // A backslash that was escaped is no escape.
    (!decoded.contains(&b'\\')).then_some(decoded)
}

/// Reads one result.
struct Reader<'a, W> {
    bytes: &'a [u8],
    max_depth: u32,
    walk: W,
}

impl Scan {
    /// Reads a result. On an error the scan holds nothing of use.
    pub fn read(&mut self, bytes: &[u8], terms: &Terms) -> Result<(), Refusal> {
        self.clear();
        if bytes.len() > terms.max_bytes {
            return Err(Refusal::too_large(bytes.len(), terms.max_bytes));
        }
        if simdutf8::basic::from_utf8(bytes).is_err() {
            return Err(Refusal::invalid_utf8(bytes));
        }
        let fast = Tokens::new(bytes, terms.max_depth).and_then(|walk| self.walk(bytes, terms, walk).ok());
        let top = match fast {
            Some(top) => top,
            // What is wrong, and where, the slower walk tells.
            None => {
                self.clear();
                let walk = Bytewise::new(bytes, terms.max_depth);
                self.walk(bytes, terms, walk).map_err(|m| Refusal::malformed(bytes, m, terms.max_depth))?
            }
        };
        self.judge(bytes, terms, &top)
    }

    /// Fills a scan that was cleared.
    fn walk(&mut self, bytes: &[u8], terms: &Terms, walk: impl Walk) -> Result<Top, Malformed> {
        Reader { bytes, max_depth: terms.max_depth, walk }.result(self, terms)
    }

    fn clear(&mut self) {
        let mut blocks = std::mem::take(&mut self.blocks);
        let mut meta_members = std::mem::take(&mut self.meta_members);
        let names = std::mem::take(&mut self.names);
        blocks.clear();
        meta_members.clear();
        *self = Scan { blocks, meta_members, names, ..Scan::default() };
    }

    /// Whether the members have the types that they must have, and whom the result is for.
    fn judge(&mut self, bytes: &[u8], terms: &Terms, top: &Top) -> Result<(), Refusal> {
        let first = |span: Span| span.of(bytes).first().copied();
        if first(self.whole) != Some(b'{') {
            return Err(Refusal::shape(self.whole, String::new(), Wrong::NoObject));
        }
        let null = |span: Span| span.of(bytes) == b"null";
        let mut absent_if_null = |span: &mut Span| {
            if null(*span) {
                *span = Span::ABSENT;
                self.nulls += 1;
            }
        };
        absent_if_null(&mut self.content);
        absent_if_null(&mut self.meta);
        absent_if_null(&mut self.result_type);
        if null(self.is_error) {
            self.is_error = Span::ABSENT;
            self.nulls += 1;
            self.remarks.null_is_error = true;
        }
        let wrong = |span: Span, member: &str, wrong: Wrong| Err(Refusal::shape(span, member.to_owned(), wrong));
        if !self.result_type.is_absent() {
            let inside = string_inside(bytes, self.result_type);
            let is = |name: &str| inside.is_some_and(|inside| name_is(inside.of(bytes), name));
            if is("input_required") {
                if !top.driver {
                    return wrong(self.whole, "", Wrong::NothingAsked);
                }
                self.outcome = Outcome::NeedsInput;
                return Ok(());
            }
            if is("task") && terms.tasks {
                self.outcome = Outcome::Task;
                return Ok(());
            }
            if !is("complete") {
                return Err(Refusal::result_type(bytes, self.result_type, is("task")));
            }
        }
        if !self.content.is_absent() && first(self.content) != Some(b'[') {
            return wrong(self.content, "content", Wrong::NoArray);
        }
        if !self.is_error.is_absent() && !matches!(self.is_error.of(bytes), b"true" | b"false") {
            return wrong(self.is_error, "isError", Wrong::NoBoolean);
        }
        if !self.meta.is_absent() && first(self.meta) != Some(b'{') {
            return wrong(self.meta, "_meta", Wrong::NoMetaObject);
        }
        if terms.input == Input::Sampling {
            let [kind, id] = self.sampling;
            if !string_inside(bytes, kind).is_some_and(|inside| name_is(inside.of(bytes), "tool_result")) {
                return wrong(if kind.is_absent() { self.whole } else { kind }, "type", Wrong::NoToolResult);
            }
            if string_inside(bytes, id).is_none() {
                return wrong(if id.is_absent() { self.whole } else { id }, "toolUseId", Wrong::NoToolUseId);
            }
        }
        if self.content.is_absent() {
            if !self.structured.is_absent() {
                self.remarks.no_content = true;
            } else if !top.outputs.is_absent() {
                return Err(Refusal::outputs(top.outputs));
            } else if !top.task.is_absent() && terms.tasks {
                self.outcome = Outcome::Task;
            } else {
                return wrong(self.whole, "", Wrong::NoContent);
            }
        }
        Ok(())
    }

    /// How the structured value stands in the input. Looks closely when nobody has. `names` is a buffer to hand in again
    /// and again.
    pub fn structured_spelling(&self, bytes: &[u8], names: &mut Vec<NameSet>) -> Spelling {
        let look = || {
            let (mut seen, start) = (Seen::default(), self.structured.start as usize);
            validate_noting_names(bytes, start, 0, MAX_DEPTH, &mut seen, names).map(|_| seen)
        };
        match self.structured_seen.map_or_else(look, Ok) {
            Ok(seen) if [Seen::LONG_ESCAPE, Seen::LONE_SURROGATE, Seen::REPEATS].iter().all(|no| !seen.has(*no)) => {
                if seen.has(Seen::SPACE) {
                    Spelling::Spaced
                } else {
                    Spelling::Shortest
                }
            }
            _ => Spelling::Other,
        }
    }

    /// How many blocks are no valid blocks of the type they name.
    pub fn malformed_blocks(&self) -> usize {
        self.blocks.iter().filter(|block| block.traits.has(Traits::MALFORMED)).count()
    }

    /// Whether `isError` is true.
    pub fn failed(&self, bytes: &[u8]) -> bool {
        self.is_error.of(bytes) == b"true"
    }
}

/// How a JSON value is spelled, against how it would be written shortest, every member once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    Shortest,
    /// Shortest but for white space between tokens.
    Spaced,
    Other,
}

/// Members of the result that only its outcome depends on.
#[derive(Default, PartialEq, Debug)]
struct Top {
    outputs: Span,
    task: Span,
    driver: bool,
}

impl<W: Walk> Reader<'_, W> {
    fn result(&mut self, scan: &mut Scan, terms: &Terms) -> Result<Top, Malformed> {
        let (input, shows_structured) = (terms.input, terms.shows_structured);
        let mut top = Top::default();
        let start = self.walk.at();
        let mut met = 0u32;
        let end = self.object_or_value(0, |reader, name| {
            let member = member_of(name.of(reader.bytes), input);
            let bit = 1u32 << (member as u32);
            if member != Member::Unknown && met & bit != 0 {
                scan.remarks.repeated += 1;
            }
            met |= bit;
            let at = reader.walk.at();
            let end = match member {
                Member::Content => reader.content(scan)?,
                // Beside blocks it is seldom shown.
                Member::Structured if shows_structured || scan.blocks.is_empty() => {
                    let (end, seen) = reader.walk.value_noting_names(1, &mut scan.names)?;
                    scan.structured_seen = Some(seen);
                    end
                }
                Member::Meta => reader.meta(scan)?,
                _ => reader.walk.value(1)?,
            };
            let value = Span::new(at, end);
            match member {
                Member::Content => scan.content = value,
                Member::Structured => scan.structured = value,
                Member::IsError => scan.is_error = value,
                Member::Meta => scan.meta = value,
                Member::ResultType => scan.result_type = value,
                Member::SamplingType => scan.sampling[0] = value,
                Member::ToolUseId => scan.sampling[1] = value,
                Member::Outputs => top.outputs = value,
                Member::Task => top.task = value,
                Member::Driver => top.driver = true,
                Member::Unknown => {}
            }
            if matches!(member, Member::Unknown | Member::Outputs | Member::Task | Member::Driver) {
                scan.remarks.unknown += 1;
            }
            Ok(end)
        })?;
        scan.whole = Span::new(start, end);
        scan.seen = self.walk.finish()?;
        Ok(top)
    }

    /// Reads `_meta` and lists its members, so that nobody needs to walk it again.
    fn meta(&mut self, scan: &mut Scan) -> Result<usize, Malformed> {
        scan.meta_members.clear();
        scan.meta_repeats = false;
        let mut names = NameSet::default();
        self.object_or_value(1, |reader, name| {
            let at = reader.walk.at();
            let end = reader.walk.value(2)?;
            scan.meta_members.push((name, Span::new(at, end)));
            // A name with an escape may be any other name.
            scan.meta_repeats |= names.add(reader.bytes, name)
                || reader.walk.seen().has(Seen::ESCAPE) && has_escape(name.of(reader.bytes));
            Ok(end)
        })
    }

    /// Reads an object member by member: `each` gets the name, stands at the value, and returns where that ends.
    /// Any other value is validated and passed over.
    #[inline(always)]
    fn object_or_value(
        &mut self,
        open: u32,
        mut each: impl FnMut(&mut Self, Span) -> Result<usize, Malformed>,
    ) -> Result<usize, Malformed> {
        if self.walk.byte() != b'{' {
            return self.walk.value(open);
        }
        if open >= self.max_depth {
            return self.walk.too_deep();
        }
        self.walk.step();
        if self.walk.byte() != b'}' {
            let name = self.walk.name()?;
            each(self, name)?;
        }
        self.rest_of_object(each)
    }

    /// The same behind a value of an object, or at the brace that closes it.
    #[inline(always)]
    fn rest_of_object(
        &mut self,
        mut each: impl FnMut(&mut Self, Span) -> Result<usize, Malformed>,
    ) -> Result<usize, Malformed> {
        loop {
            match self.walk.byte() {
                b',' => self.walk.step(),
                b'}' => break,
                _ => return self.walk.unexpected(),
            }
            let name = self.walk.name()?;
            each(self, name)?;
        }
        let end = self.walk.at() + 1;
        self.walk.step();
        Ok(end)
    }

    fn content(&mut self, scan: &mut Scan) -> Result<usize, Malformed> {
        scan.blocks.clear();
        if self.walk.byte() != b'[' {
            return self.walk.value(1);
        }
        if self.max_depth < 2 {
            return self.walk.too_deep();
        }
        self.walk.step();
        if self.walk.byte() != b']' {
            loop {
                let block = self.block(&mut scan.remarks.repeated)?;
                scan.blocks.push(block);
                match self.walk.byte() {
                    b',' => self.walk.step(),
                    b']' => break,
                    _ => return self.walk.unexpected(),
                }
            }
        }
        let end = self.walk.at() + 1;
        self.walk.step();
        Ok(end)
    }

    fn block(&mut self, repeated: &mut u32) -> Result<Block, Malformed> {
        /// What most blocks begin with, and how many tokens that is.
        const TEXT: (&[u8], usize) = (br#"{"type":"text","text":""#, 11);
        let mut parts = Parts::default();
        let start = self.walk.at();
        let is_text = self.max_depth > 2 && self.walk.skip(TEXT.0, TEXT.1);
        if is_text {
            parts.met = self::parts(&[Part::Type, Part::Text]);
            parts.type_ = Span::new(start + 8, start + 14);
            self.part(&mut parts, Part::Text, 3)?;
        }
        let each = |reader: &mut Self, name: Span| {
            let part = part_of(name.of(reader.bytes));
            parts.meet(part, repeated);
            match (part, reader.walk.byte()) {
                (Part::Resource, b'{') => reader.resource(&mut parts, repeated),
                (Part::Annotations, b'{') => reader.annotations(&mut parts, 3),
                _ => reader.part(&mut parts, part, 3),
            }
        };
        let end = if is_text { self.rest_of_object(each) } else { self.object_or_value(2, each) }?;
        let span = Span::new(start, end);
        parts.look_for_repeats(self.bytes, span, repeated);
        Ok(parts.block(self.bytes, span))
    }

    fn part(&mut self, parts: &mut Parts, part: Part, open: u32) -> Result<usize, Malformed> {
        let (at, first) = (self.walk.at(), self.walk.byte());
        let end = self.walk.value(open)?;
        parts.set(part, Span::new(at, end), first);
        Ok(end)
    }

    fn resource(&mut self, parts: &mut Parts, repeated: &mut u32) -> Result<usize, Malformed> {
        let mut inner = Parts::default();
        let start = self.walk.at();
        let end = self.object_or_value(3, |reader, name| {
            let part = part_of(name.of(reader.bytes));
            inner.meet(part, repeated);
            match (part, reader.walk.byte()) {
                (Part::Annotations, b'{') => reader.annotations(&mut inner, 4),
                _ => reader.part(&mut inner, part, 4),
            }
        })?;
        inner.look_for_repeats(self.bytes, Span::new(start, end), repeated);
        parts.resource = Some(Resource {
            text: inner.text,
            blob: inner.blob,
            mime: inner.mime,
            uri: inner.uri,
            audience: inner.audience,
            has_meta: inner.traits.has(Traits::META),
            wrong: inner.wrong,
        });
        parts.traits.add(Traits(inner.traits.0 & (Traits::REPEATED.0 | Traits::NULLS.0)));
        Ok(end)
    }

    /// Reads annotations that are an object.
    fn annotations(&mut self, parts: &mut Parts, open: u32) -> Result<usize, Malformed> {
        let mut audience = None;
        let end = self.object_or_value(open, |reader, name| {
            let at = reader.walk.at();
            if reader.walk.byte() == b'n' {
                parts.traits.add(Traits::NULLS);
            }
            let end = reader.walk.value(open + 1)?;
            let value = Span::new(at, end);
            // The last one counts, as everywhere.
            if name_is(name.of(reader.bytes), "audience") && audience.replace(value).is_some() {
                parts.traits.add(Traits::REPEATED);
            }
            Ok(end)
        })?;
        parts.annotations(audience, self.bytes);
        Ok(end)
    }
}

/// The members of a block or of a resource that mean something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Type,
    Text,
    Data,
    Blob,
    Mime,
    Uri,
    Name,
    Title,
    Description,
    Size,
    Annotations,
    Meta,
    Icons,
    Resource,
    Other,
}

fn part_of(name: &[u8]) -> Part {
    match name {
        b"type" => Part::Type,
        b"text" => Part::Text,
        b"data" => Part::Data,
        b"blob" => Part::Blob,
        b"mimeType" => Part::Mime,
        b"uri" => Part::Uri,
        b"name" => Part::Name,
        b"title" => Part::Title,
        b"description" => Part::Description,
        b"size" => Part::Size,
        b"annotations" => Part::Annotations,
        b"_meta" => Part::Meta,
        b"icons" => Part::Icons,
        b"resource" => Part::Resource,
        _ => without_escapes(name).map_or(Part::Other, |name| part_of(&name)),
    }
}

/// A block while it is read.
#[derive(Default)]
struct Parts {
    met: u16,
    /// Several members without a meaning.
    has_others: bool,
    type_: Span,
    text: Span,
    data: Span,
    blob: Span,
    mime: Span,
    uri: Span,
    name: Span,
    title: Span,
    description: Span,
    size: Span,
    audience: Named,
    resource: Option<Resource>,
    traits: Traits,
    /// Members with a type that they must not have, one bit each.
    wrong: u16,
}

#[derive(Clone, Copy)]
struct Resource {
    text: Span,
    blob: Span,
    mime: Span,
    uri: Span,
    audience: Named,
    has_meta: bool,
    wrong: u16,
}

/// A set of members, one bit each.
const fn parts(parts: &[Part]) -> u16 {
    let mut bits = 0;
    let mut rest = parts;
    while let [first, others @ ..] = rest {
        bits |= 1u16 << (*first as u16);
        rest = others;
    }
    bits
}

impl Parts {
    fn meet(&mut self, part: Part, repeated: &mut u32) {
        let bit = parts(&[part]);
        if part == Part::Other {
            self.has_others |= self.met & bit != 0;
        } else if self.met & bit != 0 {
            *repeated += 1;
            self.traits.add(Traits::REPEATED);
        }
        self.met |= bit;
    }

    /// Looks for repeats among the members without a meaning, when there are several.
    fn look_for_repeats(&mut self, bytes: &[u8], object: Span, repeated: &mut u32) {
        if !self.has_others {
            return;
        }
        let mut met: HashSet<String> = HashSet::new();
        for (name, _) in members(bytes, object) {
            let is_other = part_of(name.of(bytes)) == Part::Other;
            if is_other && !met.insert(decoded(name.of(bytes)).collect()) {
                *repeated += 1;
                self.traits.add(Traits::REPEATED);
            }
        }
    }

    /// Takes down a member by its value and the first byte of that.
    #[inline(always)]
    fn set(&mut self, part: Part, value: Span, first: u8) {
        let null = first == b'n';
        if null && part != Part::Other {
            self.traits.add(Traits::NULLS);
        }
        let only_if = |fits: bool| if fits { value } else { Span::ABSENT };
        let string = only_if(first == b'"');
        let mut fits = null || !string.is_absent();
        match part {
            Part::Type => self.type_ = value,
            Part::Text => self.text = string,
            Part::Data => self.data = string,
            Part::Blob => self.blob = string,
            Part::Mime => self.mime = string,
            Part::Uri => self.uri = string,
            Part::Name => self.name = string,
            Part::Title => self.title = string,
            Part::Description => self.description = string,
            Part::Size => {
                let number = matches!(first, b'-' | b'0'..=b'9');
                self.size = only_if(number);
                fits = null || number;
            }
            // Those that are an object are read elsewhere.
            Part::Annotations => {
                self.audience = Named::default();
                fits = null;
            }
            Part::Meta => {
                fits = null || first == b'{';
                if !null {
                    self.traits.add(Traits::META);
                }
            }
            Part::Resource => {
                self.resource = None;
                fits = null;
            }
            Part::Icons | Part::Other => return,
        }
        self.fits(part, fits);
    }

    /// Whether a member has a type that it may have. The last one counts, whatever stood there before.
    fn fits(&mut self, part: Part, fits: bool) {
        let bit = parts(&[part]);
        self.wrong = if fits { self.wrong & !bit } else { self.wrong | bit };
    }

    /// Takes down annotations that are an object by their `audience`.
    fn annotations(&mut self, audience: Option<Span>, bytes: &[u8]) {
        self.audience = Named::default();
        let fits = audience.is_none_or(|audience| self.audience(audience, bytes));
        self.fits(Part::Annotations, fits);
    }

    fn audience(&mut self, value: Span, bytes: &[u8]) -> bool {
        let mut name = |span: Span| {
            let Some(inside) = string_inside(bytes, span) else { return false };
            self.audience.add(Named::SOME);
            if name_is(inside.of(bytes), "assistant") {
                self.audience.add(Named::ASSISTANT);
            } else if name_is(inside.of(bytes), "user") {
                self.audience.add(Named::USER);
            }
            true
        };
        match value.of(bytes).first() {
            Some(b'[') => {
                let mut all_strings = true;
                let mut empty = true;
                for element in elements(bytes, value) {
                    all_strings &= name(element);
                    empty = false;
                }
                self.audience.add(if empty { Named::EMPTY } else { Named::SOME });
                all_strings
            }
            Some(b'n') => true,
            // Not allowed, but what it means is plain: it may narrow, and the block is malformed all the same.
            Some(b'"') => {
                name(value);
                false
            }
            _ => false,
        }
    }

    fn block(self, bytes: &[u8], span: Span) -> Block {
        let given = |part: Span| !part.is_absent();
        let is = |name: &str| string_inside(bytes, self.type_).is_some_and(|i| name_is(i.of(bytes), name));
        let kind = match string_inside(bytes, self.type_).map(|inside| inside.of(bytes)) {
            Some(b"text") => Kind::Text,
            Some(b"image") => Kind::Image,
            Some(b"audio") => Kind::Audio,
            Some(b"resource") => Kind::ResourceText,
            Some(b"resource_link") => Kind::ResourceLink,
            // An escaped spelling of one of these.
            Some(raw) if raw.contains(&b'\\') => {
                let kinds = [
                    ("text", Kind::Text),
                    ("image", Kind::Image),
                    ("audio", Kind::Audio),
                    ("resource", Kind::ResourceText),
                    ("resource_link", Kind::ResourceLink),
                ];
                kinds.into_iter().find(|(name, _)| is(name)).map_or(Kind::Unknown, |(_, kind)| kind)
            }
            _ => Kind::Unknown,
        };
        let mut block = Block {
            span,
            kind,
            text: self.text,
            data: self.data,
            mime: self.mime,
            uri: self.uri,
            name: self.name,
            title: self.title,
            description: self.description,
            size: self.size,
            type_: self.type_,
            audience: self.audience,
            inner_audience: Named::default(),
            traits: self.traits,
        };
        // Members that a block's type does not have may be anything: the schema leaves objects open.
        const EVERY: u16 = parts(&[Part::Annotations, Part::Meta]);
        const OF_LINKS: u16 = EVERY | parts(&[Part::Title, Part::Description, Part::Mime, Part::Size]);
        const INSIDE: u16 = EVERY | parts(&[Part::Mime, Part::Text, Part::Blob]);
        let mut valid = self.wrong & if kind == Kind::ResourceLink { OF_LINKS } else { EVERY } == 0;
        if let Some(inner) = self.resource {
            block.inner_audience = inner.audience;
            if inner.has_meta {
                block.traits.add(Traits::INNER_META);
            }
            if kind == Kind::ResourceText {
                (block.text, block.data, block.mime, block.uri) = (inner.text, inner.blob, inner.mime, inner.uri);
                valid &= inner.wrong & INSIDE == 0;
            }
        }
        match kind {
            Kind::Text => valid &= given(block.text),
            Kind::Image | Kind::Audio => valid &= given(block.data) && given(block.mime),
            Kind::ResourceLink => valid &= given(block.uri) && given(block.name),
            Kind::ResourceText => {
                // Text or blob, one of them (C-60).
                valid &= self.resource.is_some() && given(block.uri) && given(block.text) != given(block.data);
                if given(block.data) {
                    block.kind = Kind::ResourceBlob;
                }
            }
            Kind::ResourceBlob | Kind::UiResource | Kind::Unknown => {}
        }
        if matches!(block.kind, Kind::ResourceLink | Kind::ResourceText | Kind::ResourceBlob) && is_ui(bytes, &block) {
            block.kind = Kind::UiResource;
        }
        if !valid {
            block.kind = Kind::Unknown;
            block.traits.add(Traits::MALFORMED);
        }
        block
    }
}

/// C-150: `ui://` and the MIME type of MCP Apps are reserved for views.
fn is_ui(bytes: &[u8], block: &Block) -> bool {
    let inside = |span: Span| string_inside(bytes, span).map(|inside| super::json::text_of(inside.of(bytes)));
    let scheme = |uri: &str| uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("ui://"));
    let profile = |mime: &str| {
        let mime = mime.bytes().filter(|b| !matches!(b, b' ' | b'\t' | b'"')).map(|b| b.to_ascii_lowercase());
        mime.eq("text/html;profile=mcp-app".bytes())
    };
    inside(block.uri).is_some_and(|uri| scheme(&uri)) || inside(block.mime).is_some_and(|mime| profile(&mime))
}

/// The members of the result that came, in order; of a repeated one each occurrence.
pub fn top_members<'a>(bytes: &'a [u8], scan: &Scan) -> Members<'a> {
    members(bytes, scan.whole)
}

#[cfg(test)]
mod tests {
    use super::super::masks::tests::at_every_level;
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const TERMS: Terms =
        Terms { input: Input::Result, max_bytes: 1 << 26, max_depth: 128, tasks: false, shows_structured: false };

    fn scan(text: &str) -> Scan {
        let mut scan = Scan::default();
        scan.read(text.as_bytes(), &TERMS).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
        scan
    }

    fn refusal(text: &[u8]) -> String {
        Scan::default().read(text, &TERMS).unwrap_err().to_string()
    }

    fn kinds(blocks: &str) -> Vec<Kind> {
        scan(&format!("{{\"content\":[{blocks}]}}")).blocks.iter().map(|block| block.kind).collect()
    }

    /// Both walks find the same in a result, or refuse it; of what comes after the first fault in the walk of tokens nothing
    /// is said.
    fn walk_both_ways(text: &[u8], max_depth: u32) {
        at_every_level(|| walk_both_ways_at_one_level(text, max_depth));
    }

    fn walk_both_ways_at_one_level(text: &[u8], max_depth: u32) {
        for shows_structured in [false, true] {
            let terms = Terms { max_depth, shows_structured, ..TERMS };
            let (mut fast, mut slow) = (Scan::default(), Scan::default());
            let Some(tokens) = Tokens::new(text, max_depth) else { return };
            let one = fast.walk(text, &terms, tokens);
            let other = slow.walk(text, &terms, Bytewise::new(text, max_depth));
            let shown = String::from_utf8_lossy(text);
            assert_eq!(one.is_ok(), other.is_ok(), "{shown}: {other:?}");
            if one.is_ok() {
                let relevant = |seen: Seen| [Seen::LONE_SURROGATE, Seen::ESCAPE].map(|kind| seen.has(kind));
                let kinds = [Seen::SPACE, Seen::LONG_ESCAPE, Seen::LONE_SURROGATE, Seen::REPEATS];
                let structured = |scan: &Scan| scan.structured_seen.map(|seen| kinds.map(|kind| seen.has(kind)));
                assert_eq!(structured(&fast), structured(&slow), "{shown}");
                assert_eq!(relevant(fast.seen), relevant(slow.seen), "{shown}");
                (fast.seen, fast.structured_seen, fast.names) = (slow.seen, slow.structured_seen, slow.names.clone());
                assert_eq!(format!("{fast:?}"), format!("{slow:?}"), "{shown}");
                assert_eq!(one, other, "{shown}");
            }
        }
    }

    proptest! {
        /// Pieces that mean something, in any order and at any distance from the start of a block of 64 bytes.
        #[test]
        fn both_walks_find_the_same(before in 0usize..70, pieces in vec(0usize..PIECES.len(), 0..40), fill in 0usize..70) {
            let pieces: Vec<&str> = pieces.into_iter().filter_map(|piece| PIECES.get(piece).copied()).collect();
            let text = " ".repeat(before) + &pieces.concat().replace('~', &"x".repeat(fill));
            walk_both_ways(text.as_bytes(), 128);
        }

        /// A valid result with one byte changed, taken out or put in, after white space that moves it through the blocks.
        #[test]
        fn both_walks_refuse_the_same(before in 0usize..70, at in 0usize..600, byte: u8, how in 0u8..4, fill in 0usize..70) {
            let fill = "x".repeat(fill);
            let result = format!(
                r#"{{"content":[{{"type":"text","text":"{fill}\"\n\\\u00e9\ud83e\udd8a\/ é","annotations":{{"audience":["user"],"priority":0.5}}}},
                {{"type":"resource","resource":{{"uri":"a:b","text":null,"blob":"{fill}","_meta":{{}}}},"x":[1,[],{{}}]}} , {{ }}],
                "structuredContent":{{"a":{{"b":[1.5e+3,-0,true,null,"{fill}"],"\u0061":[{{"c":{{}}}}]}},"{fill}":false}},
                "isError":false,"_meta":{{"a/b":[[["{fill}"]]],"c":"\ud800"}}}}"#
            );
            let mut text = " ".repeat(before).into_bytes();
            text.extend_from_slice(result.as_bytes());
            let at = at % text.len();
            match how {
                0 => text[at] = byte,
                1 => drop(text.remove(at)),
                2 => text.insert(at, byte),
                _ => text.truncate(at),
            }
            for depth in [3, 5, 128] {
                walk_both_ways(&text, depth);
            }
        }
    }

    const PIECES: [&str; 32] = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\"~\"",
        "\\",
        "\\\"",
        "\\u12aB",
        "\\ud83e\\udd8a",
        "\\udc00",
        "1",
        "-0.5e3",
        "true",
        "null",
        "false",
        " ",
        "\n",
        "\t",
        "\u{1}",
        "é",
        "~",
        "{\"content\":[",
        "{\"type\":\"text\",\"text\":\"a\"}",
        "]}",
        "\"_meta\":{",
        "\"a\":",
        "\"structuredContent\":{",
        "}}",
        "\"isError\":true",
    ];

    #[test]
    fn finds_the_members() {
        let text = r#" {"con\u0074ent":[{"type":"text","text":"a"}],"structuredContent":null,"isError":true,"_meta":{"a":1}} "#;
        let found = scan(text);
        assert_eq!(found.structured.of(text.as_bytes()), b"null");
        assert_eq!(found.meta.of(text.as_bytes()), br#"{"a":1}"#);
        assert!(found.failed(text.as_bytes()));
        assert_eq!(found.blocks[0].text.of(text.as_bytes()), b"\"a\"");
    }

    #[test]
    fn sorts_blocks_into_kinds() {
        use Kind::*;
        for (block, kind) in [
            (r#"{"type":"text","text":""}"#, Text),
            (r#"{"type":"te\u0078t","text":"a"}"#, Text),
            (r#"{"type":"text","text":null}"#, Unknown),
            (r#"{"type":"text","text":"a","annotations":null,"_meta":null}"#, Text),
            (r#"{"type":"text","text":"a","annotations":7}"#, Unknown),
            (r#"{"type":"image","data":"","mimeType":"image/png"}"#, Image),
            (r#"{"type":"image","data":""}"#, Unknown),
            (r#"{"type":"audio","data":"","mimeType":"audio/wav"}"#, Audio),
            (r#"{"type":"resource","resource":{"uri":"a:b","text":""}}"#, ResourceText),
            (r#"{"type":"resource","resource":{"uri":"a:b","blob":"","mimeType":null}}"#, ResourceBlob),
            (r#"{"type":"resource","resource":{"uri":"a:b","blob":"","text":""}}"#, Unknown),
            (r#"{"type":"resource","resource":{"uri":"a:b"}}"#, Unknown),
            (r#"{"type":"resource","resource":[]}"#, Unknown),
            (r#"{"type":"resource","resource":{"uri":"ui://a","text":""}}"#, UiResource),
            (r#"{"type":"resource_link","uri":"a:b","name":"x"}"#, ResourceLink),
            (r#"{"type":"resource_link","uri":"a:b","name":"x","mimeType":"text/html; profile=mcp-app"}"#, UiResource),
            (r#"{"type":"resource_link","uri":"a:b"}"#, Unknown),
            (r#"{"type":"video"}"#, Unknown),
            // What the type does not have is not looked at, and of a repeated member the last counts.
            (r#"{"type":"text","text":"a","data":{"b":1},"size":"big","resource":7}"#, Text),
            (r#"{"type":"resource_link","uri":"a:b","name":"x","size":"big"}"#, Unknown),
            (r#"{"type":"text","text":"a","_meta":7,"_meta":{}}"#, Text),
            (r#"{"type":"text","text":"a","annotations":{},"annotations":[]}"#, Unknown),
            (r#"{"type":"resource","resource":[],"resource":{"uri":"a:b","text":"","title":1}}"#, ResourceText),
            ("null", Unknown),
            ("[]", Unknown),
        ] {
            assert_eq!(kinds(block), [kind], "{block}");
        }
    }

    #[test]
    fn reads_audiences() {
        let named = |audience: &str| {
            let text = format!(
                r#"{{"content":[{{"type":"text","text":"a","annotations":{{"priority":1,"audience":{audience}}}}}]}}"#
            );
            scan(&text).blocks[0].audience
        };
        assert_eq!(named("null"), Named::default());
        assert_eq!(named("[]"), Named::EMPTY);
        assert_eq!(named(r#"["user"]"#), Named(Named::USER.0 | Named::SOME.0));
        assert_eq!(named(r#"["assistant","robot"]"#), Named(Named::ASSISTANT.0 | Named::SOME.0));
        assert_eq!(named(r#""user""#), Named(Named::USER.0 | Named::SOME.0));
    }

    #[test]
    fn the_last_of_repeated_members_counts() {
        let text = r#"{"content":[{"type":"text","text":"old"}],"isError":true,"content":[],"isError":false}"#;
        let found = scan(text);
        assert!(found.blocks.is_empty());
        assert!(!found.failed(text.as_bytes()));
        assert_eq!(found.remarks.repeated, 2);
        let block = r#"{"type":"text","x":1,"text":"a","y":2,"\u0078":3}"#;
        let found = scan(&format!(r#"{{"content":[{block},{{"type":"a","resource":{{"x":1,"y":2,"y":3}}}}]}}"#));
        assert!(found.blocks.iter().all(|block| block.traits.has(Traits::REPEATED)));
        assert_eq!(found.remarks.repeated, 2);
    }

    #[test]
    fn refuses_with_code_place_and_a_way_out() {
        for (text, expected) in [
            (
                &b"{\"content\":[]"[..],
                "malformed-json at byte 13 (from 0), in content: the input ends inside a value; send the whole result",
            ),
            (
                b"{\"content\":[],\"structuredContent\":{\"avg\":NaN}}",
                "malformed-json at byte 41 (from 0), in structuredContent.avg: NaN is no JSON number; write null, a string, or leave the member out",
            ),
            (
                b"{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}",
                "invalid-utf8 at byte 35 (from 0), in content[0].text: this byte is no UTF-8; decode the text with its real encoding first",
            ),
            (
                b"[]",
                "wrong-shape at byte 0 (from 0): a tool result is a JSON object; hand over the `result` member of the response",
            ),
            (b"{\"content\":7}", "wrong-shape at byte 11 (from 0), in content: `content` must be an array of blocks"),
            (
                b"{\"content\":[],\"isError\":\"no\"}",
                "wrong-shape at byte 24 (from 0), in isError: `isError` must be true or false",
            ),
            (
                b"{\"isError\":false}",
                "wrong-shape at byte 0 (from 0): the result has neither `content` nor `structuredContent`; a tool result has a `content` array, which may be empty",
            ),
            (
                b"{\"resultType\":\"partial\",\"content\":[]}",
                "unknown-result-type at byte 14 (from 0), in resultType: `resultType` is \"partial\", which is neither \"complete\" nor \"input_required\"; update the host, or ask the server for a known revision",
            ),
            (
                b"{\"resultType\":\"task\"}",
                "unknown-result-type at byte 14 (from 0), in resultType: `resultType` is \"task\", but the tasks extension was not negotiated; add `io.modelcontextprotocol/tasks` to the request if it was",
            ),
            (
                b"{\"outputs\":[]}",
                "unknown-result-type at byte 11 (from 0), in outputs: the result carries `outputs` (SEP-3279) and no `content`, a form that no published revision has; ask the server for a published revision",
            ),
        ] {
            assert_eq!(refusal(text), expected);
        }
        let deep = format!("{{\"content\":[],\"structuredContent\":{}1{}}}", "[".repeat(128), "]".repeat(128));
        assert!(
            refusal(deep.as_bytes()).starts_with("too-deep at byte 161 (from 0), in structuredContent[0][0]"),
            "{}",
            refusal(deep.as_bytes())
        );
        let shallow = format!("{{\"content\":[],\"structuredContent\":{}1{}}}", "[".repeat(127), "]".repeat(127));
        scan(&shallow);
    }

    #[test]
    fn tells_who_it_is_for() {
        assert_eq!(scan(r#"{"resultType":"input_required","requestState":"x"}"#).outcome, Outcome::NeedsInput);
        let mut task = Scan::default();
        let terms = Terms { tasks: true, ..TERMS };
        task.read(br#"{"resultType":"task","taskId":"7"}"#, &terms).unwrap();
        assert_eq!(task.outcome, Outcome::Task);
        assert_eq!(scan(r#"{"structuredContent":1}"#).outcome, Outcome::Selected);
    }
}
