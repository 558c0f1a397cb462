package mcpselect_test

// Recorded results of real servers, by three policies: what Go gives is what the command line gives, byte for byte. The
// recordings stand outside the project.

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
)

type recordedCall struct {
	Server          string `json:"server"`
	Tool            string `json:"tool"`
	File            string `json:"file"`
	IsProtocolError bool   `json:"is_protocol_error"`
	folder          string
	result          []byte
}

func recordedCalls(t testing.TB) []recordedCall {
	t.Helper()
	corpus := outside(t, "MCP_SELECT_CORPUS", "../../../shared/corpus")
	lists, err := filepath.Glob(filepath.Join(corpus, "*", "calls.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var calls []recordedCall
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
			call := recordedCall{folder: filepath.Dir(list)}
			if err := json.Unmarshal(line, &call); err != nil {
				t.Fatal(err)
			}
			if call.IsProtocolError {
				continue
			}
			if call.result, err = os.ReadFile(filepath.Join(call.folder, call.File)); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, call)
		}
	}
	if len(calls) == 0 {
		t.Fatalf("no calls in %s", corpus)
	}
	return calls
}

func TestCorpusIsAsOnTheCommandLine(t *testing.T) {
	calls := recordedCalls(t)
	binary := outside(t, "MCP_SELECT_CLI", "../../target/release/mcp-select")
	for _, policy := range []string{"sep-2200", "lossless", "text-only"} {
		t.Run(policy, func(t *testing.T) {
			engine, err := mcpselect.Builtin(policy)
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close()
			var wait sync.WaitGroup
			work := make(chan recordedCall)
			for range runtime.GOMAXPROCS(0) {
				wait.Go(func() {
					for call := range work {
						request := mcpselect.Request{Server: call.Server, Tool: call.Tool}
						selection, err := engine.Select(context.Background(), request, call.result, mcpselect.WithDecision())
						name := filepath.Join(filepath.Base(call.folder), call.File)
						commandLine{path: binary, policy: policy, request: request}.same(t, name, call.result, selection, err)
					}
				})
			}
			for _, call := range calls {
				work <- call
			}
			close(work)
			wait.Wait()
			t.Logf("%d results", len(calls))
		})
	}
}
