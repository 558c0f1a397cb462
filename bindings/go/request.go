package mcpselect

// What is known before a result comes: a value, its native form, and the cache between them.

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcp-select/mcp-select/bindings/go/internal/native"
)

// A Request is what the host knows before a result comes: who asked what, and who will read the answer. It is a value; a
// host that asks the same again and again can have it prepared ([Engine.Prepare]).
type Request struct {
	// Server is the host's own id of the connection, never the name that a server gives itself.
	Server string
	Tool   string
	// Audience is who will read: model, code, app, user, or what the policy defines. Empty: model.
	Audience string
	// Revision is the protocol revision that was agreed, as YYYY-MM-DD; a later one than the library knows is accepted.
	Revision string
	// ToolDefinition is the tool's object out of tools/list: its outputSchema and _meta.ui are read.
	ToolDefinition json.RawMessage
	// Labels are facts that only the host knows, for `when = { label.NAME = PATTERN }` in a policy.
	Labels map[string]string
	// Extensions are those that were negotiated, such as "io.modelcontextprotocol/tasks".
	Extensions []string
	// Sampling: the bytes are a tool_result block of a sampling message, not the result of tools/call.
	Sampling bool
}

func (r Request) native() (*native.Request, *native.Error) {
	audience := r.Audience
	if audience == "" {
		audience = "model"
	}
	made, err := native.NewRequest(r.Server, r.Tool, audience)
	if err != nil {
		return nil, err
	}
	if r.Revision != "" {
		if err := made.SetRevision(r.Revision); err != nil {
			return nil, err
		}
	}
	if len(r.ToolDefinition) > 0 {
		if err := made.SetToolDefinition(r.ToolDefinition); err != nil {
			return nil, err
		}
	}
	for name, value := range r.Labels {
		if err := made.SetLabel(name, value); err != nil {
			return nil, err
		}
	}
	for _, extension := range r.Extensions {
		if err := made.AddExtension(extension); err != nil {
			return nil, err
		}
	}
	if r.Sampling {
		if err := made.SetInput(native.InputSampling); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// A PreparedRequest is a [Request] in native form, bound to the engine that made it. It remembers its decision table, so
// that a call with it looks nothing up. Make one for each server, tool and audience when tools/list comes, and share it.
type PreparedRequest struct {
	engine *Engine
	native atomic.Pointer[native.Request]
}

// Prepare makes the native form of a request, for the hottest path; Select with a [Request] finds it in a cache.
//
// The error is [ErrRevision], [ErrTool] or [ErrArgument]. Whether the audience exists is seen when a result comes, since
// the policy may be another one by then.
func (e *Engine) Prepare(request Request) (*PreparedRequest, error) {
	if e.native.Load() == nil {
		return nil, ErrClosed
	}
	made, err := request.native()
	if err != nil {
		return nil, failed(err)
	}
	prepared := &PreparedRequest{engine: e}
	prepared.native.Store(made)
	return prepared, nil
}

// Select is [Engine.Select] for this request.
func (p *PreparedRequest) Select(ctx context.Context, result json.RawMessage, options ...Option) (Selection, error) {
	if err := ctx.Err(); err != nil {
		return Selection{Status: native.ErrArgument}, err
	}
	request := p.native.Load()
	if request == nil {
		return Selection{Status: native.ErrArgument}, ErrClosed
	}
	return p.engine.run(request, result, options)
}

// WithAudience prepares the same request for another audience.
func (p *PreparedRequest) WithAudience(audience string) (*PreparedRequest, error) {
	request := p.native.Load()
	if request == nil {
		return nil, ErrClosed
	}
	made, err := request.Clone(audience)
	if err != nil {
		return nil, failed(err)
	}
	other := &PreparedRequest{engine: p.engine}
	other.native.Store(made)
	return other, nil
}

// Close lets go of the native form. Calls in flight end well; later ones give [ErrClosed]. Closing twice is safe, and
// never closing is too: what nobody can reach is freed.
func (p *PreparedRequest) Close() error {
	p.native.Store(nil)
	return nil
}

// cacheHalf is how many requests each of the two halves of a cache holds.
const cacheHalf = 512

// A requestCache holds the native forms of the requests that were used last, at most twice cacheHalf. It has a young half
// and an old one: what is used moves to the young half, and when that is full it becomes the old one and the old one is
// forgotten. Reading takes no lock. What falls out is freed when the last call that uses it is over.
type requestCache struct {
	halves atomic.Pointer[cacheHalves]
	seed   maphash.Seed
}

type cacheHalves struct {
	young, old *cacheTable
}

// A cacheTable maps the hash of a request to those that have it, as a list.
type cacheTable struct {
	entries sync.Map // uint64 to *cachedRequest
	count   atomic.Int64
}

type cachedRequest struct {
	request Request
	native  *native.Request
	next    *cachedRequest
}

func newRequestCache() *requestCache {
	cache := &requestCache{seed: maphash.MakeSeed()}
	cache.halves.Store(&cacheHalves{new(cacheTable), new(cacheTable)})
	return cache
}

// get finds the native form of a request, or makes it.
func (c *requestCache) get(request *Request) (*native.Request, *native.Error) {
	hash := c.hash(request)
	halves := c.halves.Load()
	if found := halves.young.find(hash, request); found != nil {
		return found.native, nil
	}
	found := halves.old.find(hash, request)
	if found == nil {
		made, err := request.native()
		if err != nil {
			return nil, err
		}
		// The caller may change its maps and slices later.
		kept := *request
		kept.ToolDefinition = bytes.Clone(request.ToolDefinition)
		kept.Labels = maps.Clone(request.Labels)
		kept.Extensions = slices.Clone(request.Extensions)
		found = &cachedRequest{request: kept, native: made}
	}
	if halves.young.add(hash, found) > cacheHalf {
		c.halves.CompareAndSwap(halves, &cacheHalves{young: new(cacheTable), old: halves.young})
	}
	return found.native, nil
}

// hash leaves out what is long, and what equal settles for the few that then share a hash.
func (c *requestCache) hash(request *Request) uint64 {
	var hash maphash.Hash
	hash.SetSeed(c.seed)
	for _, part := range [...]string{request.Server, request.Tool, request.Audience, request.Revision} {
		hash.WriteString(part)
		hash.WriteByte(0)
	}
	sum := hash.Sum64() + uint64(len(request.ToolDefinition))
	// Maps have no order, so the sum must not depend on it.
	for name, value := range request.Labels {
		sum += maphash.String(c.seed, name)*31 + maphash.String(c.seed, value)
	}
	return sum
}

func (t *cacheTable) find(hash uint64, request *Request) *cachedRequest {
	first, ok := t.entries.Load(hash)
	if !ok {
		return nil
	}
	for entry := first.(*cachedRequest); entry != nil; entry = entry.next {
		if equal(&entry.request, request) {
			return entry
		}
	}
	return nil
}

// add puts a request in front of those with the same hash, and says how many there are.
func (t *cacheTable) add(hash uint64, entry *cachedRequest) int64 {
	for {
		first, taken := t.entries.Load(hash)
		if !taken {
			fresh := &cachedRequest{request: entry.request, native: entry.native}
			if _, taken = t.entries.LoadOrStore(hash, fresh); !taken {
				return t.count.Add(1)
			}
			continue
		}
		if known := t.find(hash, &entry.request); known != nil {
			return t.count.Load()
		}
		fresh := &cachedRequest{request: entry.request, native: entry.native, next: first.(*cachedRequest)}
		if t.entries.CompareAndSwap(hash, first, fresh) {
			return t.count.Add(1)
		}
	}
}

func equal(a, b *Request) bool {
	return a.Server == b.Server && a.Tool == b.Tool && a.Audience == b.Audience && a.Revision == b.Revision &&
		a.Sampling == b.Sampling && bytes.Equal(a.ToolDefinition, b.ToolDefinition) &&
		maps.Equal(a.Labels, b.Labels) && slices.Equal(a.Extensions, b.Extensions)
}
