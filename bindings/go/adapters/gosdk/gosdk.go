// Package gosdk puts mcp-select into clients of the official Go SDK, as middleware:
//
//	client := mcp.NewClient(implementation, nil)
//	client.AddSendingMiddleware(gosdk.Middleware(engine, gosdk.Options{Server: "github"}))
//	session, err := client.Connect(ctx, transport, nil)
//	result, err := session.CallTool(ctx, params) // what the model sees
//
// The SDK hands decoded results to middleware, and they are encoded again for the engine. What decoding loses is lost
// before: numbers in structuredContent are float64, so integers beyond 2^53 and spellings such as 1.0 do not survive. A
// host that needs those reads the wire itself and calls the engine with the bytes.
//
// Only tools/call is touched. The result of a task (tasks/result) and the blocks of sampling messages are not: select from
// those with the engine.
package gosdk

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"weak"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options say what only the host knows.
type Options struct {
	// Server is the host's own id of the connection, never the name that a server gives itself. A client with several
	// sessions sets ServerOf instead.
	Server   string
	ServerOf func(*mcp.ClientSession) string
	// Audience is who reads the results; empty: model. [WithAudience] sets it for one call.
	Audience string
	// Labels are for `when = { label.NAME = PATTERN }` in a policy.
	Labels map[string]string
	// Extensions are those that were negotiated.
	Extensions []string
	// Observe, if set, is told of each selection: with the result as it came, for a view or a log, and with the decision
	// record. It may be called by several goroutines at once, and must not change the result.
	Observe func(ctx context.Context, tool string, original *mcp.CallToolResult, selection mcpselect.Selection)
}

type audienceKey struct{}

// WithAudience has the calls of a context read by another audience.
func WithAudience(ctx context.Context, audience string) context.Context {
	return context.WithValue(ctx, audienceKey{}, audience)
}

// Middleware selects from the result of each tools/call, for [mcp.Client.AddSendingMiddleware]. Tool definitions are
// learnt from the tools/list results that pass.
//
// A result that the engine refuses makes the call fail: nothing of it is shown. Results for the protocol driver
// (input_required, tasks) pass as they are.
func Middleware(engine *mcpselect.Engine, options Options) mcp.Middleware {
	adapter := &adapter{engine: engine, options: options}
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, request)
			if err != nil {
				return result, err
			}
			session, ok := request.GetSession().(*mcp.ClientSession)
			if !ok {
				return result, nil
			}
			switch result := result.(type) {
			case *mcp.ListToolsResult:
				return result, adapter.learn(session, result.Tools)
			case *mcp.CallToolResult:
				if params, ok := request.GetParams().(*mcp.CallToolParams); ok {
					return adapter.selected(ctx, session, params.Name, result)
				}
			}
			return result, nil
		}
	}
}

type adapter struct {
	engine  *mcpselect.Engine
	options Options
	// definitions holds what each session said of its tools: toolOfSession to json.RawMessage.
	definitions sync.Map
	// sessions are those that definitions knows of.
	sessions sync.Map
}

type toolOfSession struct {
	session weak.Pointer[mcp.ClientSession]
	tool    string
}

func (a *adapter) learn(session *mcp.ClientSession, tools []*mcp.Tool) error {
	key := weak.Make(session)
	if _, known := a.sessions.LoadOrStore(key, true); !known {
		runtime.AddCleanup(session, a.forget, key)
	}
	for _, tool := range tools {
		definition, err := json.Marshal(tool)
		if err != nil {
			return fmt.Errorf("gosdk: the definition of tool %q: %w", tool.Name, err)
		}
		a.definitions.Store(toolOfSession{key, tool.Name}, json.RawMessage(definition))
	}
	return nil
}

func (a *adapter) forget(session weak.Pointer[mcp.ClientSession]) {
	a.sessions.Delete(session)
	a.definitions.Range(func(key, _ any) bool {
		if key.(toolOfSession).session == session {
			a.definitions.Delete(key)
		}
		return true
	})
}

func (a *adapter) request(ctx context.Context, session *mcp.ClientSession, tool string) mcpselect.Request {
	request := mcpselect.Request{
		Server: a.options.Server, Tool: tool, Audience: a.options.Audience, Labels: a.options.Labels, Extensions: a.options.Extensions,
	}
	if a.options.ServerOf != nil {
		request.Server = a.options.ServerOf(session)
	}
	if audience, ok := ctx.Value(audienceKey{}).(string); ok {
		request.Audience = audience
	}
	if agreed := session.InitializeResult(); agreed != nil {
		request.Revision = agreed.ProtocolVersion
	}
	if definition, ok := a.definitions.Load(toolOfSession{weak.Make(session), tool}); ok {
		request.ToolDefinition = definition.(json.RawMessage)
	}
	return request
}

func (a *adapter) selected(ctx context.Context, session *mcp.ClientSession, tool string, original *mcp.CallToolResult) (mcp.Result, error) {
	encoded, err := json.Marshal(original)
	if err != nil {
		return nil, fmt.Errorf("gosdk: the result of tool %q: %w", tool, err)
	}
	var options []mcpselect.Option
	if a.options.Observe != nil {
		options = append(options, mcpselect.WithDecision())
	}
	selection, err := a.engine.Select(ctx, a.request(ctx, session, tool), encoded, options...)
	if err != nil {
		return nil, fmt.Errorf("gosdk: the result of tool %q is refused: %w", tool, err)
	}
	if a.options.Observe != nil {
		a.options.Observe(ctx, tool, original, selection)
	}
	if !selection.Changed() {
		return original, nil
	}
	seen := new(mcp.CallToolResult)
	if err := json.Unmarshal(selection.JSON, seen); err != nil {
		return nil, fmt.Errorf("gosdk: what is selected of tool %q: %w", tool, err)
	}
	return seen, nil
}
