//! Setting `schema`: what the structured value is found to be under the tool's `outputSchema`, and a result refused for it.
//!
//! Never about errors: what a failed call returns need not conform (C-92). Without the cargo feature `schema` nothing is
//! ever found, and a policy that asks does not load.

use super::ask::Ask;
use crate::error::Status;
use crate::policy::rule::Schema;
use crate::result::json::{Span, elements, member};
use crate::result::refusal::{Refusal, path_to};
use crate::result::scan::Scan;
use crate::table::route::Definition;

/// What is known of a result that is no error, of a tool that declares an `outputSchema`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(not(feature = "schema"), expect(dead_code, reason = "nothing is found without the feature"))]
pub enum Conformity {
    Conforms,
    /// A JSON pointer into the value, and what is wrong there.
    DoesNot {
        path: String,
        message: String,
    },
    NotChecked {
        reason: String,
    },
    /// There is no structured value (C-92: clients of the TypeScript and Python SDKs raise).
    Missing,
}

impl Conformity {
    /// Condition `schema_valid`; `None`: not known.
    pub fn holds(&self) -> Option<bool> {
        match self {
            Conformity::Conforms => Some(true),
            Conformity::DoesNot { .. } => Some(false),
            Conformity::NotChecked { .. } | Conformity::Missing => None,
        }
    }

    /// Whether there is a value that must not be trusted. One that could not be checked is none that passed (C-98).
    fn is_unfit(&self) -> bool {
        matches!(self, Conformity::DoesNot { .. } | Conformity::NotChecked { .. })
    }

    /// Code, JSON pointer and message of the note in the record.
    pub fn note(&self) -> Option<(&'static str, &str, &str)> {
        match self {
            Conformity::Conforms => None,
            Conformity::DoesNot { path, message } => Some(("schema-mismatch", path, message)),
            Conformity::NotChecked { reason } => Some(("schema-unchecked", "", reason)),
            Conformity::Missing => Some(("schema-unchecked", "", "the result has no structuredContent")),
        }
    }
}

/// Checks a structured value, which may be absent; `None`: the tool declares no `outputSchema`.
#[cfg(feature = "schema")]
pub fn conformity(definition: Option<&Definition>, structured: &[u8]) -> Option<Conformity> {
    use crate::result::schema::Verdict;

    let schema = definition?.compiled_schema()?;
    if structured.is_empty() {
        return Some(Conformity::Missing);
    }
    Some(match schema {
        Err(fault) => Conformity::NotChecked { reason: fault.to_string() },
        Ok(schema) => match schema.check(structured) {
            Verdict::Conforms => Conformity::Conforms,
            Verdict::DoesNot { path, message } => Conformity::DoesNot { path, message },
            Verdict::NotChecked { reason } => Conformity::NotChecked { reason },
        },
    })
}

#[cfg(not(feature = "schema"))]
pub fn conformity(_: Option<&Definition>, _: &[u8]) -> Option<Conformity> {
    None
}

impl Ask<'_, '_> {
    /// Finds out what the setting asks for; a refusal under `reject`. A result that `hide` covers is shown to nobody and
    /// needs no check.
    pub fn judge_schema(&mut self) -> Option<Refusal> {
        if !self.has_schema() || self.schema() == Schema::Off || self.hide() {
            return None;
        }
        let found = self.facts.conformity()?.clone();
        let fits = found == Conformity::Conforms;
        (!fits && self.schema() == Schema::Reject).then(|| refusal(self.facts.bytes, self.facts.scan, &found))
    }

    /// Whether `schema = "unusable"` holds the structured value back.
    pub fn schema_withholds(&mut self) -> bool {
        self.has_schema()
            && self.schema() == Schema::Unusable
            && self.facts.conformity().is_some_and(Conformity::is_unfit)
    }

    /// Whether there is anything to check: else the setting is not even looked up.
    fn has_schema(&self) -> bool {
        let declared = self.facts.definition.is_some_and(|definition| definition.output_schema.is_some());
        declared && !self.facts.scan.failed(self.facts.bytes)
    }
}

fn refusal(bytes: &[u8], scan: &Scan, found: &Conformity) -> Refusal {
    const WAY_OUT: &str = "mend the server, or let the policy say `schema = \"unusable\"`";
    let (place, message) = match found {
        Conformity::DoesNot { path, message } => (at(bytes, scan.structured, path), message.clone()),
        Conformity::NotChecked { reason } => (scan.structured, format!("not checked, since {reason}")),
        Conformity::Missing | Conformity::Conforms => {
            (scan.whole, "the tool declares an outputSchema, and the result has no `structuredContent`".into())
        }
    };
    let at = place.start as usize;
    Refusal { status: Status::ErrSchema, at, member: path_to(bytes, at), message: format!("{message}; {WAY_OUT}") }
}

/// Where a JSON pointer leads in a valid value; as far as it leads anywhere.
fn at(bytes: &[u8], value: Span, pointer: &str) -> Span {
    let mut here = value;
    for step in pointer.split('/').skip(1) {
        let next = match here.of(bytes).first() {
            Some(b'{') => member(bytes, here, &step.replace("~1", "/").replace("~0", "~")),
            Some(b'[') => step.parse().ok().and_then(|index| elements(bytes, here).nth(index)),
            _ => None,
        };
        let Some(next) = next else { break };
        here = next;
    }
    here
}

#[cfg(all(test, feature = "schema"))]
mod tests;

#[cfg(all(test, not(feature = "schema")))]
mod tests {
    use crate::{Engine, Status};

    #[test]
    fn a_policy_that_needs_the_feature_does_not_load() {
        for policy in ["[audience.model]\nschema = \"note\"", "[[rules]]\nwhen = { schema_valid = true }\nhide = true"]
        {
            let error = Engine::from_toml(format!("version = 1\n{policy}").as_bytes()).unwrap_err();
            assert_eq!(error.status(), Status::ErrPolicy);
            assert_eq!(error.diagnostics()[0].code, "feature");
            assert!(error.diagnostics()[0].help.as_ref().unwrap().contains("--features schema"));
        }
        assert!(Engine::from_toml(b"version = 1\n[audience.model]\nschema = \"off\"").is_ok());
    }
}
