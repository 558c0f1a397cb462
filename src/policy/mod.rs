//! The policy file: from TOML with the place of every key to rules as types.
//!
//! [`load_file`], [`load_bytes`] and [`load_builtin`] give a [`Policy`]: the live rules of a file and of all the
//! files it extends, checked so far that what follows need not doubt them. Deciding which rule wins is left to
//! the decision table; nothing here knows a result.
//!
//! `load` finds the files and brings them together, `read` decodes one file, `rule` and `pattern` say what the
//! parts are, `words` prints them as policies write them, `json_schema` tells editors and readers what there is, `lint`
//! finds what loads and is probably not what was meant.

mod builtin;
mod diagnostic;
pub mod json_schema;
pub mod lint;
mod load;
pub mod pattern;
mod read;
pub mod rule;
mod source;
mod suggest;
mod title;
mod words;

pub use builtin::{BUILTINS, builtin};
pub use diagnostic::{Also, Diagnostic, Fix, Level};
pub use load::{BuiltinsOnly, FileSystem, Resolve, Resolved, Unresolved, load_builtin, load_bytes, load_file};
pub use read::template_size;
pub use source::SourceFile;
pub use words::{Word, template_text};

use rule::{Lane, Place, Rule};
use std::path::PathBuf;

/// The policy that is meant where none is named.
pub const DEFAULT: &str = "sep-2200";

/// At most so many servers may have a section in one policy.
pub const MAX_SERVERS: usize = 100_000;

/// At most so many audiences may have a section in one file.
pub const MAX_AUDIENCES: usize = 256;

/// At most so many rules of one policy may have conditions.
pub const MAX_CONDITIONAL_RULES: usize = 4096;

/// A policy, read and checked.
#[derive(Clone, Debug)]
pub struct Policy {
    /// A built-in name, a file's path as it was given, or what the caller calls the bytes.
    pub name: Box<str>,
    /// The file itself, then those it extends, the strongest first.
    pub files: Vec<SourceFile>,
    /// All live rules in the order of file and place; replaced and disabled ones are gone.
    pub rules: Vec<Rule>,
    /// Every audience that has a section in one of the files.
    pub audiences: Vec<Audience>,
    /// The tightest limits of all files.
    pub input: InputLimits,
    /// The `[[tests]]` of the file itself.
    pub tests: Vec<PolicyTest>,
    pub warnings: Vec<Diagnostic>,
    /// Of the texts of all files in their order: the same on every run and machine. Printed as 16 hex digits.
    pub hash: u64,
}

impl Policy {
    /// The audience of this name or alias.
    pub fn audience(&self, name: &str) -> Option<&Audience> {
        let name = resolve_alias(name);
        self.audiences.iter().find(|audience| &*audience.name == name)
    }
}

/// An audience and what it falls back on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Audience {
    pub name: Box<str>,
    pub like: Option<Box<str>>,
    /// Itself, what it is like, what that is like, and so on.
    pub chain: Vec<Box<str>>,
}

/// What a result may measure before it is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InputLimits {
    pub max_bytes: u32,
    pub max_depth: u32,
}

impl InputLimits {
    /// What the engine itself allows; a policy can only tighten it.
    pub const ENGINE: InputLimits = InputLimits { max_bytes: 64 << 20, max_depth: crate::result::json::MAX_DEPTH };
}

/// One of `[[tests]]`.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicyTest {
    pub name: Box<str>,
    pub server: Box<str>,
    pub tool: Box<str>,
    /// Resolved and defined; `model` unless said.
    pub audience: Box<str>,
    pub revision: Option<Box<str>>,
    /// A result as JSON text, known to be JSON.
    pub result: Box<str>,
    pub expect: Expect,
    pub place: Place,
}

/// What a test expects; what is `None` or empty is not looked at.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Expect {
    pub lane: Option<Lane>,
    /// Each must stand in the selected result.
    pub contains: Box<[Box<str>]>,
    /// None may stand in the selected result.
    pub lacks: Box<[Box<str>]>,
    /// The selected result as JSON text, known to be JSON.
    pub result: Option<Box<str>>,
    pub is_error: Option<bool>,
    /// The name of a rule that decided something.
    pub rule: Option<Box<str>>,
}

/// Why a policy does not load.
#[derive(Clone, Debug)]
pub struct PolicyError {
    pub kind: PolicyErrorKind,
    /// At least one error, and the warnings found on the way.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that could be read, for rendering.
    pub files: Vec<SourceFile>,
    /// Every path that was read or tried.
    pub paths: Vec<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyErrorKind {
    /// It says what no policy can say.
    Invalid,
    /// No bytes, or nothing but comments and white space.
    Empty,
    /// A file cannot be read, or `extends` leads nowhere or round in a circle.
    File,
    /// No built-in policy has this name.
    NoBuiltin,
}

impl std::fmt::Display for PolicyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            diagnostic.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for PolicyError {}

/// `assistant` is `model`, `programmatic` is `code`; every other name is itself.
pub fn resolve_alias(audience: &str) -> &str {
    match audience {
        "assistant" => "model",
        "programmatic" => "code",
        other => other,
    }
}
