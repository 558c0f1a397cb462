// Package mcpgo puts mcp-select into clients of mark3labs/mcp-go, between the client and its transport:
//
//	stdio := transport.NewStdio("github-mcp-server", nil, "stdio")
//	c := client.NewClient(mcpgo.Transport(stdio, engine, mcpgo.Options{Server: "github"}))
//	...
//	result, err := c.CallTool(ctx, request) // what the model sees
//
// The engine gets the bytes that came over the wire, so numbers keep their spelling and members their order.
//
// Only tools/call is touched. The result of a task (tasks/result) and the blocks of sampling messages are not: select from
// those with the engine.
package mcpgo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
)

// Options say what only the host knows.
type Options struct {
	// Server is the host's own id of the connection, never the name that a server gives itself.
	Server string
	// Audience is who reads the results; empty: model. [WithAudience] sets it for one call.
	Audience string
	// Labels are for `when = { label.NAME = PATTERN }` in a policy.
	Labels map[string]string
	// Extensions are those that were negotiated.
	Extensions []string
	// Observe, if set, is told of each selection: with the result as it came, for a view or a log, and with the decision
	// record. It may be called by several goroutines at once, and must not change the result.
	Observe func(ctx context.Context, tool string, original json.RawMessage, selection mcpselect.Selection)
}

type audienceKey struct{}

// WithAudience has the calls of a context read by another audience.
func WithAudience(ctx context.Context, audience string) context.Context {
	return context.WithValue(ctx, audienceKey{}, audience)
}

// Transport selects from the result of each tools/call that comes through inner. The agreed protocol revision and the tool
// definitions are learnt from what passes.
//
// A result that the engine refuses makes the call fail: nothing of it is shown. Results for the protocol driver
// (input_required, tasks) pass as they are.
func Transport(inner transport.Interface, engine *mcpselect.Engine, options Options) transport.Interface {
	selecting := &selecting{Interface: inner, engine: engine, options: options, definitions: map[string]json.RawMessage{}}
	// A client asks its transport what it can do, so this one must be able to do no more and no less.
	_, isHTTP := inner.(transport.HTTPConnection)
	_, isBidirectional := inner.(transport.BidirectionalInterface)
	_, hasStderr := inner.(stderrer)
	switch {
	case isHTTP && isBidirectional:
		return bidirectionalHTTP{http{selecting}}
	case isHTTP:
		return http{selecting}
	case isBidirectional && hasStderr:
		return command{bidirectional{selecting}}
	case isBidirectional:
		return bidirectional{selecting}
	case hasStderr:
		return stderr{selecting}
	}
	return selecting
}

// What a client looks for in a transport besides transport.Interface.
type (
	stderrer             interface{ Stderr() io.Reader }
	connectionLostSetter interface{ SetConnectionLostHandler(func(error)) }
	legacyRequirer       interface{ RequiresLegacyProtocol() bool }
)

type (
	bidirectional     struct{ *selecting }
	stderr            struct{ *selecting }
	command           struct{ bidirectional }
	http              struct{ *selecting }
	bidirectionalHTTP struct{ http }
)

func (t bidirectional) SetRequestHandler(handler transport.RequestHandler) {
	t.Interface.(transport.BidirectionalInterface).SetRequestHandler(handler)
}

func (t bidirectionalHTTP) SetRequestHandler(handler transport.RequestHandler) {
	t.Interface.(transport.BidirectionalInterface).SetRequestHandler(handler)
}

func (t http) SetProtocolVersion(version string) {
	t.Interface.(transport.HTTPConnection).SetProtocolVersion(version)
}

func (t stderr) Stderr() io.Reader  { return t.Interface.(stderrer).Stderr() }
func (t command) Stderr() io.Reader { return t.Interface.(stderrer).Stderr() }

// SetConnectionLostHandler does nothing when the transport cannot tell, as the client does.
func (t *selecting) SetConnectionLostHandler(handler func(error)) {
	if setter, ok := t.Interface.(connectionLostSetter); ok {
		setter.SetConnectionLostHandler(handler)
	}
}

// RequiresLegacyProtocol is false when the transport says nothing, as for the client.
func (t *selecting) RequiresLegacyProtocol() bool {
	legacy, ok := t.Interface.(legacyRequirer)
	return ok && legacy.RequiresLegacyProtocol()
}

// selecting is a transport that selects.
type selecting struct {
	transport.Interface
	engine  *mcpselect.Engine
	options Options

	mutex       sync.RWMutex
	revision    string
	definitions map[string]json.RawMessage
}

// Unwrap is the transport below.
func (t *selecting) Unwrap() transport.Interface { return t.Interface }

func (t *selecting) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := t.Interface.SendRequest(ctx, request)
	if err != nil || response == nil || response.Error != nil {
		return response, err
	}
	switch request.Method {
	case string(mcp.MethodInitialize):
		t.learnRevision(response.Result)
	case string(mcp.MethodToolsList):
		t.learnDefinitions(response.Result)
	case string(mcp.MethodToolsCall):
		return t.selected(ctx, request.Params, response)
	}
	return response, nil
}

// What cannot be read is the client's to complain of.
func (t *selecting) learnRevision(result json.RawMessage) {
	var agreed struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(result, &agreed) == nil {
		t.mutex.Lock()
		defer t.mutex.Unlock()
		t.revision = agreed.ProtocolVersion
	}
}

func (t *selecting) learnDefinitions(result json.RawMessage) {
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(result, &list) != nil {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, definition := range list.Tools {
		var tool struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(definition, &tool) == nil {
			t.definitions[tool.Name] = definition
		}
	}
}

// called reads the parameters of tools/call, as the protocols before and since 2026-07-28 have them.
func called(params any) (tool, revision string) {
	switch params := params.(type) {
	case mcp.CallToolParams:
		return params.Name, ""
	case map[string]json.RawMessage:
		var meta map[string]json.RawMessage
		_ = json.Unmarshal(params["name"], &tool)
		_ = json.Unmarshal(params["_meta"], &meta)
		_ = json.Unmarshal(meta[mcp.MetaKeyProtocolVersion], &revision)
		return tool, revision
	}
	encoded, err := json.Marshal(params)
	var named struct {
		Name string `json:"name"`
	}
	if err == nil {
		_ = json.Unmarshal(encoded, &named)
	}
	return named.Name, ""
}

func (t *selecting) request(ctx context.Context, params any) mcpselect.Request {
	tool, revision := called(params)
	t.mutex.RLock()
	defer t.mutex.RUnlock()
	request := mcpselect.Request{
		Server: t.options.Server, Tool: tool, Audience: t.options.Audience, Revision: t.revision,
		ToolDefinition: t.definitions[tool], Labels: t.options.Labels, Extensions: t.options.Extensions,
	}
	if revision != "" {
		request.Revision = revision
	}
	if audience, ok := ctx.Value(audienceKey{}).(string); ok {
		request.Audience = audience
	}
	return request
}

func (t *selecting) selected(ctx context.Context, params any, response *transport.JSONRPCResponse) (*transport.JSONRPCResponse, error) {
	request := t.request(ctx, params)
	var options []mcpselect.Option
	if t.options.Observe != nil {
		options = append(options, mcpselect.WithDecision())
	}
	selection, err := t.engine.Select(ctx, request, response.Result, options...)
	if err != nil {
		return nil, fmt.Errorf("mcpgo: the result of tool %q is refused: %w", request.Tool, err)
	}
	if t.options.Observe != nil {
		t.options.Observe(ctx, request.Tool, response.Result, selection)
	}
	if selection.Changed() {
		seen := *response
		seen.Result = selection.JSON
		return &seen, nil
	}
	return response, nil
}
