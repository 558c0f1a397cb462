package gosdk_test

import (
	"context"
	"fmt"
	"os/exec"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
	"github.com/mcp-select/mcp-select/bindings/go/adapters/gosdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func Example() {
	ctx, command := context.Background(), self()
	if err := billing(ctx, command); err != nil {
		panic(err)
	}
	// Output:
	// Found 2 open invoices.
	// {"invoices":[{"amount":480.5,"number":"INV-1041"},{"amount":1299,"number":"INV-1057"}]}
}

func billing(ctx context.Context, command *exec.Cmd) error {
	engine, err := mcpselect.Builtin("lossless")
	if err != nil {
		return err
	}
	defer engine.Close()

	client := mcp.NewClient(&mcp.Implementation{Name: "host", Version: "1.0.0"}, nil)
	client.AddSendingMiddleware(gosdk.Middleware(engine, gosdk.Options{Server: "billing"}))
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		return err
	}
	defer session.Close()

	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "summary"})
	if err != nil {
		return err
	}
	for _, block := range result.Content {
		if text, ok := block.(*mcp.TextContent); ok {
			fmt.Println(text.Text)
		}
	}
	return nil
}
