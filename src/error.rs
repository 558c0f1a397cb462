//! What a call came to, and why it failed.

use crate::policy::{Diagnostic, Level, PolicyError, PolicyErrorKind};
use crate::report::Json;
use crate::result::refusal::Refusal;

/// What a call came to. The numbers are those of the C ABI and are never reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Status {
    /// The reader sees the input exactly as it is: use your own bytes.
    Unchanged = 0,
    /// Read the selection.
    Changed = 1,
    /// `needs_input` or `task`: hand the input to the protocol driver, show it to nobody.
    NotForReaders = 2,

    /// A NULL, a length over `PTRDIFF_MAX`, or a number that is no enumerator.
    ErrArgument = -1,
    /// A caught panic: a bug here. The objects stay usable, or say so again.
    ErrInternal = -2,

    /// The policy does not compile: read the diagnostics.
    ErrPolicy = -10,
    /// No bytes, or nothing but comments.
    ErrPolicyEmpty = -11,
    /// A file cannot be read, or `extends` leads nowhere or round in a circle.
    ErrPolicyFile = -12,
    /// No built-in policy has this name.
    ErrNoBuiltin = -13,
    /// Reload of an engine that was not opened from a file.
    ErrNoFile = -14,

    /// The policy in force does not define this audience.
    ErrAudience = -20,
    /// The tool definition is no JSON object.
    ErrTool = -21,
    /// The protocol revision is no `YYYY-MM-DD`.
    ErrRevision = -22,

    /// Malformed JSON (NaN and Infinity are named).
    ErrJson = -30,
    /// Invalid UTF-8.
    ErrUtf8 = -31,
    /// Nested too deep.
    ErrDepth = -32,
    /// Larger than the policy allows.
    ErrSize = -33,
    /// A member of the wrong type, or no member at all.
    ErrShape = -34,
    /// A `resultType` that is unknown or was not negotiated; `outputs` alone.
    ErrResultType = -35,
    /// Setting `schema = "reject"`, and the value does not conform.
    ErrSchema = -36,
}

impl Status {
    /// A short stable word for it.
    pub fn code(self) -> &'static str {
        match self {
            Status::Unchanged => "unchanged",
            Status::Changed => "changed",
            Status::NotForReaders => "not-for-readers",
            Status::ErrArgument => "bad-argument",
            Status::ErrInternal => "internal",
            Status::ErrPolicy => "bad-policy",
            Status::ErrPolicyEmpty => "empty-policy",
            Status::ErrPolicyFile => "policy-file",
            Status::ErrNoBuiltin => "no-builtin",
            Status::ErrNoFile => "no-file",
            Status::ErrAudience => "unknown-audience",
            Status::ErrTool => "bad-tool-definition",
            Status::ErrRevision => "bad-revision",
            Status::ErrJson => "malformed-json",
            Status::ErrUtf8 => "invalid-utf8",
            Status::ErrDepth => "too-deep",
            Status::ErrSize => "too-large",
            Status::ErrShape => "wrong-shape",
            Status::ErrResultType => "unknown-result-type",
            Status::ErrSchema => "schema-mismatch",
        }
    }
}

/// Why a call failed: a status, one line, a place, and what a policy's reader found.
///
/// ```
/// let error = mcp_select::Engine::from_toml(b"version = 1\nordr = 1").unwrap_err();
/// assert_eq!(error.status(), mcp_select::Status::ErrPolicy);
/// assert_eq!(error.diagnostics().len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Error {
    status: Status,
    message: String,
    offset: Option<usize>,
    member: String,
    diagnostics: Vec<Diagnostic>,
}

impl Error {
    pub(crate) fn new(status: Status, message: String) -> Error {
        Error { status, message, offset: None, member: String::new(), diagnostics: Vec::new() }
    }

    pub fn status(&self) -> Status {
        self.status
    }

    /// One line, lower case, with the code, the place and the way out.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The byte in the input or in the policy file, from 0.
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }

    /// The member of the result, such as `structuredContent.items[3]`; empty when there is none.
    pub fn member(&self) -> &str {
        &self.member
    }

    /// All that is wrong with a policy.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Code, file, line, column, member, help and all diagnostics as one JSON object.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let first = self.diagnostics.first();
        Json::new(&mut out).object(|json| {
            json.name("status").raw((self.status as i32).to_string().as_bytes());
            json.name("code").string(self.status.code());
            json.name("message").string(&self.message);
            if let Some(offset) = self.offset {
                json.name("offset").number(offset as u64);
            }
            if !self.member.is_empty() {
                json.name("member").string(&self.member);
            }
            if let Some(first) = first {
                json.name("file").string(&first.file);
                json.name("line").number(first.line.into());
                json.name("column").number(first.column.into());
                if let Some(help) = &first.help {
                    json.name("help").string(help);
                }
                json.name("diagnostics").array(|json| write_diagnostics(&self.diagnostics, json));
            }
        });
        out
    }
}

/// Writes findings as JSON objects, one after the other.
pub(crate) fn write_diagnostics(diagnostics: &[Diagnostic], json: &mut Json<'_>) {
    for diagnostic in diagnostics {
        json.object(|json| {
            json.name("code").string(diagnostic.code);
            json.name("level").string(diagnostic.level.name());
            json.name("message").string(&diagnostic.message);
            json.name("file").string(&diagnostic.file);
            json.name("line").number(diagnostic.line.into());
            json.name("column").number(diagnostic.column.into());
            json.name("offset").number(diagnostic.span.start as u64);
            json.name("length").number(diagnostic.span.len() as u64);
            if let Some(help) = &diagnostic.help {
                json.name("help").string(help);
            }
        });
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        Error {
            status: refusal.status,
            message: refusal.to_string(),
            offset: Some(refusal.at),
            member: refusal.member,
            diagnostics: Vec::new(),
        }
    }
}

impl From<PolicyError> for Error {
    fn from(error: PolicyError) -> Error {
        let status = match error.kind {
            PolicyErrorKind::Invalid => Status::ErrPolicy,
            PolicyErrorKind::Empty => Status::ErrPolicyEmpty,
            PolicyErrorKind::File => Status::ErrPolicyFile,
            PolicyErrorKind::NoBuiltin => Status::ErrNoBuiltin,
        };
        let errors = || error.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error);
        let mut message = format!("{}: ", status.code());
        let mut offset = None;
        if let Some(first) = errors().next() {
            if first.line > 0 {
                message.push_str(&format!("{}:{}:{}: ", first.file, first.line, first.column));
                offset = Some(first.span.start);
            } else if !first.file.is_empty() {
                message.push_str(&format!("{}: ", first.file));
            }
            message.push_str(&first.message);
            if let Some(help) = &first.help {
                message.push_str("; ");
                message.push_str(help);
            }
        }
        let more = errors().count().saturating_sub(1);
        if more > 0 {
            message.push_str(&format!(" (and {more} more)"));
        }
        // One line, whatever a file's name or text holds.
        let message = message.replace(['\n', '\r'], " ");
        Error { status, message, offset, member: String::new(), diagnostics: error.diagnostics }
    }
}
