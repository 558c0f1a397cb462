package gosdk_test

// The adapter between a real client and a real server, which is another process and is spoken to over stdio.

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
	"github.com/mcp-select/mcp-select/bindings/go/adapters/gosdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const asServer = "MCP_SELECT_TEST_SERVER"

// TestMain makes this program the server when it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	if err := server().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

type invoices struct {
	Invoices []invoice `json:"invoices"`
}

type invoice struct {
	Number string  `json:"number"`
	Amount float64 `json:"amount"`
}

var open = invoices{[]invoice{{"INV-1041", 480.5}, {"INV-1057", 1299}}}

func server() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "invoices", Version: "1.0.0"}, nil)
	type none struct{}
	// The SDK itself adds the text that repeats the value.
	mcp.AddTool(server, &mcp.Tool{Name: "duplicate"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, invoices, error) {
		return nil, open, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "summary"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, invoices, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Found 2 open invoices."}}}, open, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "hidden"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		forUser := &mcp.Annotations{Audience: []mcp.Role{"user"}}
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "2 open"}, &mcp.TextContent{Text: "Ask us until 6 pm!", Annotations: forUser},
		}}, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "plain"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "<b>7 & 8</b>"}}}, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "failing"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("no such customer")
	})
	return server
}

func connect(t *testing.T, command *exec.Cmd, middleware ...mcp.Middleware) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil)
	client.AddSendingMiddleware(middleware...)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func self() *exec.Cmd {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), asServer+"=1")
	return command
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

// seen is a result as the model reads it: its texts, and whether there is a structured value beside them.
func seen(t *testing.T, session *mcp.ClientSession, ctx context.Context, tool string) (texts []string, structured bool) {
	t.Helper()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool})
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range result.Content {
		text, ok := block.(*mcp.TextContent)
		if !ok {
			t.Fatalf("%T", block)
		}
		texts = append(texts, text.Text)
	}
	return texts, result.StructuredContent != nil
}

func TestWithAndWithoutTheAdapter(t *testing.T) {
	without := connect(t, self())
	with := connect(t, self(), gosdk.Middleware(builtin(t, "lossless"), gosdk.Options{Server: "billing"}))
	const data = `{"invoices":[{"amount":480.5,"number":"INV-1041"},{"amount":1299,"number":"INV-1057"}]}`
	for _, test := range []struct {
		tool    string
		without []string
		twice   bool
		with    []string
	}{
		{"duplicate", []string{data}, true, []string{data}},
		{"summary", []string{"Found 2 open invoices."}, true, []string{"Found 2 open invoices.", data}},
		{"hidden", []string{"2 open", "Ask us until 6 pm!"}, false, []string{"2 open"}},
		{"plain", []string{"<b>7 & 8</b>"}, false, []string{"<b>7 & 8</b>"}},
		{"failing", []string{"no such customer"}, false, []string{"no such customer"}},
	} {
		t.Run(test.tool, func(t *testing.T) {
			texts, structured := seen(t, without, t.Context(), test.tool)
			if !same(texts, test.without) || structured != test.twice {
				t.Errorf("without: %q, structured value %v", texts, structured)
			}
			texts, structured = seen(t, with, t.Context(), test.tool)
			if !same(texts, test.with) || structured {
				t.Errorf("with: %q, structured value %v", texts, structured)
			}
		})
	}
	result, err := with.CallTool(t.Context(), &mcp.CallToolParams{Name: "failing"})
	if err != nil || !result.IsError {
		t.Errorf("%+v %v", result, err)
	}
}

func same(texts, expected []string) bool {
	return strings.Join(texts, "\x00") == strings.Join(expected, "\x00")
}

func TestAnotherAudience(t *testing.T) {
	session := connect(t, self(), gosdk.Middleware(builtin(t, "sep-2200"), gosdk.Options{}))
	texts, _ := seen(t, session, gosdk.WithAudience(t.Context(), "user"), "hidden")
	if !same(texts, []string{"2 open", "Ask us until 6 pm!"}) {
		t.Errorf("user: %q", texts)
	}
	if texts, structured := seen(t, session, gosdk.WithAudience(t.Context(), "code"), "summary"); len(texts) != 0 || !structured {
		t.Errorf("code: %q %v", texts, structured)
	}
	_, err := session.CallTool(gosdk.WithAudience(t.Context(), "nobody"), &mcp.CallToolParams{Name: "plain"})
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
	var decisions []string
	var originals []*mcp.CallToolResult
	var mutex sync.Mutex
	session := connect(t, self(), gosdk.Middleware(engine, gosdk.Options{
		ServerOf: func(*mcp.ClientSession) string { return "billing" },
		Labels:   map[string]string{"ring": "canary"},
		Observe: func(_ context.Context, _ string, original *mcp.CallToolResult, selection mcpselect.Selection) {
			mutex.Lock()
			defer mutex.Unlock()
			originals, decisions = append(originals, original), append(decisions, string(selection.Decision))
		},
	}))
	if texts, _ := seen(t, session, t.Context(), "summary"); len(texts) != 1 || texts[0] != "Found 2 open invoices." {
		t.Errorf("before tools/list: %q", texts)
	}
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if texts, _ := seen(t, session, t.Context(), "summary"); len(texts) != 1 || !strings.HasPrefix(texts[0], `{"invoices":`) {
		t.Errorf("after tools/list: %q", texts)
	}
	mutex.Lock()
	defer mutex.Unlock()
	if len(decisions) != 2 || originals[1].StructuredContent == nil || !strings.Contains(decisions[1], session.InitializeResult().ProtocolVersion) {
		t.Errorf("%q", decisions)
	}
}

func TestARefusedResultIsAnError(t *testing.T) {
	engine := builtin(t, "sep-2200")
	engine.Close()
	session := connect(t, self(), gosdk.Middleware(engine, gosdk.Options{}))
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "plain"})
	if result != nil || !errors.Is(err, mcpselect.ErrClosed) {
		t.Errorf("%+v %v", result, err)
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	session := connect(t, self(), gosdk.Middleware(builtin(t, "lossless"), gosdk.Options{Server: "billing"}))
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "hidden"})
				if err != nil || len(result.Content) != 1 {
					t.Errorf("%+v %v", result, err)
					return
				}
				if _, err := session.ListTools(t.Context(), nil); err != nil {
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
	with := connect(t, exec.Command(words[0], words[1:]...), gosdk.Middleware(builtin(t, "lossless"), gosdk.Options{Server: "everything"}))
	without := connect(t, exec.Command(words[0], words[1:]...))
	for tool, arguments := range map[string]any{
		"get-structured-content": map[string]any{"location": "New York"},
		"get-annotated-message":  map[string]any{"messageType": "success", "includeImage": false},
	} {
		before, err := without.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		after, err := with.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		hidden := 0
		for _, block := range before.Content {
			if text, ok := block.(*mcp.TextContent); ok && text.Annotations != nil && len(text.Annotations.Audience) == 1 && text.Annotations.Audience[0] == "user" {
				hidden++
			}
		}
		told, _ := json.Marshal(after)
		t.Logf("%s: %s", tool, told)
		if tool == "get-structured-content" && before.StructuredContent == nil || after.StructuredContent != nil {
			t.Errorf("%s: structured value %v, then %v", tool, before.StructuredContent, after.StructuredContent)
		}
		if tool == "get-annotated-message" && hidden == 0 || len(after.Content) != max(1, len(before.Content)-hidden) {
			t.Errorf("%s: %d blocks, %d hidden, then %d", tool, len(before.Content), hidden, len(after.Content))
		}
	}
}

// The adapter keeps no session alive, and forgets what it learnt of it.
func TestSessionsAreForgotten(t *testing.T) {
	middleware := gosdk.Middleware(builtin(t, "sep-2200"), gosdk.Options{})
	gone := make(chan struct{})
	func() {
		session := connectOnce(t, middleware)
		runtime.AddCleanup(session, func(done chan struct{}) { close(done) }, gone)
		if _, err := session.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		session.Close()
	}()
	deadline := time.After(10 * time.Second)
	for {
		runtime.GC()
		select {
		case <-gone:
			runtime.KeepAlive(middleware)
			return
		case <-deadline:
			t.Fatal("the session is still reachable")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func connectOnce(t *testing.T, middleware mcp.Middleware) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil)
	client.AddSendingMiddleware(middleware)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: self()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session
}
