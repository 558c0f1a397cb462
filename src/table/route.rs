//! What is known before a result comes, and the conditions that it decides.

use crate::policy::rule::{App, Condition, Date};
use crate::result::json::{self, MAX_DEPTH, elements, member, name_is, string_inside};
use crate::result::scan::Input;
#[cfg(feature = "schema")]
use crate::result::schema::{CompiledSchema, SchemaFault};

/// Server, tool, audience, protocol revision, tool definition, labels.
#[derive(Clone, Debug, Default)]
pub struct Route {
    /// The host's own connection id, never the name a server gives itself (C-74).
    pub server: Box<str>,
    pub tool: Box<str>,
    /// Aliases resolved.
    pub audience: Box<str>,
    pub revision: Option<Date>,
    pub definition: Option<Definition>,
    pub labels: Vec<(Box<str>, Box<str>)>,
    pub extensions: Vec<Box<str>>,
    pub input: Input,
}

/// What matters of a tool's object out of `tools/list`.
#[derive(Clone, Debug)]
pub struct Definition {
    /// `_meta.ui` is there, or its deprecated flat form `_meta["ui/resourceUri"]` (C-140).
    pub ui: bool,
    /// `_meta.ui.visibility` is given and lacks `model` (C-141).
    pub app_only: bool,
    /// The JSON of `outputSchema`, if it is given and an object.
    pub output_schema: Option<Box<[u8]>>,
    /// The same, ready to check values: made when it is first asked for, and shared by all copies.
    #[cfg(feature = "schema")]
    compiled: Compiled,
}

#[cfg(feature = "schema")]
type Compiled = std::sync::Arc<std::sync::OnceLock<Result<CompiledSchema, SchemaFault>>>;

impl Definition {
    /// Reads a tool's object; `None` when it is no JSON object.
    pub fn read(tool: &[u8]) -> Option<Definition> {
        if simdutf8::basic::from_utf8(tool).is_err() {
            return None;
        }
        let whole = json::validate_text(tool, MAX_DEPTH).ok()?;
        let object = |span: json::Span| (span.of(tool).first() == Some(&b'{')).then_some(span);
        let whole = object(whole)?;
        let meta = member(tool, whole, "_meta").and_then(object);
        let ui = meta.and_then(|meta| member(tool, meta, "ui")).filter(|ui| ui.of(tool) != b"null");
        let flat = meta.and_then(|meta| member(tool, meta, "ui/resourceUri")).is_some();
        let visibility = ui.and_then(object).and_then(|ui| member(tool, ui, "visibility"));
        let is_model = |span| string_inside(tool, span).is_some_and(|inside| name_is(inside.of(tool), "model"));
        let hidden = |list: json::Span| list.of(tool).first() == Some(&b'[') && !elements(tool, list).any(is_model);
        Some(Definition {
            ui: ui.is_some() || flat,
            app_only: visibility.is_some_and(hidden),
            output_schema: member(tool, whole, "outputSchema").and_then(object).map(|schema| schema.of(tool).into()),
            #[cfg(feature = "schema")]
            compiled: Compiled::default(),
        })
    }

    /// `outputSchema` ready to check values; `None`: the tool declares none.
    #[cfg(feature = "schema")]
    pub fn compiled_schema(&self) -> Option<&Result<CompiledSchema, SchemaFault>> {
        let schema = self.output_schema.as_ref()?;
        if let Some(known) = self.compiled.get() {
            return Some(known);
        }
        // Compiled outside the lock: a `fork` meanwhile must not find it held. Of two that are first, one is kept.
        let _ = self.compiled.set(CompiledSchema::compile(schema));
        self.compiled.get()
    }
}

/// The extension that makes `resultType: task` a result (SEP-2663).
const TASKS: &str = "io.modelcontextprotocol/tasks";

impl Route {
    /// Whether tasks were negotiated (C-05, C-10).
    pub fn tasks(&self) -> bool {
        self.extensions.iter().any(|extension| &**extension == TASKS)
    }

    /// Whether a route condition holds; `false` for what is no route condition or cannot be known.
    pub fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Server(patterns) => patterns.iter().any(|pattern| pattern.matches(&self.server)),
            Condition::Tool(patterns) => patterns.iter().any(|pattern| pattern.matches(&self.tool)),
            Condition::Revision(ranges) => {
                self.revision.is_some_and(|revision| ranges.iter().any(|range| range.holds(revision)))
            }
            Condition::App(app) => {
                let ui = self.definition.as_ref().is_some_and(|definition| definition.ui);
                match app {
                    App::Yes => ui,
                    App::No => !ui,
                    App::Only => self.definition.as_ref().is_some_and(|definition| definition.app_only),
                }
            }
            Condition::OutputSchema(expected) => {
                self.definition.as_ref().is_some_and(|definition| definition.output_schema.is_some() == *expected)
            }
            Condition::Label(name, patterns) => self
                .labels
                .iter()
                .find(|(label, _)| label == name)
                .is_some_and(|(_, value)| patterns.iter().any(|pattern| pattern.matches(value))),
            _ => false,
        }
    }
}

/// A protocol revision `YYYY-MM-DD` as the number `yyyymmdd`.
pub fn revision(text: &str) -> Option<Date> {
    let [year, month, day] = text.split('-').collect::<Vec<_>>().try_into().ok()?;
    let number = |part: &str, digits: usize| {
        (part.len() == digits && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<Date>().ok())?
    };
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(year * 10_000 + month * 100 + day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_definitions() {
        let read = |tool: &str| Definition::read(tool.as_bytes()).unwrap();
        assert!(Definition::read(b"[]").is_none());
        assert!(!read("{}").ui);
        assert!(read(r#"{"_meta":{"ui":{"resourceUri":"ui://x"}}}"#).ui);
        assert!(read(r#"{"_meta":{"ui/resourceUri":"ui://x"}}"#).ui);
        assert!(read(r#"{"_meta":{"ui":{"visibility":["app"]}}}"#).app_only);
        assert!(!read(r#"{"_meta":{"ui":{"visibility":["app","model"]}}}"#).app_only);
        assert_eq!(
            read(r#"{"outputSchema":{"type":"object"}}"#).output_schema.unwrap()[..],
            br#"{"type":"object"}"#[..]
        );
    }

    #[test]
    fn reads_revisions() {
        assert_eq!(revision("2026-07-28"), Some(20_260_728));
        for wrong in ["", "2026", "2026-7-28", "2026-13-01", "2026-07-28x", "latest"] {
            assert_eq!(revision(wrong), None, "{wrong}");
        }
    }
}
