// Package native is the C ABI of mcp-select as Go types: one type for each object of the header, one method for each
// function that the binding uses. It converts and keeps objects alive; names, options, caching and error types are the
// binding's own affair.
//
// The rules of include/mcp_select.h hold here too: an Engine and a Request may be used by many goroutines at once, a
// Selection by one.
package native

/*
#cgo CFLAGS: -I${SRCDIR}/include
#cgo linux,amd64 LDFLAGS: ${SRCDIR}/lib/linux_amd64/libmcp_select.a -lm -ldl -lpthread
#cgo linux,arm64 LDFLAGS: ${SRCDIR}/lib/linux_arm64/libmcp_select.a -lm -ldl -lpthread
#cgo darwin,amd64 LDFLAGS: ${SRCDIR}/lib/darwin_amd64/libmcp_select.a
#cgo darwin,arm64 LDFLAGS: ${SRCDIR}/lib/darwin_arm64/libmcp_select.a
#cgo windows,amd64 LDFLAGS: ${SRCDIR}/lib/windows_amd64/libmcp_select.a -lws2_32 -luserenv -lntdll -lbcrypt

#include "mcp_select.h"

// The library calls nothing back and keeps no pointer to the caller's memory (Inputs), so what Go passes may stand on
// a goroutine's stack.
#cgo noescape mcp_select_abi_version
#cgo nocallback mcp_select_abi_version
#cgo noescape mcp_select_abi_min_compatible
#cgo nocallback mcp_select_abi_min_compatible
#cgo noescape mcp_select_version
#cgo nocallback mcp_select_version
#cgo noescape mcp_select_engine_new
#cgo nocallback mcp_select_engine_new
#cgo noescape mcp_select_engine_builtin
#cgo nocallback mcp_select_engine_builtin
#cgo noescape mcp_select_engine_open
#cgo nocallback mcp_select_engine_open
#cgo noescape mcp_select_engine_reload
#cgo nocallback mcp_select_engine_reload
#cgo noescape mcp_select_engine_replace
#cgo nocallback mcp_select_engine_replace
#cgo noescape mcp_select_engine_auto_reload
#cgo nocallback mcp_select_engine_auto_reload
#cgo noescape mcp_select_engine_generation
#cgo nocallback mcp_select_engine_generation
#cgo noescape mcp_select_engine_diagnostics
#cgo nocallback mcp_select_engine_diagnostics
#cgo noescape mcp_select_engine_table
#cgo nocallback mcp_select_engine_table
#cgo noescape mcp_select_engine_free
#cgo nocallback mcp_select_engine_free
#cgo noescape mcp_select_request_new
#cgo nocallback mcp_select_request_new
#cgo noescape mcp_select_request_set_revision
#cgo nocallback mcp_select_request_set_revision
#cgo noescape mcp_select_request_set_tool_definition
#cgo nocallback mcp_select_request_set_tool_definition
#cgo noescape mcp_select_request_add_extension
#cgo nocallback mcp_select_request_add_extension
#cgo noescape mcp_select_request_set_label
#cgo nocallback mcp_select_request_set_label
#cgo noescape mcp_select_request_set_input
#cgo nocallback mcp_select_request_set_input
#cgo noescape mcp_select_request_clone
#cgo nocallback mcp_select_request_clone
#cgo noescape mcp_select_request_free
#cgo nocallback mcp_select_request_free
#cgo noescape mcp_select_selection_new
#cgo nocallback mcp_select_selection_new
#cgo noescape mcp_select_selection_text
#cgo nocallback mcp_select_selection_text
#cgo noescape mcp_select_selection_block_count
#cgo nocallback mcp_select_selection_block_count
#cgo noescape mcp_select_selection_block_source
#cgo nocallback mcp_select_selection_block_source
#cgo noescape mcp_select_selection_block_kind
#cgo nocallback mcp_select_selection_block_kind
#cgo noescape mcp_select_selection_decision
#cgo nocallback mcp_select_selection_decision
#cgo noescape mcp_select_selection_free
#cgo nocallback mcp_select_selection_free
#cgo noescape mcp_select_error_message
#cgo nocallback mcp_select_error_message
#cgo noescape mcp_select_error_json
#cgo nocallback mcp_select_error_json
#cgo noescape mcp_select_error_free
#cgo nocallback mcp_select_error_free
#cgo noescape mcp_select_text_bytes
#cgo nocallback mcp_select_text_bytes
#cgo noescape mcp_select_text_free
#cgo nocallback mcp_select_text_free

// A selection and all that a caller usually asks of it: crossing from Go to C once costs less than six times.
struct outcome {
	mcp_select_error *error;
	const uint8_t *json;
	size_t json_len;
	uint64_t generation;
	int32_t lane;
	int32_t outcome;
	int32_t is_error;
};

#cgo noescape select_result
#cgo nocallback select_result
static int32_t select_result(const mcp_select_engine *engine, const mcp_select_request *request, const uint8_t *result,
                             size_t result_len, mcp_select_selection *selection, struct outcome *out) {
	int32_t status = mcp_select_result(engine, request, result, result_len, selection, &out->error);
	if (status >= 0) {
		out->json = mcp_select_selection_json(selection, &out->json_len);
		out->generation = mcp_select_selection_generation(selection);
		out->lane = mcp_select_selection_lane(selection);
		out->outcome = mcp_select_selection_outcome(selection);
		out->is_error = mcp_select_selection_is_error(selection);
	}
	return status;
}
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Of the header that this package was built on.
const (
	ABIVersion = C.MCP_SELECT_ABI_VERSION

	Unchanged     = C.MCP_SELECT_UNCHANGED
	Changed       = C.MCP_SELECT_CHANGED
	NotForReaders = C.MCP_SELECT_NOT_FOR_READERS

	ErrArgument    = C.MCP_SELECT_ERR_ARGUMENT
	ErrInternal    = C.MCP_SELECT_ERR_INTERNAL
	ErrPolicy      = C.MCP_SELECT_ERR_POLICY
	ErrPolicyEmpty = C.MCP_SELECT_ERR_POLICY_EMPTY
	ErrPolicyFile  = C.MCP_SELECT_ERR_POLICY_FILE
	ErrNoBuiltin   = C.MCP_SELECT_ERR_NO_BUILTIN
	ErrNoFile      = C.MCP_SELECT_ERR_NO_FILE
	ErrAudience    = C.MCP_SELECT_ERR_AUDIENCE
	ErrTool        = C.MCP_SELECT_ERR_TOOL
	ErrRevision    = C.MCP_SELECT_ERR_REVISION
	ErrJSON        = C.MCP_SELECT_ERR_JSON
	ErrUTF8        = C.MCP_SELECT_ERR_UTF8
	ErrDepth       = C.MCP_SELECT_ERR_DEPTH
	ErrSize        = C.MCP_SELECT_ERR_SIZE
	ErrShape       = C.MCP_SELECT_ERR_SHAPE
	ErrResultType  = C.MCP_SELECT_ERR_RESULT_TYPE
	ErrSchema      = C.MCP_SELECT_ERR_SCHEMA

	InputResult   = C.MCP_SELECT_INPUT_RESULT
	InputSampling = C.MCP_SELECT_INPUT_SAMPLING

	OutcomeSelected   = C.MCP_SELECT_OUTCOME_SELECTED
	OutcomeNeedsInput = C.MCP_SELECT_OUTCOME_NEEDS_INPUT
	OutcomeTask       = C.MCP_SELECT_OUTCOME_TASK

	LaneNothing        = C.MCP_SELECT_LANE_NOTHING
	LaneContent        = C.MCP_SELECT_LANE_CONTENT
	LaneStructured     = C.MCP_SELECT_LANE_STRUCTURED
	LaneStructuredOnly = C.MCP_SELECT_LANE_STRUCTURED_ONLY
	LaneBoth           = C.MCP_SELECT_LANE_BOTH
	LaneRaw            = C.MCP_SELECT_LANE_RAW
	LaneWhole          = C.MCP_SELECT_LANE_WHOLE

	BlockKept      = C.MCP_SELECT_BLOCK_KEPT
	BlockRewritten = C.MCP_SELECT_BLOCK_REWRITTEN
	BlockNote      = C.MCP_SELECT_BLOCK_NOTE
	BlockAdded     = C.MCP_SELECT_BLOCK_ADDED
)

// A static library and a header of another time would disagree silently; this is the one place to notice it.
func init() {
	oldest, newest := uint32(C.mcp_select_abi_min_compatible()), uint32(C.mcp_select_abi_version())
	if ABIVersion < oldest || ABIVersion > newest {
		panic(fmt.Sprintf("mcpselect: built on ABI %d, but the library serves %d to %d; run `make go`", ABIVersion, oldest, newest))
	}
}

// Version is that of the library that is linked.
func Version() string {
	var length C.size_t
	text := C.mcp_select_version(&length)
	return string(view(text, length))
}

// Error is an error object of the library, copied out.
type Error struct {
	Status  int32
	Message string
	JSON    []byte
}

// failure copies an error object and frees it. A NULL object goes with statuses that the library has no room to explain.
func failure(status C.int32_t, object *C.mcp_select_error) *Error {
	if object == nil {
		return &Error{Status: int32(status)}
	}
	var length C.size_t
	text := C.mcp_select_error_message(object, &length)
	failed := &Error{Status: int32(status), Message: string(view(text, length))}
	json := C.mcp_select_error_json(object, &length)
	failed.JSON = copied(json, length)
	C.mcp_select_error_free(object)
	return failed
}

// view lends bytes of the library. They must be copied before the object that they belong to is used again.
func view(bytes *C.uint8_t, length C.size_t) []byte {
	return unsafe.Slice((*byte)(bytes), int(length))
}

func copied(bytes *C.uint8_t, length C.size_t) []byte {
	return append(make([]byte, 0, int(length)), view(bytes, length)...)
}

func text(s string) (*C.uint8_t, C.size_t) {
	return (*C.uint8_t)(unsafe.StringData(s)), C.size_t(len(s))
}

func data(b []byte) (*C.uint8_t, C.size_t) {
	return (*C.uint8_t)(unsafe.SliceData(b)), C.size_t(len(b))
}

// report copies a text object and frees it.
func report(object *C.mcp_select_text) []byte {
	var length C.size_t
	bytes := C.mcp_select_text_bytes(object, &length)
	out := copied(bytes, length)
	C.mcp_select_text_free(object)
	return out
}

// Engine is a policy in force. It is freed when nobody can reach it any more.
type Engine struct{ pointer *C.mcp_select_engine }

func engine(pointer *C.mcp_select_engine) *Engine {
	e := &Engine{pointer}
	runtime.AddCleanup(e, func(pointer *C.mcp_select_engine) { C.mcp_select_engine_free(pointer) }, pointer)
	return e
}

func NewEngine(policy []byte) (*Engine, *Error) {
	var out *C.mcp_select_engine
	var err *C.mcp_select_error
	bytes, length := data(policy)
	status := C.mcp_select_engine_new(bytes, length, &out, &err)
	runtime.KeepAlive(policy)
	if status < 0 {
		return nil, failure(status, err)
	}
	return engine(out), nil
}

func BuiltinEngine(name string) (*Engine, *Error) {
	var out *C.mcp_select_engine
	var err *C.mcp_select_error
	bytes, length := text(name)
	status := C.mcp_select_engine_builtin(bytes, length, &out, &err)
	runtime.KeepAlive(name)
	if status < 0 {
		return nil, failure(status, err)
	}
	return engine(out), nil
}

func OpenEngine(path string) (*Engine, *Error) {
	var out *C.mcp_select_engine
	var err *C.mcp_select_error
	bytes, length := text(path)
	status := C.mcp_select_engine_open(bytes, length, &out, &err)
	runtime.KeepAlive(path)
	if status < 0 {
		return nil, failure(status, err)
	}
	return engine(out), nil
}

func (e *Engine) Reload() (changed bool, failed *Error) {
	var err *C.mcp_select_error
	status := C.mcp_select_engine_reload(e.pointer, &err)
	runtime.KeepAlive(e)
	if status < 0 {
		return false, failure(status, err)
	}
	return status == Changed, nil
}

func (e *Engine) Replace(policy []byte) *Error {
	var err *C.mcp_select_error
	bytes, length := data(policy)
	status := C.mcp_select_engine_replace(e.pointer, bytes, length, &err)
	runtime.KeepAlive(policy)
	runtime.KeepAlive(e)
	if status < 0 {
		return failure(status, err)
	}
	return nil
}

func (e *Engine) SetAutoReload(milliseconds uint32) {
	C.mcp_select_engine_auto_reload(e.pointer, C.uint32_t(milliseconds))
	runtime.KeepAlive(e)
}

func (e *Engine) Generation() uint64 {
	generation := uint64(C.mcp_select_engine_generation(e.pointer))
	runtime.KeepAlive(e)
	return generation
}

func (e *Engine) Diagnostics() ([]byte, *Error) {
	var out *C.mcp_select_text
	var err *C.mcp_select_error
	status := C.mcp_select_engine_diagnostics(e.pointer, &out, &err)
	runtime.KeepAlive(e)
	if status < 0 {
		return nil, failure(status, err)
	}
	return report(out), nil
}

func (e *Engine) Table(r *Request) ([]byte, *Error) {
	var out *C.mcp_select_text
	var err *C.mcp_select_error
	status := C.mcp_select_engine_table(e.pointer, r.pointer, &out, &err)
	runtime.KeepAlive(r)
	runtime.KeepAlive(e)
	if status < 0 {
		return nil, failure(status, err)
	}
	return report(out), nil
}

// Request is what is known before a result comes. The setters are for the one who made it, before it is shared. It is
// freed when nobody can reach it any more.
type Request struct{ pointer *C.mcp_select_request }

func request(pointer *C.mcp_select_request) *Request {
	r := &Request{pointer}
	runtime.AddCleanup(r, func(pointer *C.mcp_select_request) { C.mcp_select_request_free(pointer) }, pointer)
	return r
}

func NewRequest(server, tool, audience string) (*Request, *Error) {
	var out *C.mcp_select_request
	var err *C.mcp_select_error
	serverBytes, serverLength := text(server)
	toolBytes, toolLength := text(tool)
	audienceBytes, audienceLength := text(audience)
	status := C.mcp_select_request_new(serverBytes, serverLength, toolBytes, toolLength, audienceBytes, audienceLength, &out, &err)
	runtime.KeepAlive(server)
	runtime.KeepAlive(tool)
	runtime.KeepAlive(audience)
	if status < 0 {
		return nil, failure(status, err)
	}
	return request(out), nil
}

// Clone makes a second request of the same route for another audience.
func (r *Request) Clone(audience string) (*Request, *Error) {
	var out *C.mcp_select_request
	var err *C.mcp_select_error
	bytes, length := text(audience)
	status := C.mcp_select_request_clone(r.pointer, bytes, length, &out, &err)
	runtime.KeepAlive(audience)
	runtime.KeepAlive(r)
	if status < 0 {
		return nil, failure(status, err)
	}
	return request(out), nil
}

func (r *Request) SetRevision(revision string) *Error {
	var err *C.mcp_select_error
	bytes, length := text(revision)
	status := C.mcp_select_request_set_revision(r.pointer, bytes, length, &err)
	runtime.KeepAlive(revision)
	runtime.KeepAlive(r)
	if status < 0 {
		return failure(status, err)
	}
	return nil
}

func (r *Request) SetToolDefinition(tool []byte) *Error {
	var err *C.mcp_select_error
	bytes, length := data(tool)
	status := C.mcp_select_request_set_tool_definition(r.pointer, bytes, length, &err)
	runtime.KeepAlive(tool)
	runtime.KeepAlive(r)
	if status < 0 {
		return failure(status, err)
	}
	return nil
}

func (r *Request) AddExtension(extension string) *Error {
	var err *C.mcp_select_error
	bytes, length := text(extension)
	status := C.mcp_select_request_add_extension(r.pointer, bytes, length, &err)
	runtime.KeepAlive(extension)
	runtime.KeepAlive(r)
	if status < 0 {
		return failure(status, err)
	}
	return nil
}

func (r *Request) SetLabel(name, value string) *Error {
	var err *C.mcp_select_error
	nameBytes, nameLength := text(name)
	valueBytes, valueLength := text(value)
	status := C.mcp_select_request_set_label(r.pointer, nameBytes, nameLength, valueBytes, valueLength, &err)
	runtime.KeepAlive(name)
	runtime.KeepAlive(value)
	runtime.KeepAlive(r)
	if status < 0 {
		return failure(status, err)
	}
	return nil
}

// SetInput takes InputResult or InputSampling.
func (r *Request) SetInput(input int32) *Error {
	status := C.mcp_select_request_set_input(r.pointer, C.int32_t(input))
	runtime.KeepAlive(r)
	if status < 0 {
		return failure(status, nil)
	}
	return nil
}

// Selection is the buffer of one call at a time. It is freed when nobody can reach it any more.
type Selection struct {
	pointer *C.mcp_select_selection
	cleanup runtime.Cleanup
}

func NewSelection() *Selection {
	var out *C.mcp_select_selection
	if status := C.mcp_select_selection_new(&out); status < 0 {
		// Only a NULL is refused, and none was passed.
		panic(fmt.Sprintf("mcpselect: no selection: status %d", status))
	}
	s := &Selection{pointer: out}
	s.cleanup = runtime.AddCleanup(s, func(pointer *C.mcp_select_selection) { C.mcp_select_selection_free(pointer) }, out)
	return s
}

// Outcome is what a call came to.
type Outcome struct {
	Status     int32
	Lane       int32
	Outcome    int32
	IsError    bool
	Generation uint64
	// JSON belongs to the selection: valid until its next use. Nil unless Status is Changed.
	JSON []byte
}

// Result selects from a result. The selection holds what came of it until its next use.
func (s *Selection) Result(e *Engine, r *Request, result []byte) (Outcome, *Error) {
	var out C.struct_outcome
	bytes, length := data(result)
	status := C.select_result(e.pointer, r.pointer, bytes, length, s.pointer, &out)
	runtime.KeepAlive(result)
	runtime.KeepAlive(s)
	runtime.KeepAlive(r)
	runtime.KeepAlive(e)
	if status < 0 {
		return Outcome{Status: int32(status)}, failure(status, out.error)
	}
	outcome := Outcome{
		Status:     int32(status),
		Lane:       int32(out.lane),
		Outcome:    int32(out.outcome),
		IsError:    out.is_error == 1,
		Generation: uint64(out.generation),
	}
	if status == Changed {
		outcome.JSON = view(out.json, out.json_len)
	}
	return outcome, nil
}

// Text is every text that the reader sees. result must be the bytes of the call.
func (s *Selection) Text(result []byte, separator string) (string, *Error) {
	var out *C.uint8_t
	var outLength C.size_t
	bytes, length := data(result)
	separatorBytes, separatorLength := text(separator)
	status := C.mcp_select_selection_text(s.pointer, bytes, length, separatorBytes, separatorLength, &out, &outLength)
	runtime.KeepAlive(result)
	runtime.KeepAlive(separator)
	if status < 0 {
		return "", &Error{Status: int32(status), Message: "bad-argument: separator is no UTF-8"}
	}
	joined := string(view(out, outLength))
	runtime.KeepAlive(s)
	return joined, nil
}

// Decision is the decision record as JSON, copied out; nil when the selection is empty.
func (s *Selection) Decision() []byte {
	var length C.size_t
	bytes := C.mcp_select_selection_decision(s.pointer, &length)
	if bytes == nil {
		return nil
	}
	record := copied(bytes, length)
	runtime.KeepAlive(s)
	return record
}

// Blocks calls found for each block of the output; source is -1 when there is none.
func (s *Selection) Blocks(found func(kind int32, source int64)) {
	count := int(C.mcp_select_selection_block_count(s.pointer))
	for index := range count {
		at := C.size_t(index)
		found(int32(C.mcp_select_selection_block_kind(s.pointer, at)), int64(C.mcp_select_selection_block_source(s.pointer, at)))
	}
	runtime.KeepAlive(s)
}

// Free frees a selection at once; nobody may use it after that.
func (s *Selection) Free() {
	s.cleanup.Stop()
	C.mcp_select_selection_free(s.pointer)
	s.pointer = nil
	runtime.KeepAlive(s)
}
