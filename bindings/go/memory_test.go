package mcpselect_test

// Resident memory after many selections.

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
)

var selectionCount = flag.Int("selections", 100_000, "how many selections TestMemoryIsFlat makes")

// resident is how much memory the process holds, in bytes.
func resident(t testing.TB) int64 {
	t.Helper()
	if raceEnabled {
		t.Skip("skipped: the race detector keeps memory of its own")
	}
	runtime.GC()
	runtime.GC()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

func TestMemoryIsFlat(t *testing.T) {
	engine := builtin(t, "lossless")
	results := []json.RawMessage{
		json.RawMessage(plain), json.RawMessage(duplicate), json.RawMessage(`{"content":[`), // refused
		json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("sunny, ", 3000) + `"}],"structuredContent":{"days":["rain","sun"]}}`),
	}
	selectMany := func(count int) {
		var wait sync.WaitGroup
		for worker := range 4 {
			wait.Go(func() {
				for i := range count / 4 {
					// More servers than the cache of requests holds.
					request := mcpselect.Request{Server: fmt.Sprint("server ", worker, " ", i/8%2000), Tool: "t"}
					options := []mcpselect.Option{mcpselect.WithText("\n"), mcpselect.WithBlocks(), mcpselect.WithDecision()}
					selection, err := engine.Select(context.Background(), request, results[i%len(results)], options[:i%4]...)
					if (err != nil) != (i%len(results) == 2) || err == nil && selection.JSON == nil {
						t.Errorf("%+v %v", selection, err)
						return
					}
				}
			})
		}
		wait.Wait()
	}
	// The C heap has its final size when the caches have been full for a while.
	selectMany(100_000)
	before := resident(t)
	figures := fmt.Sprintf("%.1f MiB before", mebibytes(before))
	var after int64
	for quarter := 1; quarter <= 4; quarter++ {
		selectMany(*selectionCount / 4)
		after = resident(t)
		figures += fmt.Sprintf(", %.1f after %d", mebibytes(after), *selectionCount/4*quarter)
	}
	t.Log("resident memory: " + figures + " selections")
	// 16 bytes lost in each of a million selections would be more.
	if after-before > 8<<20 {
		t.Errorf("grew by %.1f MiB", mebibytes(after-before))
	}
}

// Engines, prepared requests and errors that nobody closes are freed too.
func TestMemoryOfWhatIsDropped(t *testing.T) {
	drop := func(count int) {
		for i := range count {
			engine, err := mcpselect.Builtin("lossless")
			if err != nil {
				t.Fatal(err)
			}
			prepared, err := engine.Prepare(mcpselect.Request{Server: "s"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := prepared.Select(context.Background(), json.RawMessage(duplicate)); err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				engine.Close()
			}
			if i%100 == 0 {
				runtime.GC()
			}
		}
	}
	drop(300)
	before := resident(t)
	drop(1500)
	after := resident(t)
	t.Logf("resident memory: %.1f MiB before, %.1f MiB after 1500 engines", mebibytes(before), mebibytes(after))
	if after-before > 8<<20 {
		t.Errorf("grew by %.1f MiB", mebibytes(after-before))
	}
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
