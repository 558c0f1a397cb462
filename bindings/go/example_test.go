package mcpselect_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
)

func Example() {
	engine, err := mcpselect.Builtin("sep-2200")
	if err != nil {
		panic(err)
	}
	defer engine.Close()

	result := json.RawMessage(`{"content":[{"type":"text","text":"7 C"}],"structuredContent":{"c":7}}`)
	for _, audience := range []string{"model", "code"} {
		request := mcpselect.Request{Server: "weather", Tool: "now", Audience: audience}
		selection, err := engine.Select(context.Background(), request, result)
		if err != nil {
			panic(err)
		}
		fmt.Println(audience, selection.Status, selection.Lane, string(selection.JSON))
	}
	// Output:
	// model changed content {"content":[{"type":"text","text":"7 C"}]}
	// code changed structured {"content":[],"structuredContent":{"c":7}}
}

func ExampleNew() {
	_, err := mcpselect.New([]byte("version = 1\n\n[audience.model]\nordr = [\"both\"]\n"))
	var refused *mcpselect.Error
	if errors.As(err, &refused) {
		fmt.Println(errors.Is(err, mcpselect.ErrPolicy), refused.Line, refused.Column, refused.Help)
	}
	// Output:
	// true 4 1 did you mean `order`?
}

func ExampleOpen() {
	folder, err := os.MkdirTemp("", "policy")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "policy.toml")
	write := func(policy string) {
		if err := os.WriteFile(path, []byte(policy), 0o600); err != nil {
			panic(err)
		}
	}

	write("version = 1\nextends = \"sep-2200\"\n")
	engine, err := mcpselect.Open(path)
	if err != nil {
		panic(err)
	}
	defer engine.Close()
	// This host chooses the moment itself; without this line, selections look at the file once a second.
	engine.SetAutoReload(0)

	write("version = 1\nextends = \"lossless\"\n")
	changed, err := engine.Reload()
	fmt.Println(changed, err, engine.Generation())
	// Output:
	// true <nil> 2
}

func ExampleEngine_Select_errors() {
	engine, err := mcpselect.Builtin("sep-2200")
	if err != nil {
		panic(err)
	}
	defer engine.Close()

	_, err = engine.Select(context.Background(), mcpselect.Request{}, json.RawMessage(`{"content":[],"structuredContent":{"v":NaN}}`))
	var refused *mcpselect.Error
	switch {
	case errors.Is(err, mcpselect.ErrJSON) && errors.As(err, &refused):
		fmt.Println(refused.Member, refused.Offset)
	case err != nil:
		fmt.Println(err)
	}
	// Output:
	// structuredContent.v 39
}

func ExampleEngine_Prepare() {
	engine, err := mcpselect.Builtin("lossless")
	if err != nil {
		panic(err)
	}
	defer engine.Close()

	// When tools/list comes, for each tool:
	forModel, err := engine.Prepare(mcpselect.Request{
		Server: "github", Tool: "list_issues", Revision: "2025-11-25", ToolDefinition: json.RawMessage(`{"name":"list_issues"}`),
	})
	if err != nil {
		panic(err)
	}
	forUser, err := forModel.WithAudience("user")
	if err != nil {
		panic(err)
	}

	// For each result:
	result := json.RawMessage(`{"content":[{"type":"text","text":"2 open"},{"type":"text","text":"Hello!","annotations":{"audience":["user"]}}]}`)
	for _, prepared := range []*mcpselect.PreparedRequest{forModel, forUser} {
		selection, err := prepared.Select(context.Background(), result, mcpselect.WithText(" "))
		if err != nil {
			panic(err)
		}
		fmt.Printf("%q\n", selection.Text)
	}
	// Output:
	// "2 open"
	// "2 open Hello!"
}

func ExampleWithBlocks() {
	engine, err := mcpselect.Builtin("sep-2200")
	if err != nil {
		panic(err)
	}
	defer engine.Close()

	result := json.RawMessage(`{"content":[{"type":"text","text":"for you","annotations":{"audience":["user"]}},{"type":"text","text":"for me"}]}`)
	selection, err := engine.Select(context.Background(), mcpselect.Request{}, result, mcpselect.WithBlocks())
	if err != nil {
		panic(err)
	}
	for _, block := range selection.Blocks {
		fmt.Println(block.Fate, block.Source)
	}
	// Output:
	// kept 1
}

func ExampleWithDecision() {
	engine, err := mcpselect.Builtin("sep-2200")
	if err != nil {
		panic(err)
	}
	defer engine.Close()

	result := json.RawMessage(`{"content":[{"type":"text","text":"7 C"}],"structuredContent":{"c":7}}`)
	selection, err := engine.Select(context.Background(), mcpselect.Request{}, result, mcpselect.WithDecision())
	if err != nil {
		panic(err)
	}
	var record struct {
		Lane    string
		Dropped []struct{ What, Why string }
	}
	if err := json.Unmarshal(selection.Decision, &record); err != nil {
		panic(err)
	}
	fmt.Println(record.Lane, record.Dropped)
	// Output:
	// content [{structuredContent lane}]
}

func ExampleEngine_Diagnostics() {
	engine, err := mcpselect.Builtin("sep-2200")
	if err != nil {
		panic(err)
	}
	defer engine.Close()

	told, err := engine.Diagnostics()
	if err != nil {
		panic(err)
	}
	fmt.Println(told.Policy, told.Generation, told.Error == nil, time.Duration(told.LoadedMsAgo)*time.Millisecond < time.Minute)
	// Output:
	// sep-2200 1 true true
}
