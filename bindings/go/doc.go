// Package mcpselect decides, by a policy file, what each audience sees of an MCP tool result.
//
// A CallToolResult says things up to three times: in content (blocks), in structuredContent (JSON) and in _meta. The
// specification does not say which of them a model gets. This package makes the answer policy, in a TOML file:
//
//	engine, err := mcpselect.Open("policy.toml") // once; reloaded when the file changes
//	...
//	request := mcpselect.Request{Server: "github", Tool: "list_issues", Audience: "model"}
//	selection, err := engine.Select(ctx, request, result) // result: the bytes the server sent
//	if err != nil {
//		return err // refused: show nothing of it
//	}
//	if selection.Status == mcpselect.NotForReaders {
//		return driver.Continue(result) // input_required or a task: for the protocol driver, shown to nobody
//	}
//	model.Read(selection.JSON)
//
// # Bytes in, bytes out
//
// Results are json.RawMessage, and should be what came over the wire: a result that was decoded and encoded again has
// lost the spelling of its numbers (1.0, 12345678901234567890) and the order of its members already.
//
// When nothing changes, Selection.JSON is the caller's own slice. Else it is a slice of its own: nothing in a Selection
// belongs to the engine, so it may be kept, changed and handed on without a thought. What a caller wants beside the JSON
// is named with the call ([WithText], [WithBlocks], [WithDecision]), since the native buffer goes back into a pool when
// the call returns.
//
// # Threads
//
// An [Engine] and a [PreparedRequest] may be used by any number of goroutines. A call takes no lock, and is not
// interrupted by its context: its time is linear in the size of the result, and the context is looked at before it starts.
//
// # The native library
//
// The engine is a static library that cgo links in: run `make go` at the root of the project once, and again after every
// change of the library. The adapters for client SDKs are modules of their own below adapters.
package mcpselect
