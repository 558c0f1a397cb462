//! The settings of one result, asked for one at a time and typed.

use super::facts::Asked;
use super::meta::{Keys, Patterns};
use crate::policy::pattern::MetaPattern;
use crate::policy::rule::{
    Annotations, As, At, Blank, BlockRule, Extras, IfJson, Kind, Lane, Limit, Media, MetaBlocks, NullAs, Render,
    Reserved, Role, Sanitize, Schema, Setting, Template, Usable, Value,
};
use crate::result::path::JsonPath;
use crate::table::{Decider, Facts};

/// A decision in the making, and the result that it is about.
pub struct Ask<'p, 'a> {
    pub decider: Decider<'p, 'a>,
    pub facts: Asked<'a>,
}

/// A getter for a column whose values are of one variant. The fallback stands for a column that no row sets, which a
/// loaded policy cannot have.
macro_rules! setting {
    ($name:ident, $setting:expr, $variant:ident -> $type:ty, $fallback:expr) => {
        pub fn $name(&mut self) -> $type {
            match self.value($setting) {
                Some(Value::$variant(value)) => *value,
                _ => $fallback,
            }
        }
    };
}

impl<'p> Ask<'p, '_> {
    pub fn value(&mut self, setting: Setting) -> Option<&'p Value> {
        self.decider.value(setting, &mut self.facts)
    }

    setting!(hide, Setting::Hide, Flag -> bool, false);
    setting!(usable, Setting::Usable, Usable -> Usable, Usable::Visible);
    setting!(blank, Setting::BlocksBlank, Blank -> Blank, Blank::Keep);
    setting!(reserved, Setting::MetaReserved, Reserved -> Reserved, Reserved::Union);
    setting!(meta_blocks, Setting::MetaBlocks, MetaBlocks -> MetaBlocks, MetaBlocks::Strip);
    setting!(meta_as, Setting::MetaAs, As -> As, As::Field);
    setting!(structured_null, Setting::StructuredNull, Null -> NullAs, NullAs::Absent);
    setting!(structured_as, Setting::StructuredAs, As -> As, As::Text);
    setting!(structured_at, Setting::StructuredAt, At -> At, At::First);
    setting!(render, Setting::StructuredRender, Render -> Render, Render::Compact);
    setting!(structured_media, Setting::StructuredMedia, Media -> Media, Media::Keep);
    setting!(if_json, Setting::TextIfJson, IfJson -> IfJson, IfJson::Leave);
    setting!(sanitize, Setting::Sanitize, Sanitize -> Sanitize, Sanitize::default());
    setting!(schema, Setting::Schema, Schema -> Schema, Schema::Off);

    pub fn order(&mut self, setting: Setting) -> &'p [Lane] {
        match self.value(setting) {
            Some(Value::Order(order)) => order,
            _ => &[],
        }
    }

    /// `structured.pick` or `structured.omit`.
    pub fn paths(&mut self, setting: Setting) -> &'p [JsonPath] {
        match self.value(setting) {
            Some(Value::Paths(paths)) => paths,
            _ => &[],
        }
    }

    pub fn block(&mut self, kind: Kind) -> Option<&'p BlockRule> {
        match self.value(Setting::of_blocks(kind)) {
            Some(Value::Block(rule)) => Some(rule),
            _ => None,
        }
    }

    pub fn note(&mut self, kind: Kind) -> Option<&'p Template> {
        match self.value(Setting::of_notes(kind)) {
            Some(Value::Note(template)) => Some(template),
            _ => None,
        }
    }

    pub fn text(&mut self, setting: Setting) -> &'p str {
        match self.value(setting) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    pub fn extras(&mut self) -> Option<&'p Extras> {
        match self.value(Setting::Extras) {
            Some(Value::Extras(extras)) => Some(extras),
            _ => None,
        }
    }

    pub fn media_only(&mut self) -> Option<(&'p Template, &'p Template)> {
        match self.value(Setting::MediaOnly) {
            Some(Value::Around { before, after }) => Some((before, after)),
            _ => None,
        }
    }

    pub fn limit(&mut self) -> Option<&'p Limit> {
        match self.value(Setting::Limit) {
            Some(Value::Limit(limit)) => limit.as_ref(),
            _ => None,
        }
    }

    /// Which keys of `_meta` are allowed.
    pub fn keys(&mut self) -> Keys<'p> {
        Keys { allow: self.allow(), deny: self.deny(), reserved: self.reserved() }
    }

    /// The patterns that allow a key: those of the first row that holds, and of those that it inherits from.
    fn allow(&mut self) -> Patterns<'p> {
        match self.value(Setting::MetaAllow) {
            Some(Value::Meta(first)) if !first.contains(&MetaPattern::Inherit) => Patterns::One(first),
            _ => self.together(Setting::MetaAllow),
        }
    }

    /// The patterns that deny a key: those of every row that holds.
    fn deny(&mut self) -> Patterns<'p> {
        let only = self.decider.table.column(Setting::MetaDeny).len() <= 1;
        match self.value(Setting::MetaDeny) {
            Some(Value::Meta(patterns)) if only => Patterns::One(patterns),
            _ => self.together(Setting::MetaDeny),
        }
    }

    fn together(&mut self, setting: Setting) -> Patterns<'p> {
        let values = self.decider.all(setting, &mut self.facts);
        let patterns = values.into_iter().filter_map(|value| if let Value::Meta(p) = value { Some(p) } else { None });
        Patterns::Many(patterns.flatten().filter(|pattern| **pattern != MetaPattern::Inherit).collect())
    }
}

/// Facts before there is a result: nothing holds. Route settings ask nothing of it.
pub struct NoFacts;

impl Facts for NoFacts {
    fn holds(&mut self, _: &crate::policy::rule::Condition) -> bool {
        false
    }
}

/// The route settings, which are known before the facts are.
pub fn narrowing(decider: &mut Decider<'_, '_>) -> (Role, Annotations) {
    let role = match decider.value(Setting::Role, &mut NoFacts) {
        Some(Value::Role(role)) => *role,
        _ => Role::Assistant,
    };
    let annotations = match decider.value(Setting::Annotations, &mut NoFacts) {
        Some(Value::Annotations(annotations)) => *annotations,
        _ => Annotations::Narrow,
    };
    (role, annotations)
}
