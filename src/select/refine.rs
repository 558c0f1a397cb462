//! The last thing done to an output: `sanitize`, then `limit`, over all that goes out.

use super::facts::{has_text, text};
use super::limit::{PieceKind, TextPiece, limit};
use super::plan::{Fate, FieldValue, Form, Item, Planner, What, Why};
use super::sanitize::{sanitize, sanitize_json};
use crate::policy::rule::{Kind, Limit, Sanitize};
use crate::result::compact::compact_into;
use crate::result::json::{Span, escape_into, member, members, name_is, string_inside, text_of};
use crate::result::scan::Input;
use std::borrow::Cow;
use std::ops::Range;

impl Planner<'_, '_, '_> {
    pub(super) fn refine(&mut self) {
        let what = self.ask.sanitize();
        if what != Sanitize::default() {
            self.sanitize(what);
        }
        if let Some(most) = self.ask.limit() {
            self.limit(most);
        }
    }

    // ---- sanitize ----------------------------------------------------------------------------------------

    fn sanitize(&mut self, what: Sanitize) {
        let items = std::mem::take(&mut self.plan.items);
        self.plan.items = items.into_iter().map(|item| self.sanitize_item(item, what)).collect();
        // The `_meta` of a sampling block is the client's own to send back, whole (C-122).
        if self.input == Input::Result {
            let meta = match &self.plan.meta {
                FieldValue::Absent => None,
                FieldValue::Input => Some(self.scan.meta.of(self.bytes)),
                FieldValue::Arena(range) => self.plan.arena.get(range.clone()),
            };
            if let Some(range) = meta.map(<[u8]>::to_vec).and_then(|meta| self.sanitize_value(&meta, what)) {
                self.plan.meta = FieldValue::Arena(range);
            }
        }
    }

    fn sanitize_item(&mut self, item: Item, what: Sanitize) -> Item {
        if let Form::Text(range) = &item.form {
            let text = std::str::from_utf8(self.plan.arena.get(range.clone()).unwrap_or_default()).unwrap_or_default();
            let Some((clean, counts)) = sanitize(text, what) else { return item };
            self.plan.sanitized.add(counts);
            return Item { form: Form::Text(self.put(clean.as_bytes())), ..item };
        }
        // The structured value was sanitised as a value, or it would not stand here as it came.
        if matches!(item.form, Form::Structured) {
            return item;
        }
        let json = self.item_json(&item).into_owned();
        match self.sanitize_value(&json, what) {
            Some(range) => Item { fate: Fate::Rewritten, form: Form::Json(range), ..item },
            None => item,
        }
    }

    /// A clean copy in the arena, when there is something to take out. Names that have become equal are written once.
    fn sanitize_value(&mut self, json: &[u8], what: Sanitize) -> Option<Range<usize>> {
        let mut clean = Vec::new();
        let counts = sanitize_json(json, what, &mut clean)?;
        self.plan.sanitized.add(counts);
        let start = self.plan.arena.len();
        compact_into(&clean, &mut self.plan.arena, &mut self.ask.facts.scratch.compact);
        Some(start..self.plan.arena.len())
    }

    // ---- limit -------------------------------------------------------------------------------------------

    fn limit(&mut self, most: &Limit) {
        let texts: Vec<Option<Cow<'_, str>>> = self.plan.items.iter().map(|item| self.item_text(item)).collect();
        let field = match &self.plan.structured {
            FieldValue::Absent => None,
            FieldValue::Input => Some(self.scan.structured.of(self.bytes)),
            FieldValue::Arena(range) => self.plan.arena.get(range.clone()),
        };
        let field = field.and_then(|json| std::str::from_utf8(json).ok());
        let mut pieces: Vec<TextPiece<'_>> =
            texts.iter().flatten().map(|text| TextPiece { kind: PieceKind::Text, text }).collect();
        pieces.extend(field.map(|text| TextPiece { kind: PieceKind::Field, text }));
        let Some(shortened) = limit(&pieces, most) else { return };
        let is_text: Vec<bool> = texts.iter().map(Option::is_some).collect();
        let has_field = field.is_some();

        if !shortened.only_space {
            self.plan.truncated = shortened.omitted;
        }
        let mut new = shortened.pieces.into_iter();
        let items = std::mem::take(&mut self.plan.items);
        for (item, is_text) in items.into_iter().zip(is_text) {
            let item = match is_text.then(|| new.next()).flatten().flatten() {
                None => item,
                Some(text) if text.is_empty() => {
                    if let Some(index) = item.source {
                        let span = self.scan.blocks.get(index as usize).map_or(Span::ABSENT, |block| block.span);
                        self.plan.drop(What::Block(index), span, Why::Limit);
                    }
                    continue;
                }
                Some(text) => self.with_text(item, &text),
            };
            self.plan.items.push(item);
        }
        if has_field {
            match new.next().flatten() {
                None => {}
                Some(json) if json.is_empty() => {
                    self.plan.structured = FieldValue::Absent;
                    self.plan.drop(What::Structured, self.scan.structured, Why::Limit);
                }
                Some(json) => self.plan.structured = FieldValue::Arena(self.put(json.as_bytes())),
            }
        }
        if let Some(marker) = shortened.marker {
            let start = self.plan.arena.len();
            self.plan.arena.extend_from_slice(marker.as_bytes());
            self.plan.add_text(None, Fate::Added, start);
        }
    }

    /// The text that a reader sees of an item; `None`: it has none.
    fn item_text(&self, item: &Item) -> Option<Cow<'_, str>> {
        match &item.form {
            Form::Text(range) => std::str::from_utf8(self.plan.arena.get(range.clone())?).ok().map(Cow::Borrowed),
            Form::Structured => std::str::from_utf8(self.scan.structured.of(self.bytes)).ok().map(Cow::Borrowed),
            Form::Block => {
                let block = self.scan.blocks.get(item.source? as usize)?;
                has_text(block).then(|| text_of(text(self.bytes, block)))
            }
            Form::Json(range) => {
                let json = self.plan.arena.get(range.clone())?;
                let whole = Span::new(0, json.len());
                let holder = if self.is_embedded(item) { member(json, whole, "resource")? } else { whole };
                let text = member(json, holder, "text")?;
                self.has_text(item).then(|| string_inside(json, text).map(|text| text_of(text.of(json))))?
            }
        }
    }

    fn has_text(&self, item: &Item) -> bool {
        item.source.and_then(|index| self.scan.blocks.get(index as usize)).is_some_and(has_text)
    }

    fn is_embedded(&self, item: &Item) -> bool {
        let block = item.source.and_then(|index| self.scan.blocks.get(index as usize));
        block.is_some_and(|block| block.kind == Kind::ResourceText)
    }

    fn with_text(&mut self, item: Item, text: &str) -> Item {
        if let Form::Text(_) | Form::Structured = item.form {
            return Item { form: Form::Text(self.put(text.as_bytes())), ..item };
        }
        let json = self.item_json(&item).into_owned();
        let whole = Span::new(0, json.len());
        let holder = if self.is_embedded(&item) { member(&json, whole, "resource") } else { Some(whole) };
        let Some(holder) = holder else { return item };
        // The last one of a repeated name is the one that counts; a block that has one was written anew without it.
        let old = members(&json, holder).filter(|(name, _)| name_is(name.of(&json), "text")).last();
        let Some((_, old)) = old else { return item };
        let mut new = json.get(..old.start as usize).unwrap_or_default().to_vec();
        new.push(b'"');
        escape_into(text.as_bytes(), &mut new);
        new.push(b'"');
        new.extend_from_slice(json.get(old.end as usize..).unwrap_or_default());
        Item { fate: Fate::Rewritten, form: Form::Json(self.put(&new)), ..item }
    }

    // ---- items as JSON -----------------------------------------------------------------------------------

    /// The JSON of an item that is no text of the arena.
    fn item_json(&mut self, item: &Item) -> Cow<'_, [u8]> {
        let block = item.source.and_then(|index| self.scan.blocks.get(index as usize));
        let keys = self.block_keys();
        match (&item.form, block) {
            (Form::Json(range), _) => self.plan.arena.get(range.clone()).unwrap_or_default().into(),
            (Form::Block, Some(block)) if item.fate == Fate::Kept => block.span.of(self.bytes).into(),
            (Form::Block, Some(block)) => {
                let mut json = Vec::new();
                super::emit::rewrite_block(self.bytes, block, keys.as_ref(), None, &mut json);
                json.into()
            }
            _ => Cow::Borrowed(&[]),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.plan.arena.len();
        self.plan.arena.extend_from_slice(bytes);
        start..self.plan.arena.len()
    }
}
