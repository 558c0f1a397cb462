// Quickstart shows the same tool result to three audiences, and says why each got what it got.
//
//	make go && cd bindings/go && go run ./examples/quickstart
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
)

// A policy: what sep-2200 says, and both fields for the model where the text says less than the data.
const policy = `
version = 1
extends = "sep-2200"

[[rules]]
name  = "summaries that lost the data"
when  = { structured = "present", coverage = "< 0.9" }
order = ["both"]
`

// A result as a server might write it: a summary for the model, a block for the user, the data, and _meta for the host.
const result = `{"content":[
  {"type":"text","text":"Found 2 open invoices."},
  {"type":"text","text":"Billing is open until 6 pm.","annotations":{"audience":["user"]}}],
 "structuredContent":{"invoices":[{"number":"INV-1041","amount":480.50},{"number":"INV-1057","amount":1299.00}]},
 "_meta":{"example.com/trace":"a81f"}}`

func main() {
	engine, err := mcpselect.New([]byte(policy))
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	ctx := context.Background()

	for _, audience := range []string{"model", "user", "code"} {
		request := mcpselect.Request{Server: "billing", Tool: "list_invoices", Audience: audience}
		selection, err := engine.Select(ctx, request, json.RawMessage(result), mcpselect.WithText("\n"), mcpselect.WithDecision())
		if err != nil {
			log.Fatal(err)
		}
		var why struct {
			Dropped []struct{ What, Why string }
		}
		if err := json.Unmarshal(selection.Decision, &why); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s (lane %v) reads\n  %q\n  left out:", audience, selection.Lane, selection.Text)
		for _, dropped := range why.Dropped {
			fmt.Printf(" %s (%s)", dropped.What, dropped.Why)
		}
		fmt.Println()
	}

	_, err = engine.Select(ctx, mcpselect.Request{Server: "billing", Tool: "list_invoices"}, json.RawMessage(`{"content":[`))
	if errors.Is(err, mcpselect.ErrJSON) {
		fmt.Println("a broken result is refused:", err)
	}
}
