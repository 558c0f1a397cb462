//! What the output will be made of: which lane, and for each of its blocks where it comes from.
//!
//! Nothing is written here but the texts that the output needs and the input has not (notes, rendered JSON), into one
//! arena. `emit` writes the result.

use super::ask::Ask;
use super::facts::{Scratch, has_text, text};
use super::meta::{Filtered, Keys, filter, keeps_all};
use super::note::{write_around, write_note};
use super::sanitize::{Counts, sanitize_json};
use crate::policy::rule::{
    Annotations, As, At, Blank, BlockRule, Disposition, Escape, Extras, IfJson, Kind, Lane, Media, MetaBlocks, NullAs,
    Render, Role, Sanitize, Setting, StructuredState, Usable,
};
use crate::result::compact::{compact_into, has_repeats};
use crate::result::json::{
    MAX_DEPTH, Span, decode_into, decoded, elements, members, name_is, string_inside, text_of, validate_text,
    without_space_into,
};
use crate::result::path;
use crate::result::render::{pretty_into, sorted_into};
use crate::result::scan::{Block, Input, Named, Scan, Spelling, Traits};
use crate::result::text::{is_blank, is_blank_char};
use memchr::memmem;
use std::borrow::Cow;
use std::ops::Range;

/// What became of a block of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Fate {
    /// Byte for byte the source block.
    Kept = 0,
    /// Cut, sanitised, projected, turned into text, or its `_meta` filtered.
    Rewritten = 1,
    /// Stands in the place of the source block.
    Note = 2,
    /// Structured value, extras or placeholder: no source block.
    Added = 3,
}

/// One block of the output.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its index in the input's `content`.
    pub source: Option<u32>,
    pub fate: Fate,
    pub form: Form,
}

#[derive(Clone, Debug)]
pub enum Form {
    /// The source block, written member by member when its fate is `Rewritten`.
    Block,
    /// A text block with this text of the arena.
    Text(Range<usize>),
    /// This JSON of the arena, a whole block.
    Json(Range<usize>),
    /// A text block with the structured value as it stands in the input.
    Structured,
}

/// A value that is written as a member of the output.
#[derive(Clone, Debug, Default)]
pub enum FieldValue {
    #[default]
    Absent,
    /// As it stands in the input.
    Input,
    /// This JSON of the arena.
    Arena(Range<usize>),
}

/// Something of the result that the reader does not see.
#[derive(Clone, Debug)]
pub struct Dropped {
    pub what: What,
    pub bytes: u32,
    pub why: Why,
}

#[derive(Clone, Copy, Debug)]
pub enum What {
    Block(u32),
    /// The text of a block, its note stands instead.
    Noted(u32),
    Structured,
    Meta,
    BlockMeta(u32),
    Unknown,
    Result,
}

/// Why something is not seen: a setting, or a rule of the design.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    Hide,
    /// Its `annotations.audience` names others.
    Annotations,
    /// Another lane was chosen.
    Lane,
    /// `blocks.<kind>`
    Blocks(Kind),
    /// Nothing visible in it, and something else is left.
    Blank,
    /// No pattern of `meta.allow`, or one of `meta.deny`.
    Meta,
    MetaBlocks,
    /// Beyond `limit`.
    Limit,
    /// `structured.pick` and `structured.omit` leave nothing of it.
    Projection,
    /// `schema = "unusable"`
    Schema,
    /// No revision knows the member.
    Unknown,
}

/// What the output is made of.
#[derive(Debug, Default)]
pub struct Plan {
    pub lane: Option<Lane>,
    pub items: Vec<Item>,
    /// Texts that the input has not, UTF-8.
    pub arena: Vec<u8>,
    pub structured: FieldValue,
    pub meta: FieldValue,
    pub dropped: Vec<Dropped>,
    /// `placeholder` or `placeholder_hidden` stands in the output.
    pub placeholder: bool,
    /// What `sanitize` took out.
    pub sanitized: Counts,
    /// How many units `limit` left out.
    pub truncated: u64,
    /// A value was too costly to project, and withheld.
    pub over_budget: bool,
    shown: Vec<Shown>,
}

/// A visible block and what becomes of it.
#[derive(Clone, Debug)]
struct Shown {
    index: u32,
    form: ShownAs,
    /// Its text when `text.if_json` made another of it.
    text: Option<Range<usize>>,
    /// A text with nothing visible in it.
    blank: bool,
}

#[derive(Clone, Debug)]
enum ShownAs {
    Kept,
    Dropped,
    Noted,
    Json,
    /// A text block with the decoded text of a resource.
    Text(Range<usize>),
}

/// Marks the blocks that the audience may see; whether narrowing hid all there were.
pub fn narrow(scan: &Scan, role: Role, annotations: Annotations, visible: &mut Vec<bool>) -> bool {
    let role = match role {
        Role::Assistant => Named::ASSISTANT,
        Role::User => Named::USER,
    };
    let hides = |named: Named| match annotations {
        Annotations::Ignore => false,
        Annotations::Narrow => named.has(Named::SOME) && !named.has(role),
        Annotations::NarrowStrict => (named.has(Named::SOME) || named.has(Named::EMPTY)) && !named.has(role),
    };
    visible.clear();
    // Named on the block or on the resource inside it: the narrower of both counts (C-55).
    visible.extend(scan.blocks.iter().map(|block| !hides(block.audience) && !hides(block.inner_audience)));
    !visible.is_empty() && !visible.contains(&true)
}

/// One result, ready to be planned.
pub struct Planner<'x, 'p, 'a> {
    pub ask: &'x mut Ask<'p, 'a>,
    pub plan: &'x mut Plan,
    pub bytes: &'a [u8],
    pub scan: &'a Scan,
    pub visible: &'a [bool],
    pub all_hidden: bool,
    pub input: Input,
    pub tool: &'x str,
    /// The structured value as it may go out, once somebody asked; `None` inside: it may not.
    pub value: Option<Option<Cow<'a, [u8]>>>,
    /// Which keys of the `_meta` of blocks go out, once somebody asked; `None` inside: none.
    pub block_keys: Option<Option<Keys<'p>>>,
}

impl Plan {
    pub fn clear(&mut self) {
        self.lane = None;
        self.items.clear();
        self.arena.clear();
        self.structured = FieldValue::Absent;
        self.meta = FieldValue::Absent;
        self.dropped.clear();
        self.placeholder = false;
        self.sanitized = Counts::default();
        self.truncated = 0;
        self.over_budget = false;
        self.shown.clear();
    }

    pub fn drop(&mut self, what: What, span: Span, why: Why) {
        self.dropped.push(Dropped { what, bytes: span.end - span.start, why });
    }

    pub fn add_text(&mut self, source: Option<u32>, fate: Fate, from: usize) {
        self.items.push(Item { source, fate, form: Form::Text(from..self.arena.len()) });
    }
}

impl<'p, 'a> Planner<'_, 'p, 'a> {
    /// Chooses the lane and says what the output is made of.
    pub fn run(&mut self) {
        if self.ask.hide() {
            self.plan.lane = Some(Lane::Nothing);
            self.plan.drop(What::Result, self.scan.whole, Why::Hide);
            return self.placeholder(Setting::Placeholder);
        }
        let order = if self.scan.failed(self.bytes) { Setting::ErrorOrder } else { Setting::Order };
        let order = self.ask.order(order);
        self.show_blocks(order);
        let lane = order.iter().copied().find(|&lane| self.is_usable(lane));
        self.plan.lane = Some(lane.unwrap_or(Lane::Nothing));
        match lane {
            Some(Lane::Content) => self.content(false),
            Some(Lane::Both) => self.content(true),
            Some(Lane::Structured) => self.structured(true),
            Some(Lane::StructuredOnly) => self.structured(false),
            Some(Lane::Raw) => self.raw(),
            Some(Lane::Whole) => {}
            Some(Lane::Nothing) | None => self.nothing(lane.is_none()),
        }
        if lane != Some(Lane::Whole) {
            self.refine();
        }
        self.say_what_is_dropped();
    }

    // ---- what becomes of each block ----------------------------------------------------------------------

    /// Looks at the visible blocks once. Lanes that need no block are spared it.
    fn show_blocks(&mut self, order: &[Lane]) {
        if self.all_hidden || matches!(order.first(), Some(Lane::Whole | Lane::Raw | Lane::Nothing)) {
            return;
        }
        let mut rules: [Option<&BlockRule>; Kind::ALL.len()] = [None; Kind::ALL.len()];
        for (index, block) in (0u32..).zip(&self.scan.blocks) {
            if !self.visible.get(index as usize).copied().unwrap_or_default() {
                continue;
            }
            let Some(rule) = rules.get_mut(block.kind as usize) else { continue };
            if rule.is_none() {
                *rule = self.ask.block(block.kind);
            }
            let disposition = rule.map_or(Disposition::Keep, |rule| disposition(rule, self.bytes, block));
            let mut form = self.show(block, disposition);
            let mut text = None;
            if has_text(block) && !matches!(form, ShownAs::Dropped | ShownAs::Noted) {
                match self.rewritten(self::text(self.bytes, block)) {
                    Rewritten::Same => {}
                    Rewritten::Text(range) => text = Some(range),
                    Rewritten::Nothing => {
                        self.plan.drop(What::Block(index), block.span, Why::Projection);
                        continue;
                    }
                }
            }
            if let (ShownAs::Text(range), Some(text)) = (&mut form, &text) {
                *range = text.clone();
            }
            let is_text = matches!(form, ShownAs::Kept) && block.kind == Kind::Text || matches!(form, ShownAs::Text(_));
            let blank = is_text
                && match text.as_ref().or(if let ShownAs::Text(range) = &form { Some(range) } else { None }) {
                    Some(range) => is_blank_text(self.plan.arena.get(range.clone()).unwrap_or_default()),
                    None => is_blank(self::text(self.bytes, block)),
                };
            self.plan.shown.push(Shown { index, form, text, blank });
        }
    }

    fn show(&mut self, block: &Block, disposition: Disposition) -> ShownAs {
        match disposition {
            Disposition::Drop => ShownAs::Dropped,
            Disposition::Note => ShownAs::Noted,
            Disposition::Json => ShownAs::Json,
            Disposition::Text if block.kind == Kind::Text => ShownAs::Kept,
            Disposition::Text => self.show_as_text(block),
            // What is no block at all cannot be kept as one.
            Disposition::Keep if block.kind == Kind::Unknown && string_inside(self.bytes, block.type_).is_none() => {
                ShownAs::Noted
            }
            Disposition::Keep => ShownAs::Kept,
        }
    }

    fn show_as_text(&mut self, block: &Block) -> ShownAs {
        let start = self.plan.arena.len();
        if let Some(text) = string_inside(self.bytes, block.text) {
            decode_into(text.of(self.bytes), &mut self.plan.arena);
            return ShownAs::Text(start..self.plan.arena.len());
        }
        let mime = string_inside(self.bytes, block.mime).map(|mime| text_of(mime.of(self.bytes)));
        if let Some(data) =
            string_inside(self.bytes, block.data).filter(|_| mime.is_some_and(|mime| is_text_type(&mime)))
        {
            let base64: Vec<u8> =
                decoded(data.of(self.bytes)).filter(|c| !c.is_whitespace()).collect::<String>().into();
            if let Some(text) = decode_base64(&base64).and_then(|bytes| String::from_utf8(bytes).ok()) {
                self.plan.arena.extend_from_slice(text.as_bytes());
                return ShownAs::Text(start..self.plan.arena.len());
            }
        }
        ShownAs::Noted
    }

    // ---- which lane --------------------------------------------------------------------------------------

    fn is_usable(&mut self, lane: Lane) -> bool {
        match lane {
            Lane::Content => self.content_is_usable(),
            Lane::Structured | Lane::StructuredOnly => self.structured_shows(),
            Lane::Both => self.content_is_usable() || self.structured_shows(),
            Lane::Raw => !self.all_hidden,
            Lane::Whole | Lane::Nothing => true,
        }
    }

    fn content_is_usable(&mut self) -> bool {
        let usable = self.ask.usable();
        if usable == Usable::Any {
            return self.plan.shown.iter().any(|shown| !matches!(shown.form, ShownAs::Dropped));
        }
        self.plan.shown.iter().any(|shown| match shown.form {
            ShownAs::Dropped => false,
            ShownAs::Noted => usable == Usable::Noted,
            ShownAs::Json | ShownAs::Text(_) => !shown.blank,
            ShownAs::Kept => {
                let kind = self.scan.blocks.get(shown.index as usize).map_or(Kind::Unknown, |block| block.kind);
                if kind == Kind::Text { !shown.blank } else { usable != Usable::Text }
            }
        })
    }

    fn structured_is_usable(&mut self) -> bool {
        if self.all_hidden || self.ask.schema_withholds() {
            return false;
        }
        self.structured_value().is_some()
    }

    /// Whether the structured value is usable, and more than a text block with nothing to see in it (which a second pass would
    /// take for nothing, unless anything is usable).
    fn structured_shows(&mut self) -> bool {
        if !self.structured_is_usable() {
            return false;
        }
        let Some(value) = self.structured_value() else { return false };
        let blank = string_inside(&value, Span::new(0, value.len())).is_some_and(|text| is_blank(text.of(&value)));
        !(blank && self.ask.structured_as() == As::Text && self.ask.usable() != Usable::Any)
    }

    // ---- the lanes ---------------------------------------------------------------------------------------

    /// Lanes `content` and `both`: the visible blocks, then the structured value.
    fn content(&mut self, both: bool) {
        let with_structured = both && self.structured_shows();
        let shown = std::mem::take(&mut self.plan.shown);
        let left = |shown: &Shown| !shown.blank && !matches!(shown.form, ShownAs::Dropped);
        let drop_blank = (with_structured || shown.iter().any(left))
            && shown.iter().any(|s| s.blank)
            && self.ask.blank() == Blank::Drop;
        for block in &shown {
            if block.blank && drop_blank {
                let span = self.span_of(block.index);
                self.plan.drop(What::Block(block.index), span, Why::Blank);
            } else {
                self.block(block);
            }
        }
        self.plan.shown = shown;
        self.around();
        self.structured_and_meta(with_structured, None);
    }

    /// Lanes `structured` (the value in the place of the texts) and `structured-only`.
    fn structured(&mut self, with_blocks: bool) {
        let shown = std::mem::take(&mut self.plan.shown);
        let mut first_text = None;
        for block in &shown {
            let kind = self.scan.blocks.get(block.index as usize).map_or(Kind::Unknown, |block| block.kind);
            if kind == Kind::Text {
                first_text.get_or_insert(self.plan.items.len());
            }
            let span = self.span_of(block.index);
            if kind == Kind::Text || !with_blocks {
                self.plan.drop(What::Block(block.index), span, Why::Lane);
            } else if block.blank && self.ask.blank() == Blank::Drop {
                // An embedded text that became a text block; the value is left.
                self.plan.drop(What::Block(block.index), span, Why::Blank);
            } else {
                self.block(block);
            }
        }
        self.plan.shown = shown;
        let at = match self.ask.structured_at() {
            At::First => first_text.unwrap_or_default(),
            At::Last => self.plan.items.len(),
        };
        self.structured_and_meta(true, Some(at));
    }

    /// Lane `nothing`, or no lane at all: then notes stand, if there are any, else the placeholder.
    fn nothing(&mut self, fell_through: bool) {
        if fell_through {
            let shown = std::mem::take(&mut self.plan.shown);
            for block in shown.iter().filter(|shown| matches!(shown.form, ShownAs::Noted)) {
                self.block(block);
            }
            self.plan.shown = shown;
        }
        self.structured_and_meta(false, None);
        if self.plan.items.is_empty() {
            let hidden = self.all_hidden && fell_through;
            self.placeholder(if hidden { Setting::PlaceholderHidden } else { Setting::Placeholder });
        }
    }

    fn placeholder(&mut self, setting: Setting) {
        let start = self.plan.arena.len();
        self.plan.arena.extend_from_slice(self.ask.text(setting).as_bytes());
        self.plan.add_text(None, Fate::Added, start);
        self.plan.placeholder = true;
    }

    /// Lane `raw`: what is left after narrowing and `meta.*`, as JSON text.
    fn raw(&mut self) {
        let keys = self.block_keys();
        let mut json = std::mem::take(&mut self.ask.facts.scratch.raw);
        json.clear();
        json.extend_from_slice(b"{\"content\":[");
        let mut first = true;
        for (block, _) in self.scan.blocks.iter().zip(self.visible).filter(|(_, visible)| **visible) {
            if !std::mem::take(&mut first) {
                json.push(b',');
            }
            let text = match has_text(block).then(|| self.rewritten(text(self.bytes, block))) {
                Some(Rewritten::Text(range)) => self.plan.arena.get(range),
                Some(Rewritten::Nothing) => Some(&[][..]),
                Some(Rewritten::Same) | None => None,
            };
            super::emit::rewrite_block(self.bytes, block, keys.as_ref(), text, &mut json);
        }
        json.push(b']');
        let usable = self.structured_is_usable();
        if let Some(value) = self.structured_value().filter(|_| usable) {
            json.extend_from_slice(b",\"structuredContent\":");
            json.extend_from_slice(&value);
        }
        if !self.scan.is_error.is_absent() {
            json.extend_from_slice(b",\"isError\":");
            json.extend_from_slice(self.scan.is_error.of(self.bytes));
        }
        if let Some((meta, _)) = self.allowed_meta() {
            json.extend_from_slice(b",\"_meta\":");
            json.extend_from_slice(self.plan.arena.get(meta).unwrap_or_default());
        }
        json.push(b'}');
        // As a value: in the text that it becomes, control characters are escapes.
        let start = self.plan.arena.len();
        self.write_sanitized(&json);
        self.ask.facts.scratch.raw = json;
        self.plan.add_text(None, Fate::Added, start);
    }

    // ---- pieces of lanes ---------------------------------------------------------------------------------

    fn span_of(&self, index: u32) -> Span {
        self.scan.blocks.get(index as usize).map_or(Span::ABSENT, |block| block.span)
    }

    /// Adds one visible block to the output.
    fn block(&mut self, shown: &Shown) {
        let Some(block) = self.scan.blocks.get(shown.index as usize) else { return };
        let source = Some(shown.index);
        let start = self.plan.arena.len();
        match &shown.form {
            ShownAs::Dropped => {
                self.plan.drop(What::Block(shown.index), block.span, Why::Blocks(block.kind));
            }
            ShownAs::Kept if shown.text.is_some() => {
                let json = self.block_json(block, shown.text.as_ref());
                self.plan.arena.extend_from_slice(&json);
                self.ask.facts.scratch.json = json;
                let form = Form::Json(start..self.plan.arena.len());
                self.plan.items.push(Item { source, fate: Fate::Rewritten, form });
            }
            ShownAs::Kept => {
                let fate = if self.must_rewrite(shown.index, block) { Fate::Rewritten } else { Fate::Kept };
                self.plan.items.push(Item { source, fate, form: Form::Block });
            }
            ShownAs::Noted => {
                if let Some(template) = self.ask.note(block.kind) {
                    write_note(template, self.bytes, block, &mut self.plan.arena);
                }
                self.plan.drop(What::Noted(shown.index), block.span, Why::Blocks(block.kind));
                self.plan.add_text(source, Fate::Note, start);
            }
            ShownAs::Json => {
                let json = self.block_json(block, shown.text.as_ref());
                self.write_sanitized(&json);
                self.ask.facts.scratch.json = json;
                self.plan.add_text(source, Fate::Rewritten, start);
            }
            ShownAs::Text(range) => {
                self.plan.items.push(Item { source, fate: Fate::Rewritten, form: Form::Text(range.clone()) });
            }
        }
    }

    /// A block as it may go out, with another text when there is one: in `scratch.json`, to be given back there.
    fn block_json(&mut self, block: &Block, text: Option<&Range<usize>>) -> Vec<u8> {
        let keys = self.block_keys();
        let text = text.and_then(|range| self.plan.arena.get(range.clone()));
        let mut json = std::mem::take(&mut self.ask.facts.scratch.json);
        json.clear();
        super::emit::rewrite_block(self.bytes, block, keys.as_ref(), text, &mut json);
        json
    }

    /// Whether a block cannot be copied as it stands.
    fn must_rewrite(&mut self, index: u32, block: &Block) -> bool {
        if block.traits.has(Traits::REPEATED) || block.traits.has(Traits::NULLS) {
            return true;
        }
        if !block.traits.has(Traits::META) && !block.traits.has(Traits::INNER_META) {
            return false;
        }
        let keys = self.block_keys();
        let metas = super::emit::metas_of(self.bytes, block).into_iter().flatten();
        let lost = metas.filter(|meta| !keys.as_ref().is_some_and(|keys| keeps_all(self.bytes, *meta, keys)));
        let lost = lost.fold(0, |sum, meta| sum + meta.len());
        if lost > 0 {
            self.plan.drop(What::BlockMeta(index), Span::new(0, lost), Why::MetaBlocks);
        }
        lost > 0
    }

    /// The patterns for the `_meta` of blocks; `None`: all of it is stripped.
    pub fn block_keys(&mut self) -> Option<Keys<'p>> {
        if self.block_keys.is_none() {
            let allowed = self.ask.meta_blocks() == MetaBlocks::Allow;
            self.block_keys = Some(allowed.then(|| self.ask.keys()));
        }
        self.block_keys.clone().flatten()
    }

    /// Puts `media_only` around what is there, when there is media and no text.
    fn around(&mut self) {
        let mut media = false;
        for item in &self.plan.items {
            let block = item.source.and_then(|index| self.scan.blocks.get(index as usize));
            match (&item.form, block) {
                (Form::Text(range), _) if !range.is_empty() => return,
                (Form::Text(_) | Form::Structured, _) => {}
                (Form::Block | Form::Json(_), Some(block)) if has_text(block) => {
                    if !text(self.bytes, block).is_empty() {
                        return;
                    }
                }
                (Form::Block | Form::Json(_), _) => media = true,
            }
        }
        if !media {
            return;
        }
        let Some((before, after)) = self.ask.media_only() else { return };
        for (template, front) in [(before, true), (after, false)] {
            let start = self.plan.arena.len();
            write_around(template, self.tool, &mut self.plan.arena);
            if self.plan.arena.len() == start {
                continue;
            }
            self.plan.add_text(None, Fate::Added, start);
            if front {
                self.plan.items.rotate_right(1);
            }
        }
    }

    /// Adds the structured value (at item `at`, else behind) and what is allowed of `_meta`, each in its form.
    fn structured_and_meta(&mut self, structured: bool, at: Option<usize>) {
        let mut extras = std::mem::take(&mut self.ask.facts.scratch.extras);
        extras.clear();
        match structured.then(|| self.ask.structured_as()) {
            Some(As::Text) => {
                let form = self.structured_text();
                self.plan.items.push(Item { source: None, fate: Fate::Added, form });
                if let Some(tail) = at.and_then(|at| self.plan.items.get_mut(at..)) {
                    tail.rotate_right(1);
                }
            }
            Some(As::Field) => self.plan.structured = self.structured_field(),
            Some(As::Extras) => {
                extras.extend_from_slice(b"{\"structuredContent\":");
                let start = self.plan.arena.len();
                if let Some(value) = self.structured_value() {
                    self.write_structured_json(value);
                }
                extras.extend(self.plan.arena.drain(start..));
            }
            None => {}
        }
        if self.input == Input::Sampling {
            if !self.scan.meta.is_absent() {
                self.plan.meta = FieldValue::Input;
            }
        } else if let Some((meta, all)) = self.allowed_meta() {
            let written = self.plan.arena.get(meta.clone()).unwrap_or_default();
            match self.ask.meta_as() {
                As::Field if all => self.plan.meta = FieldValue::Input,
                As::Field => self.plan.meta = FieldValue::Arena(meta),
                into => {
                    let mut json = std::mem::take(&mut self.ask.facts.scratch.json);
                    json.clear();
                    json.extend_from_slice(written);
                    let start = self.plan.arena.len();
                    self.write_sanitized(&json);
                    self.ask.facts.scratch.json = json;
                    if into == As::Text {
                        self.plan.add_text(None, Fate::Added, start);
                    } else {
                        extras.extend_from_slice(if extras.is_empty() { b"{\"_meta\":" } else { b",\"_meta\":" });
                        extras.extend(self.plan.arena.drain(start..));
                    }
                }
            }
        }
        if !extras.is_empty() {
            extras.push(b'}');
            self.extras(&extras);
        }
        self.ask.facts.scratch.extras = extras;
    }

    /// One JSON object with the structured value and what is allowed of `_meta`, in one text block.
    fn extras(&mut self, json: &[u8]) {
        let none = Extras::default();
        let Extras { before, after, escape } = self.ask.extras().unwrap_or(&none);
        let arena = &mut self.plan.arena;
        let start = arena.len();
        arena.extend_from_slice(before.as_bytes());
        let (instead_of, instead) = match escape {
            Escape::None => ("", ""),
            Escape::Lt => ("<", "\\u003c"),
            Escape::Remove => (after.trim(), ""),
        };
        let mut rest = json;
        while let Some(at) = (!instead_of.is_empty()).then(|| memmem::find(rest, instead_of.as_bytes())).flatten() {
            let (front, found) = rest.split_at_checked(at).unwrap_or_default();
            arena.extend_from_slice(front);
            arena.extend_from_slice(instead.as_bytes());
            rest = found.get(instead_of.len()..).unwrap_or_default();
        }
        arena.extend_from_slice(rest);
        arena.extend_from_slice(after.as_bytes());
        self.plan.add_text(None, Fate::Added, start);
    }

    // ---- the structured value ----------------------------------------------------------------------------

    /// The value as it may go out: projected and unwrapped. `None`: there is none, it is hidden, or nothing is left of it.
    fn structured_value(&mut self) -> Option<Cow<'a, [u8]>> {
        if self.value.is_none() {
            self.value = Some(self.find_structured_value());
        }
        self.value.clone().flatten()
    }

    fn find_structured_value(&mut self) -> Option<Cow<'a, [u8]>> {
        if self.all_hidden {
            return None;
        }
        let counts = |value: &[u8], ask: &mut Ask<'_, '_>| value != b"null" || ask.structured_null() == NullAs::Value;
        let value = self.scan.structured.of(self.bytes);
        if self.ask.facts.structured() == StructuredState::Absent || !counts(value, self.ask) {
            return None;
        }
        let projected = match self.project(value) {
            Projected::Whole => Cow::Borrowed(value),
            Projected::Value(value) => Cow::Owned(value),
            Projected::Nothing => {
                self.plan.drop(What::Structured, self.scan.structured, Why::Projection);
                return None;
            }
        };
        let name = self.ask.text(Setting::StructuredUnwrap);
        let unwrapped = match projected {
            Cow::Borrowed(value) => {
                unwrap(value, name).map_or(Cow::Borrowed(value), |span| Cow::Borrowed(span.of(value)))
            }
            Cow::Owned(value) => match unwrap(&value, name) {
                // What a projection has emptied is nothing, unwrapped or not.
                Some(span) if matches!(span.of(&value), b"{}" | b"[]") => {
                    self.plan.drop(What::Structured, self.scan.structured, Why::Projection);
                    return None;
                }
                Some(span) => Cow::Owned(span.of(&value).to_vec()),
                None => Cow::Owned(value),
            },
        };
        counts(&unwrapped, self.ask).then_some(unwrapped)
    }

    /// What `structured.pick` and `structured.omit` leave of a value.
    fn project(&mut self, value: &[u8]) -> Projected {
        let pick = self.ask.paths(Setting::StructuredPick);
        let omit = self.ask.paths(Setting::StructuredOmit);
        if pick.is_empty() && omit.is_empty() {
            return Projected::Whole;
        }
        let mut out = Vec::new();
        match path::project(pick, omit, value, &mut out, &mut self.ask.facts.scratch.path) {
            path::Projected::Whole => Projected::Whole,
            path::Projected::Value => Projected::Value(out),
            path::Projected::Nothing => Projected::Nothing,
            // What cannot be projected is withheld: what was to be left out must not go out for its size.
            path::Projected::OverBudget => {
                self.plan.over_budget = true;
                Projected::Nothing
            }
        }
    }

    /// The value as a text block.
    fn structured_text(&mut self) -> Form {
        let start = self.plan.arena.len();
        let Some(value) = self.structured_value() else { return Form::Text(start..start) };
        if let Some(inside) = string_inside(&value, Span::new(0, value.len())) {
            decode_into(inside.of(&value), &mut self.plan.arena);
        } else if self.is_as_it_came(&value) && self.is_compact() {
            match self.structured_spelling() {
                Spelling::Shortest => return Form::Structured,
                Spelling::Spaced => without_space_into(&value, &mut self.plan.arena),
                Spelling::Other => self.render(&value),
            }
        } else {
            self.write_structured_json(value);
        }
        Form::Text(start..self.plan.arena.len())
    }

    /// Whether a value is all of `structuredContent`, nothing projected or unwrapped.
    fn is_as_it_came(&self, value: &[u8]) -> bool {
        value.len() == self.scan.structured.len()
    }

    /// Whether the value is to be written shortest and otherwise as it is.
    fn is_compact(&mut self) -> bool {
        self.ask.render() == Render::Compact && self.ask.sanitize() == Sanitize::default() && !self.notes_media()
    }

    fn structured_spelling(&mut self) -> Spelling {
        self.scan.structured_spelling(self.bytes, &mut self.ask.facts.scratch.names)
    }

    /// Whether strings of the value that stand in a block of the output give way to notes.
    fn notes_media(&mut self) -> bool {
        self.carriers().next().is_some() && self.ask.structured_media() == Media::Note
    }

    /// Appends the value to the arena as JSON text, as `structured.media`, `sanitize` and `structured.render` say.
    fn write_structured_json(&mut self, value: Cow<'a, [u8]>) {
        let mut noted = std::mem::take(&mut self.ask.facts.scratch.noted);
        noted.clear();
        let value = match self.notes_media() && self.without_media(&value, &mut noted) {
            true => self.sanitized(noted.as_slice().into()),
            false => self.sanitized(value),
        };
        self.render(&value);
        drop(value);
        self.ask.facts.scratch.noted = noted;
    }

    fn structured_field(&mut self) -> FieldValue {
        let Some(value) = self.structured_value() else { return FieldValue::Absent };
        let mut spelling = Spelling::Other;
        if self.is_as_it_came(&value) && self.ask.sanitize() == Sanitize::default() {
            match self.ask.render() {
                Render::Verbatim => return FieldValue::Input,
                Render::Compact => spelling = self.structured_spelling(),
                Render::Pretty | Render::Sorted => {}
            }
        }
        let start = self.plan.arena.len();
        match spelling {
            Spelling::Shortest => return FieldValue::Input,
            Spelling::Spaced => without_space_into(&value, &mut self.plan.arena),
            Spelling::Other => {
                let value = self.sanitized(value);
                self.render(&value);
            }
        }
        if self.plan.arena.get(start..) == Some(self.scan.structured.of(self.bytes)) {
            self.plan.arena.truncate(start);
            return FieldValue::Input;
        }
        FieldValue::Arena(start..self.plan.arena.len())
    }

    fn sanitized<'v>(&mut self, value: Cow<'v, [u8]>) -> Cow<'v, [u8]> {
        let what = self.ask.sanitize();
        if what == Sanitize::default() {
            return value;
        }
        let mut clean = Vec::new();
        match sanitize_json(&value, what, &mut clean) {
            Some(counts) => {
                self.plan.sanitized.add(counts);
                Cow::Owned(clean)
            }
            None => value,
        }
    }

    /// Appends a value to the arena, compact, without what `sanitize` takes out.
    fn write_sanitized(&mut self, json: &[u8]) {
        let json = self.sanitized(json.into());
        compact_into(&json, &mut self.plan.arena, &mut self.ask.facts.scratch.compact);
    }

    /// Appends a value to the arena as `structured.render` says.
    fn render(&mut self, value: &[u8]) {
        let render = self.ask.render();
        let out = &mut self.plan.arena;
        let Scratch { compact: scratch, json, .. } = &mut *self.ask.facts.scratch;
        match render {
            Render::Verbatim => out.extend_from_slice(value),
            Render::Compact => compact_into(value, out, scratch),
            Render::Pretty | Render::Sorted => {
                json.clear();
                compact_into(value, json, scratch);
                let write = if render == Render::Pretty { pretty_into } else { sorted_into };
                write(json, out);
            }
        }
    }

    // ---- texts that are JSON ------------------------------------------------------------------------------

    /// What `text.if_json` makes of a text as it stands between its quotes.
    fn rewritten(&mut self, raw: &[u8]) -> Rewritten {
        // The cheapest test first: only an object or an array is looked into.
        let start = raw.iter().find(|b| !matches!(b, b' '));
        if !matches!(start, Some(b'{' | b'[' | b'\\')) {
            return Rewritten::Same;
        }
        let if_json = self.ask.if_json();
        let nothing_to_project =
            self.ask.paths(Setting::StructuredPick).is_empty() && self.ask.paths(Setting::StructuredOmit).is_empty();
        if if_json == IfJson::Leave || if_json == IfJson::Project && nothing_to_project {
            return Rewritten::Same;
        }
        let mut text = Vec::with_capacity(raw.len());
        decode_into(raw, &mut text);
        let Ok(span) = validate_text(&text, MAX_DEPTH) else { return Rewritten::Same };
        let json = span.of(&text);
        if !matches!(json.first(), Some(b'{' | b'[')) {
            return Rewritten::Same;
        }
        let projected = match self.project_text(json) {
            Projected::Whole => None,
            Projected::Value(value) => Some(value),
            Projected::Nothing => return Rewritten::Nothing,
        };
        let start = self.plan.arena.len();
        if if_json == IfJson::Rewrite {
            let value = self.sanitized(projected.as_deref().unwrap_or(json).into());
            self.render(&value);
        } else {
            let Some(value) = projected else { return Rewritten::Same };
            self.plan.arena.extend_from_slice(&value);
        }
        let same = self.plan.arena.get(start..) == Some(&text);
        if same { Rewritten::Same } else { Rewritten::Text(start..self.plan.arena.len()) }
    }

    /// Projects a text that is JSON. The paths speak of the structured value: when that is one member wrapped around what
    /// the text holds (`{"result": …}`), the text is looked at as if it were wrapped too; and as the one element of a list,
    /// when each text is an element of the list that is wrapped.
    fn project_text(&mut self, json: &[u8]) -> Projected {
        let Some((name, in_list)) = self.wrapper() else { return self.project(json) };
        let whole = Span::new(0, json.len());
        if json.first() == Some(&b'{') && members(json, whole).any(|(other, _)| same_name(other.of(json), &name)) {
            return self.project(json);
        }
        let mut wrapped = Vec::with_capacity(json.len() + name.len() + 6);
        wrapped.extend_from_slice(b"{\"");
        wrapped.extend_from_slice(&name);
        wrapped.extend_from_slice(if in_list { b"\":[" } else { b"\":" });
        wrapped.extend_from_slice(json);
        wrapped.extend_from_slice(if in_list { b"]}" } else { b"}" });
        match self.project(&wrapped) {
            Projected::Value(value) => {
                let member = members(&value, Span::new(0, value.len())).next().map(|(_, inside)| inside);
                let inside = if in_list { member.and_then(|list| elements(&value, list).next()) } else { member };
                match inside {
                    Some(inside) if !matches!(inside.of(&value), b"{}" | b"[]") => {
                        Projected::Value(inside.of(&value).to_vec())
                    }
                    _ => Projected::Nothing,
                }
            }
            other => other,
        }
    }

    /// The name, between its quotes, of the one member that the structured value has, and whether it is a list with an
    /// element for each text.
    fn wrapper(&self) -> Option<(Vec<u8>, bool)> {
        let structured = self.scan.structured;
        if structured.of(self.bytes).first() != Some(&b'{') {
            return None;
        }
        let mut all = members(self.bytes, structured);
        let (name, value) = all.next()?;
        if all.next().is_some() {
            return None;
        }
        let texts = self.scan.blocks.iter().filter(|block| has_text(block)).count();
        let is_list = value.of(self.bytes).first() == Some(&b'[');
        let in_list = texts > 1 && is_list && elements(self.bytes, value).count() == texts;
        Some((name.of(self.bytes).to_vec(), in_list))
    }

    /// Writes the value with a short note for each string that a visible block carries as its data anyway, if there is one.
    fn without_media(&self, value: &[u8], out: &mut Vec<u8>) -> bool {
        let carried: Vec<(&Block, Cow<str>)> = self
            .carriers()
            .filter_map(|block| Some((block, text_of(string_inside(self.bytes, block.data)?.of(self.bytes)))))
            .filter(|(_, data)| !data.is_empty())
            .collect();
        super::emit::replace_strings(value, out, |raw| {
            let same = |data: &str| data.len() <= raw.len() && crate::result::json::name_is(raw, data);
            let (block, _) = carried.iter().find(|(_, data)| same(data))?;
            let mime = string_inside(self.bytes, block.mime).map(|mime| text_of(mime.of(self.bytes)));
            let mime = mime.unwrap_or("application/octet-stream".into());
            Some(format!("[{mime}, sent as a block of its own]"))
        })
    }

    /// The blocks of the output that carry data, each as it came.
    fn carriers(&self) -> impl Iterator<Item = &Block> {
        let blocks = self.plan.items.iter().filter(|item| matches!(item.form, Form::Block));
        let blocks = blocks.filter_map(|item| self.scan.blocks.get(item.source? as usize));
        blocks.filter(|block| !block.data.is_absent())
    }

    // ---- _meta and the rest ------------------------------------------------------------------------------

    /// The members of `_meta` that are allowed, as an object in the arena, and whether that is all of it.
    fn allowed_meta(&mut self) -> Option<(Range<usize>, bool)> {
        if self.scan.meta.is_absent() {
            return None;
        }
        let keys = self.ask.keys();
        if keys.allow.is_empty() {
            return None;
        }
        let start = self.plan.arena.len();
        let mut kept = filter(self.bytes, self.scan.meta_members.iter().copied(), &keys, &mut self.plan.arena);
        if kept == Filtered::Nothing {
            return None;
        }
        let written = self.plan.arena.get(start..).unwrap_or_default();
        if self.scan.meta_repeats && has_repeats(written, &mut self.ask.facts.scratch.compact) {
            let written = written.to_vec();
            self.plan.arena.truncate(start);
            compact_into(&written, &mut self.plan.arena, &mut self.ask.facts.scratch.compact);
            kept = Filtered::Some;
        }
        if kept != Filtered::All {
            let left = self.plan.arena.len() - start;
            let lost = Span::new(0, self.scan.meta.len().saturating_sub(left));
            self.plan.drop(What::Meta, lost, Why::Meta);
        }
        Some((start..self.plan.arena.len(), kept == Filtered::All))
    }

    /// For the record: what of the result is not in the output.
    fn say_what_is_dropped(&mut self) {
        let lane = self.plan.lane.unwrap_or(Lane::Nothing);
        if lane == Lane::Whole {
            return;
        }
        // Items that came from blocks stand in the order of the blocks.
        let mut next_item = 0;
        for (index, block) in (0u32..).zip(&self.scan.blocks) {
            if !self.visible.get(index as usize).copied().unwrap_or_default() {
                self.plan.drop(What::Block(index), block.span, Why::Annotations);
            } else if lane == Lane::Nothing {
                if self.plan.items.get(next_item).is_some_and(|item| item.source == Some(index)) {
                    next_item += 1;
                } else {
                    self.plan.drop(What::Block(index), block.span, Why::Lane);
                }
            }
        }
        let shows_structured = matches!(lane, Lane::Structured | Lane::StructuredOnly | Lane::Both | Lane::Raw);
        let structured = self.scan.structured;
        let withheld = self.ask.schema_withholds();
        let shown = shows_structured && !self.all_hidden && !withheld;
        if !structured.is_absent() && structured.of(self.bytes) != b"null" && !shown {
            let why = match (self.all_hidden, withheld) {
                (true, _) => Why::Annotations,
                (false, true) => Why::Schema,
                (false, false) => Why::Lane,
            };
            self.plan.drop(What::Structured, structured, why);
        }
        let meta = self.scan.meta;
        let said = self.plan.dropped.iter().any(|dropped| matches!(dropped.what, What::Meta));
        let shown = self.input == Input::Sampling || !matches!(self.plan.meta, FieldValue::Absent) || lane == Lane::Raw;
        if !meta.is_absent()
            && !shown
            && !said
            && !self.scan.meta_members.is_empty()
            && self.ask.keys().allow.is_empty()
        {
            self.plan.drop(What::Meta, meta, Why::Meta);
        }
        if self.scan.remarks.unknown > 0 {
            self.plan.drop(What::Unknown, Span::ABSENT, Why::Unknown);
        }
    }
}

/// What is left of a value.
enum Projected {
    Whole,
    Value(Vec<u8>),
    Nothing,
}

/// What became of a text that is JSON.
enum Rewritten {
    Same,
    /// This text of the arena.
    Text(Range<usize>),
    /// Nothing is left of it.
    Nothing,
}

/// The value of the one member that an object has, when it has this name.
fn unwrap(value: &[u8], name: &str) -> Option<Span> {
    if name.is_empty() || value.first() != Some(&b'{') {
        return None;
    }
    let mut all = members(value, Span::new(0, value.len()));
    let (only, inside) = all.next()?;
    (all.next().is_none() && name_is(only.of(value), name)).then_some(inside)
}

/// Whether a decoded text has nothing visible in it.
fn is_blank_text(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.chars().all(is_blank_char))
}

fn same_name(one: &[u8], other: &[u8]) -> bool {
    decoded(one).eq(decoded(other))
}

/// What a rule says of a block, by its MIME type.
fn disposition(rule: &BlockRule, bytes: &[u8], block: &Block) -> Disposition {
    match rule {
        BlockRule::All(disposition) => *disposition,
        BlockRule::ByMime(answers) => {
            let mime = string_inside(bytes, block.mime).map(|mime| text_of(mime.of(bytes))).unwrap_or_default();
            // MIME types are compared without letter case and without parameters (RFC 2045, 5.1).
            let mime = mime.split(';').next().unwrap_or_default().trim();
            let has_capitals = mime.bytes().any(|b| b.is_ascii_uppercase());
            let mime: Cow<'_, str> = if has_capitals { mime.to_ascii_lowercase().into() } else { mime.into() };
            let fits = answers.iter().find(|(pattern, _)| pattern.matches(&mime));
            fits.map_or(Disposition::Note, |(_, disposition)| *disposition)
        }
    }
}

/// MIME types whose bytes are text.
fn is_text_type(mime: &str) -> bool {
    let mime = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (kind, name) = mime.split_once('/').unwrap_or((&mime, ""));
    let named = ["json", "xml", "yaml", "toml", "javascript", "ecmascript"];
    kind == "text"
        || named.iter().any(|&text| {
            name == text
                || name.strip_prefix("x-") == Some(text)
                || name.rsplit_once('+').is_some_and(|(_, s)| s == text)
        })
}

/// Base64 of RFC 4648 with or without padding, in either alphabet.
fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.strip_suffix(b"==").or(text.strip_suffix(b"=")).unwrap_or(text);
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut bits = 0u32;
        for &symbol in group {
            let value = match symbol {
                b'A'..=b'Z' => symbol - b'A',
                b'a'..=b'z' => symbol - b'a' + 26,
                b'0'..=b'9' => symbol - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        let bytes = (bits << (6 * (4 - group.len()) + 8)).to_be_bytes();
        out.extend_from_slice(bytes.get(..group.len() * 6 / 8)?);
        if group.len() == 1 {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use crate::{Engine, Request, Selection};

    #[test]
    fn an_embedded_text_that_is_blank_does_not_stay_beside_the_value() {
        let engine = Engine::builtin("text-only").unwrap();
        let result = br#"{"content":[{"type":"resource","resource":{"uri":"a:b","text":""}}],"structuredContent":[7]}"#;
        let mut selection = Selection::new();
        engine.select(&Request::new("s", "t", "model"), result, &mut selection).unwrap();
        let json = std::str::from_utf8(selection.json().unwrap()).unwrap();
        assert_eq!(json, r#"{"content":[{"type":"text","text":"[7]"}]}"#);
    }

    #[test]
    fn a_blank_string_is_no_text_to_fall_back_on() {
        let engine = Engine::builtin("sep-2200").unwrap();
        let result = br#"{"content":[],"structuredContent":" \n"}"#;
        let mut selection = Selection::new();
        for (audience, expected) in [
            ("model", r#"{"content":[{"type":"text","text":"(no output)"}]}"#),
            ("code", r#"{"content":[],"structuredContent":" \n"}"#),
        ] {
            engine.select(&Request::new("s", "t", audience), result, &mut selection).unwrap();
            assert_eq!(std::str::from_utf8(selection.json().unwrap_or(result)).unwrap(), expected, "{audience}");
        }
    }
}
