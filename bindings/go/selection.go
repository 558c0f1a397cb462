package mcpselect

// What a call came to.

import (
	"encoding/json"

	"github.com/mcp-select/mcp-select/bindings/go/internal/native"
)

// A Selection is what an audience sees of a result. It belongs to the caller: nothing in it is shared with the engine.
type Selection struct {
	// Status says what to do.
	Status Status
	// JSON is what the audience sees: the caller's own bytes when the status is [Unchanged], bytes of its own when it is
	// [Changed]. It is nil when the status is [NotForReaders]: there is nothing to show, the protocol driver gets the input.
	JSON json.RawMessage
	// Lane is the way in which what is seen was built.
	Lane Lane
	// Outcome is who should read the result at all.
	Outcome Outcome
	// IsError is whether the result's isError was true.
	IsError bool
	// Generation is that of the policy that decided.
	Generation uint64

	// Text is every text that the audience sees, joined; only [WithText].
	Text string
	// Blocks tells of each block of the output; only [WithBlocks].
	Blocks []Block
	// Decision is the decision record: what was decided, by which rules, what was measured and what was left out. Never
	// a value out of _meta. Only [WithDecision].
	Decision json.RawMessage
}

// Changed is whether JSON is other than the input.
func (s Selection) Changed() bool { return s.Status == Changed }

// A Status is what a call came to. A call that failed has a negative one, the number of its [Code].
type Status int32

const (
	// Unchanged: the reader sees the input exactly as it is.
	Unchanged Status = native.Unchanged
	// Changed: the reader sees Selection.JSON.
	Changed Status = native.Changed
	// NotForReaders: hand the input to the protocol driver, show it to nobody.
	NotForReaders Status = native.NotForReaders
)

func (s Status) String() string {
	switch s {
	case Unchanged:
		return "unchanged"
	case Changed:
		return "changed"
	case NotForReaders:
		return "not-for-readers"
	}
	return Code(s).Error()
}

// An Outcome is who should read a result at all.
type Outcome int32

const (
	// Selected: a result to select from.
	Selected Outcome = native.OutcomeSelected
	// NeedsInput: resultType input_required.
	NeedsInput Outcome = native.OutcomeNeedsInput
	// Task: resultType task, and the extension was negotiated.
	Task Outcome = native.OutcomeTask
)

func (o Outcome) String() string {
	switch o {
	case Selected:
		return "selected"
	case NeedsInput:
		return "needs_input"
	case Task:
		return "task"
	}
	return "unknown"
}

// A Lane is the way in which what is seen was built.
type Lane int32

const (
	// LaneNothing: the placeholder.
	LaneNothing Lane = native.LaneNothing
	// LaneContent: the blocks.
	LaneContent Lane = native.LaneContent
	// LaneStructured: the structured value in the place of the text blocks.
	LaneStructured Lane = native.LaneStructured
	// LaneStructuredOnly: the structured value alone.
	LaneStructuredOnly Lane = native.LaneStructuredOnly
	// LaneBoth: the blocks and the structured value.
	LaneBoth Lane = native.LaneBoth
	// LaneRaw: the whole result as JSON text.
	LaneRaw Lane = native.LaneRaw
	// LaneWhole: the result as it came.
	LaneWhole Lane = native.LaneWhole
)

func (l Lane) String() string {
	switch l {
	case LaneNothing:
		return "nothing"
	case LaneContent:
		return "content"
	case LaneStructured:
		return "structured"
	case LaneStructuredOnly:
		return "structured-only"
	case LaneBoth:
		return "both"
	case LaneRaw:
		return "raw"
	case LaneWhole:
		return "whole"
	}
	return "unknown"
}

// A Block tells what a block of the output is made of, for a host that holds parsed blocks and only wants to know which to
// keep.
type Block struct {
	Fate Fate
	// Source is the index in the input's content of the block that this one was made of; -1 when there is none.
	Source int
}

// A Fate is what became of a block.
type Fate int32

const (
	// Kept: byte for byte the source block.
	Kept Fate = native.BlockKept
	// Rewritten: cut, sanitised, projected, turned into text, or its _meta filtered.
	Rewritten Fate = native.BlockRewritten
	// Note: stands in the place of the source block.
	Note Fate = native.BlockNote
	// Added: structured value, extras or placeholder; no source block.
	Added Fate = native.BlockAdded
)

func (f Fate) String() string {
	switch f {
	case Kept:
		return "kept"
	case Rewritten:
		return "rewritten"
	case Note:
		return "note"
	case Added:
		return "added"
	}
	return "unknown"
}

// An Option asks for more than the JSON.
type Option struct {
	kind      optionKind
	separator string
	buffer    []byte
}

type optionKind uint8

const (
	optionNone optionKind = iota
	optionText
	optionBlocks
	optionDecision
	optionBuffer
)

// WithText asks for Selection.Text: every text that the audience sees, joined with separator; the string for a model API
// that takes one.
func WithText(separator string) Option { return Option{kind: optionText, separator: separator} }

// WithBlocks asks for Selection.Blocks.
func WithBlocks() Option { return Option{kind: optionBlocks} }

// WithDecision asks for Selection.Decision.
func WithDecision() Option { return Option{kind: optionDecision} }

// WithBuffer lends memory for Selection.JSON: a changed result is appended to buffer[:0], which makes a call that
// allocates nothing when it has room. Selection.JSON then is a part of it, until the caller uses it again.
func WithBuffer(buffer []byte) Option { return Option{kind: optionBuffer, buffer: buffer} }
