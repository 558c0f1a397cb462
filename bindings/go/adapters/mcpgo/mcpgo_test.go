package mcpgo_test

// The adapter between a real client and a real server, which is another process and is spoken to over stdio.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
	"github.com/mcp-select/mcp-select/bindings/go/adapters/mcpgo"
)

const asServer = "MCP_SELECT_TEST_SERVER"

// TestMain makes this program the server when it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	if err := server.ServeStdio(invoices()); err != nil {
		os.Exit(1)
	}
}

// Numbers that float64 cannot hold, and spellings that it does not keep.
const data = `{"invoices":[{"number":"INV-1041","amount":480.50},{"number":"INV-1057","amount":1299.00,"id":12345678901234567890}]}`

func invoices() *server.MCPServer {
	s := server.NewMCPServer("invoices", "1.0.0", server.WithToolCapabilities(true))
	add := func(name string, result *mcp.CallToolResult, options ...mcp.ToolOption) {
		s.AddTool(mcp.NewTool(name, options...), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return result, nil
		})
	}
	schema := mcp.WithRawOutputSchema(json.RawMessage(`{"type":"object"}`))
	add("duplicate", mcp.NewToolResultStructured(json.RawMessage(data), data), schema)
	add("summary", mcp.NewToolResultStructured(json.RawMessage(data), "Found 2 open invoices."), schema)
	forUser := mcp.TextContent{Type: "text", Text: "Ask us until 6 pm!"}
	forUser.Annotations = &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}}
	add("hidden", &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent("2 open"), forUser}})
	add("plain", mcp.NewToolResultText("<b>7 & 8</b>"))
	add("failing", mcp.NewToolResultError("no such customer"))
	return s
}

func connect(t *testing.T, wrap func(transport.Interface) transport.Interface, command string, args ...string) *client.Client {
	t.Helper()
	c := client.NewClient(wrap(transport.NewStdio(command, append(os.Environ(), asServer+"=1"), args...)))
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	var request mcp.InitializeRequest
	request.Params.ProtocolVersion = "2025-11-25"
	request.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1.0.0"}
	if _, err := c.Initialize(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	return c
}

func bare(inner transport.Interface) transport.Interface { return inner }

func selecting(engine *mcpselect.Engine, options mcpgo.Options) func(transport.Interface) transport.Interface {
	return func(inner transport.Interface) transport.Interface { return mcpgo.Transport(inner, engine, options) }
}

func builtin(t *testing.T, name string) *mcpselect.Engine {
	t.Helper()
	engine, err := mcpselect.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

func call(ctx context.Context, c *client.Client, tool string, arguments any) (*mcp.CallToolResult, error) {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, arguments
	return c.CallTool(ctx, request)
}

// seen is a result as the model reads it: its texts, and the structured value beside them.
func seen(t *testing.T, ctx context.Context, c *client.Client, tool string) (texts []string, structured string) {
	t.Helper()
	result, err := call(ctx, c, tool, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range result.Content {
		text, ok := block.(mcp.TextContent)
		if !ok {
			t.Fatalf("%T", block)
		}
		texts = append(texts, text.Text)
	}
	return texts, string(result.RawStructuredContent)
}

func TestWithAndWithoutTheAdapter(t *testing.T) {
	without := connect(t, bare, os.Args[0])
	with := connect(t, selecting(builtin(t, "lossless"), mcpgo.Options{Server: "billing"}), os.Args[0])
	for _, test := range []struct {
		tool    string
		without []string
		twice   string
		with    []string
	}{
		{"duplicate", []string{data}, data, []string{data}},
		{"summary", []string{"Found 2 open invoices."}, data, []string{"Found 2 open invoices.", data}},
		{"hidden", []string{"2 open", "Ask us until 6 pm!"}, "", []string{"2 open"}},
		{"plain", []string{"<b>7 & 8</b>"}, "", []string{"<b>7 & 8</b>"}},
		{"failing", []string{"no such customer"}, "", []string{"no such customer"}},
	} {
		t.Run(test.tool, func(t *testing.T) {
			texts, structured := seen(t, t.Context(), without, test.tool)
			if !same(texts, test.without) || structured != test.twice {
				t.Errorf("without: %q, structured value %s", texts, structured)
			}
			texts, structured = seen(t, t.Context(), with, test.tool)
			if !same(texts, test.with) || structured != "" {
				t.Errorf("with: %q, structured value %s", texts, structured)
			}
		})
	}
	if result, err := call(t.Context(), with, "failing", nil); err != nil || !result.IsError {
		t.Errorf("%+v %v", result, err)
	}
	// Errors of the protocol are the client's.
	if _, err := call(t.Context(), with, "no such tool", nil); err == nil || errors.As(err, new(*mcpselect.Error)) {
		t.Error(err)
	}
}

func same(texts, expected []string) bool {
	return strings.Join(texts, "\x00") == strings.Join(expected, "\x00")
}

func TestAnotherAudience(t *testing.T) {
	c := connect(t, selecting(builtin(t, "sep-2200"), mcpgo.Options{}), os.Args[0])
	if texts, _ := seen(t, mcpgo.WithAudience(t.Context(), "user"), c, "hidden"); !same(texts, []string{"2 open", "Ask us until 6 pm!"}) {
		t.Errorf("user: %q", texts)
	}
	if texts, structured := seen(t, mcpgo.WithAudience(t.Context(), "code"), c, "summary"); len(texts) != 0 || structured != data {
		t.Errorf("code: %q %s", texts, structured)
	}
	_, err := call(mcpgo.WithAudience(t.Context(), "nobody"), c, "plain", nil)
	if !errors.Is(err, mcpselect.ErrAudience) {
		t.Errorf("nobody: %v", err)
	}
}

// What the policy knows of the request: the host's names, the agreed revision, the definition out of tools/list.
func TestWhatThePolicyIsTold(t *testing.T) {
	engine, err := mcpselect.New([]byte(`
version = 1
extends = "sep-2200"

[[rules]]
name  = "told"
when  = { server = "billing", tool = "summary", label.ring = "canary", output_schema = true }
order = ["structured-only"]
`))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	var told []string
	c := connect(t, selecting(engine, mcpgo.Options{
		Server: "billing", Labels: map[string]string{"ring": "canary"},
		Observe: func(_ context.Context, tool string, original json.RawMessage, selection mcpselect.Selection) {
			told = append(told, fmt.Sprint(tool, string(original), string(selection.Decision)))
		},
	}), os.Args[0])
	if texts, _ := seen(t, t.Context(), c, "summary"); !same(texts, []string{"Found 2 open invoices."}) {
		t.Errorf("before tools/list: %q", texts)
	}
	if _, err := c.ListTools(t.Context(), mcp.ListToolsRequest{}); err != nil {
		t.Fatal(err)
	}
	if texts, _ := seen(t, t.Context(), c, "summary"); !same(texts, []string{data}) {
		t.Errorf("after tools/list: %q", texts)
	}
	if len(told) != 2 || !strings.Contains(told[1], "structuredContent") || !strings.Contains(told[1], `"2025-11-25"`) {
		t.Errorf("%q", told)
	}
}

func TestARefusedResultIsAnError(t *testing.T) {
	engine := builtin(t, "sep-2200")
	engine.Close()
	c := connect(t, selecting(engine, mcpgo.Options{}), os.Args[0])
	if result, err := call(t.Context(), c, "plain", nil); result != nil || !errors.Is(err, mcpselect.ErrClosed) {
		t.Errorf("%+v %v", result, err)
	}
}

// A client asks its transport what it can do.
func TestTheTransportCanDoWhatItCould(t *testing.T) {
	engine := builtin(t, "sep-2200")
	streamable, err := transport.NewStreamableHTTP("http://127.0.0.1:1/")
	if err != nil {
		t.Fatal(err)
	}
	sse, err := transport.NewSSE("http://127.0.0.1:1/")
	if err != nil {
		t.Fatal(err)
	}
	for _, inner := range []transport.Interface{
		transport.NewStdio("none", nil), streamable, sse, transport.NewInProcessTransport(invoices()),
	} {
		outer := mcpgo.Transport(inner, engine, mcpgo.Options{})
		_, bidirectional := inner.(transport.BidirectionalInterface)
		_, http := inner.(transport.HTTPConnection)
		_, outerBidirectional := outer.(transport.BidirectionalInterface)
		_, outerHTTP := outer.(transport.HTTPConnection)
		_, stderr := client.GetStderr(client.NewClient(inner))
		_, outerStderr := client.GetStderr(client.NewClient(outer))
		if bidirectional != outerBidirectional || http != outerHTTP || stderr != outerStderr {
			t.Errorf("%T: bidirectional %v %v, HTTP %v %v, stderr %v %v", inner,
				bidirectional, outerBidirectional, http, outerHTTP, stderr, outerStderr)
		}
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	c := connect(t, selecting(builtin(t, "lossless"), mcpgo.Options{Server: "billing"}), os.Args[0])
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				result, err := call(t.Context(), c, "hidden", nil)
				if err != nil || len(result.Content) != 1 {
					t.Errorf("%+v %v", result, err)
					return
				}
				if _, err := c.ListTools(t.Context(), mcp.ListToolsRequest{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// MCP_SELECT_EVERYTHING is the command of a server that this project did not write: @modelcontextprotocol/server-everything.
func TestEverything(t *testing.T) {
	words := strings.Fields(os.Getenv("MCP_SELECT_EVERYTHING"))
	if len(words) == 0 {
		t.Skip("skipped: MCP_SELECT_EVERYTHING is not set, such as to `npx -y @modelcontextprotocol/server-everything`")
	}
	with := connect(t, selecting(builtin(t, "lossless"), mcpgo.Options{Server: "everything"}), words[0], words[1:]...)
	without := connect(t, bare, words[0], words[1:]...)
	weather := map[string]any{"location": "New York"}
	before, err := call(t.Context(), without, "get-structured-content", weather)
	if err != nil {
		t.Fatal(err)
	}
	after, err := call(t.Context(), with, "get-structured-content", weather)
	if err != nil {
		t.Fatal(err)
	}
	if before.StructuredContent == nil || after.StructuredContent != nil || len(after.Content) != len(before.Content) {
		t.Errorf("%+v, then %+v", before, after)
	}
	message := map[string]any{"messageType": "success", "includeImage": false}
	if before, err = call(t.Context(), without, "get-annotated-message", message); err != nil {
		t.Fatal(err)
	}
	if after, err = call(t.Context(), with, "get-annotated-message", message); err != nil {
		t.Fatal(err)
	}
	text, ok := before.Content[0].(mcp.TextContent)
	if !ok || text.Annotations == nil || len(text.Annotations.Audience) != 1 || text.Annotations.Audience[0] != mcp.RoleUser {
		t.Errorf("%+v", before)
	}
	for _, block := range after.Content {
		if shown, ok := block.(mcp.TextContent); ok && shown.Text == text.Text {
			t.Errorf("%+v", after)
		}
	}
}
