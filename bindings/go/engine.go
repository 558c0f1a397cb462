package mcpselect

// The engine: a policy in force, and the calls that are made with it.

import (
	"context"
	"encoding/json"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-select/mcp-select/bindings/go/internal/native"
)

// An Engine is a policy in force. Make one and share it: all its methods may be called by any number of goroutines.
//
// [Open] makes one that follows its files, [New] and [Builtin] make one with a fixed policy. The zero Engine is closed.
type Engine struct {
	native   atomic.Pointer[native.Engine]
	requests *requestCache
}

func engine(made *native.Engine, err *native.Error) (*Engine, error) {
	if err != nil {
		return nil, failed(err)
	}
	e := &Engine{requests: newRequestCache()}
	e.native.Store(made)
	return e, nil
}

// Open makes an engine with the policy of a file and of the files that it extends.
//
// The files are looked at again, at most once a second, while results are selected; see [Engine.SetAutoReload]. The error
// is [ErrPolicyFile] when a file cannot be read, else as of [New].
func Open(path string) (*Engine, error) { return engine(native.OpenEngine(path)) }

// New makes an engine with the policy in these bytes (TOML). `extends` may name built-in policies only.
//
// The error is [ErrPolicy], with all that is wrong in its Diagnostics, or [ErrPolicyEmpty].
func New(policy []byte) (*Engine, error) { return engine(native.NewEngine(policy)) }

// Builtin makes an engine with a built-in policy, such as "sep-2200". The error is [ErrNoBuiltin].
func Builtin(name string) (*Engine, error) { return engine(native.BuiltinEngine(name)) }

// Version is that of the native library, such as "1.2.3".
func Version() string { return native.Version() }

// Select selects what the request's audience sees of a result.
//
// result is what the server sent, byte for byte; it must not be changed until the call returns. On an error the selection
// holds nothing: never a part of a result. The errors are [ErrAudience], [ErrTool], [ErrRevision] and [ErrArgument] for
// the request, [ErrJSON] to [ErrSchema] for the result, [ErrClosed], and that of a context that is over already.
func (e *Engine) Select(ctx context.Context, request Request, result json.RawMessage, options ...Option) (Selection, error) {
	if err := ctx.Err(); err != nil {
		return Selection{Status: native.ErrArgument}, err
	}
	if e.native.Load() == nil {
		return Selection{Status: native.ErrArgument}, ErrClosed
	}
	found, err := e.requests.get(&request)
	if err != nil {
		return Selection{Status: Status(err.Status)}, failed(err)
	}
	return e.run(found, result, options)
}

// selections are the native buffers. The garbage collector empties the pool, and each buffer frees itself.
var selections = sync.Pool{New: func() any { return native.NewSelection() }}

// keepBytes is the largest result that a native buffer in the pool may have seen.
const keepBytes = 1 << 20

func (e *Engine) run(request *native.Request, result json.RawMessage, options []Option) (Selection, error) {
	engine := e.native.Load()
	if engine == nil {
		return Selection{Status: native.ErrArgument}, ErrClosed
	}
	buffer := selections.Get().(*native.Selection)
	defer put(buffer, len(result))
	outcome, err := buffer.Result(engine, request, result)
	if err != nil {
		return Selection{Status: Status(err.Status)}, failed(err)
	}
	selection := Selection{
		Status:     Status(outcome.Status),
		Lane:       Lane(outcome.Lane),
		Outcome:    Outcome(outcome.Outcome),
		IsError:    outcome.IsError,
		Generation: outcome.Generation,
	}
	switch selection.Status {
	case Unchanged:
		selection.JSON = result
	case Changed:
		// First of all: the native bytes are valid until the next question.
		selection.JSON = append(room(options, len(outcome.JSON)), outcome.JSON...)
	}
	for _, option := range options {
		switch option.kind {
		case optionText:
			if selection.Text, err = buffer.Text(result, option.separator); err != nil {
				return Selection{Status: Status(err.Status)}, failed(err)
			}
		case optionBlocks:
			selection.Blocks = blocks(buffer)
		case optionDecision:
			selection.Decision = buffer.Decision()
		}
	}
	return selection, nil
}

// room is where the output goes: the caller's buffer, or one that fits.
func room(options []Option, size int) []byte {
	for _, option := range options {
		if option.kind == optionBuffer {
			return option.buffer[:0]
		}
	}
	return make([]byte, 0, size)
}

func blocks(buffer *native.Selection) []Block {
	found := []Block{}
	buffer.Blocks(func(kind int32, source int64) { found = append(found, Block{Fate(kind), int(source)}) })
	return found
}

// put gives a buffer back, or frees it at once when a large result has made it large: the collector does not see its size.
func put(buffer *native.Selection, size int) {
	if size > keepBytes {
		buffer.Free()
		return
	}
	selections.Put(buffer)
}

// Reload reads the files now and swaps in what they say; changed is whether that is a new policy.
//
// On any error the last good policy stays: [ErrPolicy] also when an audience of the policy in force would vanish,
// [ErrNoFile] when the engine was not opened from a file, else as of [Open].
func (e *Engine) Reload() (changed bool, err error) {
	engine := e.native.Load()
	if engine == nil {
		return false, ErrClosed
	}
	changed, failure := engine.Reload()
	if failure != nil {
		return false, failed(failure)
	}
	return changed, nil
}

// Replace swaps in the policy in these bytes. The files are forgotten: auto reload stops until an engine is opened anew.
// The errors are those of [New]; the last good policy stays then.
func (e *Engine) Replace(policy []byte) error {
	engine := e.native.Load()
	if engine == nil {
		return ErrClosed
	}
	if failure := engine.Replace(policy); failure != nil {
		return failed(failure)
	}
	return nil
}

// SetAutoReload sets how often a selection may look at the files, to the millisecond; 0 or less: never. A host whose
// selections must not touch the disk sets 0 and calls [Engine.Reload] from a goroutine of its own.
func (e *Engine) SetAutoReload(interval time.Duration) {
	engine := e.native.Load()
	if engine == nil {
		return
	}
	milliseconds := min(max(interval, 0).Milliseconds(), math.MaxUint32)
	if milliseconds == 0 && interval > 0 {
		milliseconds = 1
	}
	engine.SetAutoReload(uint32(milliseconds))
}

// Generation is 1 for the first policy and one more with each swap; 0 when the engine is closed.
func (e *Engine) Generation() uint64 {
	engine := e.native.Load()
	if engine == nil {
		return 0
	}
	return engine.Generation()
}

// Diagnostics tells of the policy in force.
type Diagnostics struct {
	// Policy is its name.
	Policy string `json:"policy"`
	// Hash is the same for two policies that say the same.
	Hash       string `json:"hash"`
	Generation uint64 `json:"generation"`
	// LoadedMsAgo is how old it is, in milliseconds.
	LoadedMsAgo int64 `json:"loaded_ms_ago"`
	// LastLookMsAgo is how long ago its files were looked at; nil: never.
	LastLookMsAgo *int64 `json:"last_look_ms_ago"`
	// AutoReloadMs is how often a selection may look at the files; 0: never.
	AutoReloadMs int64        `json:"auto_reload_ms"`
	Files        []string     `json:"files"`
	Warnings     []Diagnostic `json:"warnings"`
	// Error is why the last reload failed; nil: it did not.
	Error *Error `json:"error"`
}

// Diagnostics tells of the policy in force, and of the last reload.
func (e *Engine) Diagnostics() (Diagnostics, error) {
	engine := e.native.Load()
	if engine == nil {
		return Diagnostics{}, ErrClosed
	}
	text, failure := engine.Diagnostics()
	if failure != nil {
		return Diagnostics{}, failed(failure)
	}
	var told Diagnostics
	err := json.Unmarshal(text, &told)
	return told, err
}

// Table tells the decision table of one route, as JSON, for an admin page or a test. The errors are those of the request,
// as of [Engine.Select].
func (e *Engine) Table(request Request) (json.RawMessage, error) {
	engine := e.native.Load()
	if engine == nil {
		return nil, ErrClosed
	}
	found, failure := e.requests.get(&request)
	if failure != nil {
		return nil, failed(failure)
	}
	table, failure := engine.Table(found)
	if failure != nil {
		return nil, failed(failure)
	}
	return table, nil
}

// Close lets go of the policy. Calls in flight end well; later ones give [ErrClosed]. Closing twice is safe, and so is
// closing while other goroutines select. The native memory is freed by the next garbage collection that finds no call
// using it; so it is when an engine is never closed.
func (e *Engine) Close() error {
	e.native.Store(nil)
	return nil
}
