package mcpselect

// Errors: a code to compare with, and a value that says where and why.

import (
	"encoding/json"
	"errors"

	"github.com/mcp-select/mcp-select/bindings/go/internal/native"
)

// ErrClosed is given by an [Engine] or a [PreparedRequest] after its Close.
var ErrClosed = errors.New("mcpselect: closed")

// A Code is the kind of an [Error], and itself an error to compare with:
//
//	if errors.Is(err, mcpselect.ErrPolicy) { ... }
//
// The numbers are those of the C ABI and are never reused.
type Code int32

const (
	// ErrArgument: a name or a separator that is no UTF-8.
	ErrArgument Code = native.ErrArgument
	// ErrInternal: a caught panic, a bug in the library. The engine stays usable.
	ErrInternal Code = native.ErrInternal

	// ErrPolicy: the policy does not compile; [Error.Diagnostics] says all that is wrong.
	ErrPolicy Code = native.ErrPolicy
	// ErrPolicyEmpty: no bytes, or nothing but comments.
	ErrPolicyEmpty Code = native.ErrPolicyEmpty
	// ErrPolicyFile: a file cannot be read, or extends leads nowhere or round in a circle.
	ErrPolicyFile Code = native.ErrPolicyFile
	// ErrNoBuiltin: no built-in policy has this name.
	ErrNoBuiltin Code = native.ErrNoBuiltin
	// ErrNoFile: Reload of an engine that was not opened from a file.
	ErrNoFile Code = native.ErrNoFile

	// ErrAudience: the policy in force does not define this audience.
	ErrAudience Code = native.ErrAudience
	// ErrTool: the tool definition is no JSON object.
	ErrTool Code = native.ErrTool
	// ErrRevision: the protocol revision is no YYYY-MM-DD.
	ErrRevision Code = native.ErrRevision

	// ErrJSON: the result is malformed JSON (NaN and Infinity are named).
	ErrJSON Code = native.ErrJSON
	// ErrUTF8: the result is no UTF-8.
	ErrUTF8 Code = native.ErrUTF8
	// ErrDepth: the result is nested too deep.
	ErrDepth Code = native.ErrDepth
	// ErrSize: the result is larger than the policy allows.
	ErrSize Code = native.ErrSize
	// ErrShape: a member of the wrong type, or no member at all.
	ErrShape Code = native.ErrShape
	// ErrResultType: a resultType that is unknown or was not negotiated.
	ErrResultType Code = native.ErrResultType
	// ErrSchema: the value does not conform to the tool's outputSchema, and the policy refuses such.
	ErrSchema Code = native.ErrSchema
)

// The words that the command line, the decision records and the other bindings use too.
var words = map[Code]string{
	ErrArgument:    "bad-argument",
	ErrInternal:    "internal",
	ErrPolicy:      "bad-policy",
	ErrPolicyEmpty: "empty-policy",
	ErrPolicyFile:  "policy-file",
	ErrNoBuiltin:   "no-builtin",
	ErrNoFile:      "no-file",
	ErrAudience:    "unknown-audience",
	ErrTool:        "bad-tool-definition",
	ErrRevision:    "bad-revision",
	ErrJSON:        "malformed-json",
	ErrUTF8:        "invalid-utf8",
	ErrDepth:       "too-deep",
	ErrSize:        "too-large",
	ErrShape:       "wrong-shape",
	ErrResultType:  "unknown-result-type",
	ErrSchema:      "schema-mismatch",
}

// Error is the stable word of a code, such as "malformed-json".
func (c Code) Error() string {
	if word, ok := words[c]; ok {
		return word
	}
	return "unknown-error"
}

// An Error says why a call failed. errors.As finds it, errors.Is compares its [Code].
type Error struct {
	Code Code
	// Message is one line, lower case: the code, the place, what is wrong, and the way out.
	Message string
	// Offset is the byte in the result or in the policy file, from 0; -1 when there is none.
	Offset int64
	// Member is the member of the result, such as structuredContent.items[3].
	Member string
	// File, Line, Column and Help are those of the first diagnostic of a policy.
	File         string
	Line, Column int
	Help         string
	// Diagnostics is all that is wrong with a policy, and its warnings.
	Diagnostics []Diagnostic
	// JSON is the error as the library wrote it.
	JSON json.RawMessage
}

// A Diagnostic is one finding in a policy.
type Diagnostic struct {
	// Code is the stable code of the finding.
	Code string `json:"code"`
	// Level is "error" or "warning".
	Level   string `json:"level"`
	Message string `json:"message"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length"`
	Help    string `json:"help,omitempty"`
}

func (e *Error) Error() string { return "mcpselect: " + e.Message }

// Unwrap gives the [Code], so that errors.Is finds it.
func (e *Error) Unwrap() error { return e.Code }

// UnmarshalJSON reads an error as the library writes it.
func (e *Error) UnmarshalJSON(text []byte) error {
	wire := struct {
		Status      Code         `json:"status"`
		Message     string       `json:"message"`
		Offset      *int64       `json:"offset"`
		Member      string       `json:"member"`
		File        string       `json:"file"`
		Line        int          `json:"line"`
		Column      int          `json:"column"`
		Help        string       `json:"help"`
		Diagnostics []Diagnostic `json:"diagnostics"`
	}{}
	if err := json.Unmarshal(text, &wire); err != nil {
		return err
	}
	*e = Error{
		Code: wire.Status, Message: wire.Message, Offset: -1, Member: wire.Member,
		File: wire.File, Line: wire.Line, Column: wire.Column, Help: wire.Help, Diagnostics: wire.Diagnostics,
		JSON: append(json.RawMessage(nil), text...),
	}
	if wire.Offset != nil {
		e.Offset = *wire.Offset
	}
	return nil
}

// MarshalJSON gives the error as the library wrote it.
func (e *Error) MarshalJSON() ([]byte, error) {
	if e.JSON == nil {
		return json.Marshal(map[string]any{"status": e.Code, "code": e.Code.Error(), "message": e.Message})
	}
	return e.JSON, nil
}

// failed turns an error of the library into one of this package.
func failed(from *native.Error) error {
	e := new(Error)
	if len(from.JSON) == 0 || e.UnmarshalJSON(from.JSON) != nil {
		message := from.Message
		if message == "" {
			message = Code(from.Status).Error()
		}
		return &Error{Code: Code(from.Status), Message: message, Offset: -1}
	}
	return e
}
