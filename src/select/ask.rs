//! The settings of one result, asked for one at a time and typed.

use super::facts::Asked;
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

    /// The patterns that allow a key: the first row that holds, and those that it inherits from.
    pub fn allow(&mut self) -> Vec<&'p MetaPattern> {
        let mut patterns = self.patterns(Setting::MetaAllow);
        patterns.retain(|pattern| **pattern != MetaPattern::Inherit);
        patterns
    }

    /// The patterns that deny a key: those of every row that holds.
    pub fn deny(&mut self) -> Vec<&'p MetaPattern> {
        self.patterns(Setting::MetaDeny)
    }

    fn patterns(&mut self, setting: Setting) -> Vec<&'p MetaPattern> {
        let values = self.decider.all(setting, &mut self.facts);
        values
            .into_iter()
            .filter_map(|value| if let Value::Meta(p) = value { Some(p) } else { None })
            .flatten()
            .collect()
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
