//! What a call came to, and why it failed.

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
