package mcpgo_test

import (
	"context"
	"fmt"
	"os"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
	"github.com/mcp-select/mcp-select/bindings/go/adapters/mcpgo"
)

func Example() {
	if err := billing(context.Background(), os.Args[0], append(os.Environ(), asServer+"=1")); err != nil {
		panic(err)
	}
	// Output:
	// Found 2 open invoices.
	// {"invoices":[{"number":"INV-1041","amount":480.50},{"number":"INV-1057","amount":1299.00,"id":12345678901234567890}]}
}

func billing(ctx context.Context, command string, environment []string) error {
	engine, err := mcpselect.Builtin("lossless")
	if err != nil {
		return err
	}
	defer engine.Close()

	stdio := transport.NewStdio(command, environment)
	c := client.NewClient(mcpgo.Transport(stdio, engine, mcpgo.Options{Server: "billing"}))
	if err := c.Start(ctx); err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		return err
	}

	result, err := c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "summary"}})
	if err != nil {
		return err
	}
	for _, block := range result.Content {
		if text, ok := block.(mcp.TextContent); ok {
			fmt.Println(text.Text)
		}
	}
	return nil
}
