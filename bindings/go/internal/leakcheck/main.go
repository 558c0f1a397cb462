// Leakcheck makes and frees one of everything, many times. It is built with -asan, which looks for lost C memory when the
// program ends. With -leak it loses some on purpose, to show that the sanitizer is there.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"time"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
	"github.com/mcp-select/mcp-select/bindings/go/internal/native"
)

func main() {
	leak := flag.Bool("leak", false, "lose an engine on purpose")
	flag.Parse()
	if *leak {
		native.Leak()
	}
	folder, err := os.MkdirTemp("", "leakcheck")
	check(err)
	defer os.RemoveAll(folder)
	for i := range 200 {
		once(folder, i)
	}
	// What nobody reaches is freed by cleanups, which run some time after a collection.
	for range 5 {
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Println("no leak was found in", 200, "rounds")
}

func once(folder string, round int) {
	path := filepath.Join(folder, "policy.toml")
	check(os.WriteFile(path, fmt.Appendf(nil, "version = 1\nextends = \"lossless\"\n[audience.model]\nplaceholder = \"%d\"\n", round), 0o600))
	opened, err := mcpselect.Open(path)
	check(err)
	builtin, err := mcpselect.Builtin("lossless")
	check(err)
	_, err = mcpselect.New([]byte("version = 1\nordr = 1"))
	refused(err)
	check(os.WriteFile(path, fmt.Appendf(nil, "version = 1\nextends = \"raw\"\n# %d\n", round), 0o600))
	_, err = opened.Reload()
	check(err)
	check(os.WriteFile(path, []byte("version = 3"), 0o600))
	_, err = opened.Reload()
	refused(err)
	check(opened.Replace([]byte("version = 1\nextends = \"raw\"")))
	refused(opened.Replace(nil))

	request := mcpselect.Request{
		Server: fmt.Sprint("server ", round), Tool: "t", Revision: "2025-11-25", ToolDefinition: json.RawMessage(`{"name":"t"}`),
		Labels: map[string]string{"ring": "canary"}, Extensions: []string{"io.modelcontextprotocol/tasks"},
	}
	result := json.RawMessage(`{"content":[{"type":"text","text":"2 days"}],"structuredContent":{"days":["rain","sun"]}}`)
	options := []mcpselect.Option{mcpselect.WithText("\n"), mcpselect.WithBlocks(), mcpselect.WithDecision()}
	for _, engine := range []*mcpselect.Engine{opened, builtin} {
		_, err = engine.Select(context.Background(), request, result, options...)
		check(err)
		_, err = engine.Select(context.Background(), request, result[:9], options...)
		refused(err)
		prepared, err := engine.Prepare(request)
		check(err)
		other, err := prepared.WithAudience("code")
		check(err)
		_, err = other.Select(context.Background(), result)
		check(err)
		_, err = engine.Prepare(mcpselect.Request{Revision: "soon"})
		refused(err)
		_, err = engine.Diagnostics()
		check(err)
		_, err = engine.Table(request)
		check(err)
		check(prepared.Close())
		check(prepared.Close())
	}
	check(opened.Close())
	check(opened.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func refused(err error) {
	if err == nil {
		log.Fatal("not refused")
	}
}
