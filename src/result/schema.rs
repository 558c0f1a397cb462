//! JSON Schema: whether a structured value conforms to the tool's `outputSchema` (cargo feature `schema`).
//!
//! The keywords are the work of the `jsonschema` crate; here stands what it leaves open: nothing is ever fetched (C-97),
//! and what a schema can cost is bounded before it is used (`graph`, C-99). What to do with a value that does not
//! conform is for `select`.
//!
//! * Draft 2020-12 when the schema does not name one, else drafts 4, 6, 7, 2019-09 and 2020-12; any other `$schema` is a
//!   fault (C-95, C-96).
//! * `$ref` leads to places of the same document only: `#`, `#/pointer`, `#anchor`, also behind the `$id` of the root.
//!   All else is a fault (C-98), as is an `$id` below the root.
//! * `format`, `contentEncoding` and `contentMediaType` say what a string is for and are not checked, in every draft.
//! * Patterns are matched in linear time: what needs more (look-around, back-references) is a fault.
//! * Numbers are those of `serde_json` without `arbitrary_precision`: integers are exact from -2^63 to 2^64-1, all else is
//!   the nearest `f64`. So two decimals that differ after the 17th digit are the same, and so are two integers beyond
//!   2^64; an integer beyond 2^53 is still told from its neighbour. A number too large for an `f64` (`1e999`) is not
//!   checked, nor is a string with a lone surrogate.
//! * A check takes up to 1 MiB of stack, a usual one a few KiB: levels of the value times the longest chain of subschemas
//!   at one value may be 1,024, more is not checked.
//! * A repeated member counts once, with its last value.

mod graph;

use graph::{Graph, Sizes};
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;
use std::fmt::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The largest schema and the largest value, in bytes.
pub const MAX_BYTES: usize = 1 << 20;
/// The largest compiled pattern in bytes.
const PATTERN_BYTES: usize = 256 << 10;
/// The deepest recursion of the validator, which takes up to 1 KiB of stack for each: levels of the value times subschemas in place.
const MAX_RECURSION: u32 = 1024;
/// The longest message in characters.
const MAX_MESSAGE: usize = 200;

/// A schema that is ready to check values. Share it; it is only read.
#[derive(Debug)]
pub struct CompiledSchema {
    validator: Validator,
    graph: Graph,
}

/// Why a schema cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SchemaFault {
    /// Larger than [`MAX_BYTES`].
    TooLarge(usize),
    /// No JSON, or no JSON object (C-94).
    NoObject(String),
    /// A `$schema` that is not known (C-96).
    Dialect(String),
    /// A reference that leads out of the schema, or nowhere (C-98).
    Reference(String),
    /// It could cost too much (C-99).
    Limit(String),
    /// It breaks the rules of its draft (C-100), or has a pattern that cannot be matched in linear time.
    Invalid(String),
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchemaFault::TooLarge(bytes) => {
                write!(f, "the outputSchema has {bytes} bytes, more than the {MAX_BYTES} that are allowed")
            }
            SchemaFault::NoObject(why) => write!(f, "the outputSchema is no JSON object: {why}"),
            SchemaFault::Dialect(name) => write!(f, "the outputSchema is in a dialect that is not known: {name}"),
            SchemaFault::Reference(why) => write!(f, "the outputSchema cannot be resolved: {why}"),
            SchemaFault::Limit(why) => write!(f, "the outputSchema could cost too much: {why}"),
            SchemaFault::Invalid(why) => write!(f, "the outputSchema is not valid: {why}"),
        }
    }
}

impl std::error::Error for SchemaFault {}

/// Whether a value conforms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Conforms,
    DoesNot {
        /// A JSON pointer to what is wrong; empty: the value itself.
        path: String,
        /// What is wrong with it: at most 200 characters, never the value.
        message: String,
    },
    NotChecked {
        reason: String,
    },
}

impl CompiledSchema {
    /// Reads a schema: a JSON object in UTF-8.
    ///
    /// # Errors
    /// [`SchemaFault`] says why it cannot be used. Nothing is fetched to find out.
    pub fn compile(schema: &[u8]) -> Result<CompiledSchema, SchemaFault> {
        if schema.len() > MAX_BYTES {
            return Err(SchemaFault::TooLarge(schema.len()));
        }
        let schema: Value = serde_json::from_slice(schema).map_err(|error| SchemaFault::NoObject(error.to_string()))?;
        let Value::Object(keywords) = &schema else {
            return Err(SchemaFault::NoObject("it is another JSON value".into()));
        };
        let draft = draft(keywords.get("$schema"))?;
        let graph = Graph::read(&schema, draft == Draft::Draft4)?;
        let build = || {
            jsonschema::options()
                .with_draft(draft)
                .offline()
                .should_validate_formats(false)
                .without_content_encoding_support("base64")
                .without_content_media_type_support("application/json")
                .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES))
                .build(&schema)
        };
        // Foreign code over foreign input: what it does not expect is a fault of the schema, not the end of the host.
        let built = catch_unwind(AssertUnwindSafe(build));
        let built = built.map_err(|_| SchemaFault::Invalid("the validator gave up on it".into()))?;
        let validator = built.map_err(|error| {
            let place = error.instance_path().as_str();
            let place = if place.is_empty() { String::new() } else { format!(", at {place}") };
            SchemaFault::Invalid(cut(&format_args!("{}{place}", error.masked_with("it"))))
        })?;
        Ok(CompiledSchema { validator, graph })
    }

    /// Whether a JSON value conforms.
    pub fn check(&self, value: &[u8]) -> Verdict {
        let not_checked = |reason: String| Verdict::NotChecked { reason };
        if value.len() > MAX_BYTES {
            return not_checked(format!(
                "the value has {} bytes, more than the {MAX_BYTES} that are checked",
                value.len()
            ));
        }
        let value: Value = match serde_json::from_slice(value) {
            Ok(value) => value,
            Err(error) => return not_checked(format!("the value cannot be read for a check: {error}")),
        };
        let sizes = Sizes::of(&value);
        if sizes.depth.saturating_mul(self.graph.chain) > MAX_RECURSION {
            return not_checked("the value is nested too deep for this outputSchema".into());
        }
        if !self.graph.is_affordable(&value, &sizes) {
            return not_checked("the outputSchema makes the value too dear to check".into());
        }
        match catch_unwind(AssertUnwindSafe(|| self.verdict(&value, &sizes))) {
            Ok(verdict) => verdict,
            Err(_) => not_checked("the validator gave up on it".into()),
        }
    }

    fn verdict(&self, value: &Value, sizes: &Sizes) -> Verdict {
        if self.validator.is_valid(value) {
            return Verdict::Conforms;
        }
        if self.graph.may_explain(value, sizes)
            && let Err(error) = self.validator.validate(value)
        {
            let path = error.instance_path().as_str().to_owned();
            return Verdict::DoesNot { path, message: cut(&error.masked_with("the value")) };
        }
        Verdict::DoesNot { path: String::new(), message: "the value does not conform".into() }
    }
}

fn draft(named: Option<&Value>) -> Result<Draft, SchemaFault> {
    let Some(named) = named else { return Ok(Draft::Draft202012) };
    let known = named.as_str().map(Draft::from_schema_uri);
    match known {
        Some(draft @ (Draft::Draft4 | Draft::Draft6 | Draft::Draft7 | Draft::Draft201909 | Draft::Draft202012)) => {
            Ok(draft)
        }
        _ => Err(SchemaFault::Dialect(cut(named))),
    }
}

/// The start of a text on one line, without control characters.
fn cut(text: &dyn fmt::Display) -> String {
    struct Cut(String, usize);
    impl fmt::Write for Cut {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for c in text.chars() {
                if self.1 + 1 >= MAX_MESSAGE {
                    self.0.push('…');
                    return Err(fmt::Error);
                }
                self.1 += 1;
                self.0.push(if c.is_control() { ' ' } else { c });
            }
            Ok(())
        }
    }
    let mut cut = Cut(String::new(), 0);
    // An error only says that the rest is not wanted.
    let _ = write!(cut, "{text}");
    cut.0
}

#[cfg(test)]
mod tests;
