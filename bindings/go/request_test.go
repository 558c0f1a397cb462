package mcpselect

// The cache of requests, from the inside.

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
)

func (c *requestCache) size() int {
	halves := c.halves.Load()
	size := 0
	for _, table := range []*cacheTable{halves.young, halves.old} {
		table.entries.Range(func(_, first any) bool {
			for entry := first.(*cachedRequest); entry != nil; entry = entry.next {
				size++
			}
			return true
		})
	}
	return size
}

func TestTheCacheFindsWhatIsEqual(t *testing.T) {
	cache := newRequestCache()
	base := Request{
		Server: "s", Tool: "t", Audience: "model", Revision: "2025-11-25", ToolDefinition: json.RawMessage(`{"name":"t"}`),
		Labels: map[string]string{"ring": "canary", "tenant": "a"}, Extensions: []string{"x/y"},
	}
	first, err := cache.get(&base)
	if err != nil {
		t.Fatal(err)
	}
	equal := base
	equal.ToolDefinition = json.RawMessage(`{"name":"t"}`)
	equal.Labels = map[string]string{"tenant": "a", "ring": "canary"}
	equal.Extensions = []string{"x/y"}
	if again, err := cache.get(&equal); err != nil || again != first {
		t.Errorf("made anew: %v", err)
	}
	for name, change := range map[string]func(*Request){
		"server":     func(r *Request) { r.Server = "s2" },
		"shifted":    func(r *Request) { r.Server, r.Tool = "st", "" },
		"tool":       func(r *Request) { r.Tool = "t2" },
		"audience":   func(r *Request) { r.Audience = "code" },
		"revision":   func(r *Request) { r.Revision = "2025-06-18" },
		"definition": func(r *Request) { r.ToolDefinition = json.RawMessage(`{"name":"u"}`) },
		"label":      func(r *Request) { r.Labels = map[string]string{"ring": "canary", "tenant": "b"} },
		"swapped":    func(r *Request) { r.Labels = map[string]string{"ring": "a", "tenant": "canary"} },
		"extension":  func(r *Request) { r.Extensions = []string{"x/z"} },
		"sampling":   func(r *Request) { r.Sampling = true },
	} {
		other := base
		change(&other)
		made, err := cache.get(&other)
		if err != nil || made == first {
			t.Errorf("%s: taken for the same: %v", name, err)
		}
		if again, _ := cache.get(&other); again != made {
			t.Errorf("%s: not found again", name)
		}
	}
	// What the caller does to its slices later does not reach the cache.
	base.ToolDefinition[9] = 'x'
	base.Labels["ring"] = "stable"
	if again, _ := cache.get(&equal); again != first {
		t.Error("the cache shares memory with its caller")
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	cache := newRequestCache()
	often := Request{Server: "often"}
	first, err := cache.get(&often)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for i := range 5000 {
				request := Request{Server: fmt.Sprint("s", worker), Tool: fmt.Sprint("t", i)}
				if _, err := cache.get(&request); err != nil {
					t.Error(err)
				}
				if again, err := cache.get(&often); err != nil || again != first {
					t.Errorf("what is used all the time fell out: %v", err)
					return
				}
			}
		})
	}
	wait.Wait()
	// Goroutines that fill the young half at the same moment may each put one more.
	if size := cache.size(); size > 2*(cacheHalf+4) || size < cacheHalf {
		t.Errorf("%d requests in the cache", size)
	}
}

func TestRequestsThatShareAHash(t *testing.T) {
	table := new(cacheTable)
	requests := make([]Request, 10)
	for i := range requests {
		requests[i] = Request{Tool: fmt.Sprint(i)}
		made, err := requests[i].native()
		if err != nil {
			t.Fatal(err)
		}
		if count := table.add(7, &cachedRequest{request: requests[i], native: made}); count != int64(i+1) {
			t.Errorf("%d: count %d", i, count)
		}
	}
	for i := range requests {
		if found := table.find(7, &requests[i]); found == nil || found.request.Tool != requests[i].Tool {
			t.Errorf("%d: %+v", i, found)
		}
	}
	if table.find(7, &Request{Tool: "10"}) != nil {
		t.Error("found what was not put there")
	}
}
