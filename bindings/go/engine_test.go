package mcpselect_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
)

const (
	// What sep-2200 takes the data out of, and what it leaves alone.
	duplicate = `{"content":[{"type":"text","text":"{\"c\":7}"}],"structuredContent":{"c":7}}`
	plain     = `{"content":[{"type":"text","text":"7 C"}]}`
)

func builtin(t testing.TB, name string) *mcpselect.Engine {
	t.Helper()
	engine, err := mcpselect.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

func TestUnchangedIsTheCallersOwnSlice(t *testing.T) {
	engine := builtin(t, "sep-2200")
	result := json.RawMessage(plain)
	selection, err := engine.Select(context.Background(), mcpselect.Request{}, result, mcpselect.WithText("\n"))
	if err != nil || selection.Status != mcpselect.Unchanged || selection.Changed() {
		t.Fatalf("%+v %v", selection, err)
	}
	if unsafe.SliceData(selection.JSON) != unsafe.SliceData(result) || len(selection.JSON) != len(result) {
		t.Error("the JSON was copied")
	}
	if selection.Text != "7 C" {
		t.Errorf("text %q", selection.Text)
	}
}

func TestASelectionOutlivesTheNextCalls(t *testing.T) {
	engine := builtin(t, "sep-2200")
	options := []mcpselect.Option{mcpselect.WithText("\n"), mcpselect.WithDecision(), mcpselect.WithBlocks()}
	var kept []mcpselect.Selection
	for i := range 100 {
		result := fmt.Sprintf(`{"content":[{"type":"text","text":"call %d"}],"structuredContent":{"call":%d}}`, i, i)
		selection, err := engine.Select(context.Background(), mcpselect.Request{}, json.RawMessage(result), options...)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, selection)
	}
	for i, selection := range kept {
		text := fmt.Sprintf("call %d", i)
		if want := `{"content":[{"type":"text","text":"` + text + `"}]}`; string(selection.JSON) != want || selection.Text != text {
			t.Fatalf("%d: %s, %q", i, selection.JSON, selection.Text)
		}
		if !json.Valid(selection.Decision) || len(selection.Blocks) != 1 || selection.Blocks[0].Source != 0 {
			t.Fatalf("%d: %s, %v", i, selection.Decision, selection.Blocks)
		}
	}
}

func TestNothingIsShownOfWhatIsNotForReaders(t *testing.T) {
	engine := builtin(t, "sep-2200")
	request := mcpselect.Request{Revision: "2026-07-28"}
	result := json.RawMessage(`{"resultType":"input_required","inputRequests":{},"requestState":"s"}`)
	selection, err := engine.Select(context.Background(), request, result, mcpselect.WithText("\n"))
	if err != nil || selection.Status != mcpselect.NotForReaders || selection.Outcome != mcpselect.NeedsInput {
		t.Fatalf("%+v %v", selection, err)
	}
	if selection.JSON != nil || selection.Text != "" {
		t.Errorf("%s, %q", selection.JSON, selection.Text)
	}
}

func TestWithBufferAllocatesNothing(t *testing.T) {
	engine := builtin(t, "sep-2200")
	prepared, err := engine.Prepare(mcpselect.Request{Server: "s", Tool: "t"})
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 0, 1024)
	ctx, result := context.Background(), json.RawMessage(duplicate)
	call := func() {
		selection, err := prepared.Select(ctx, result, mcpselect.WithBuffer(buffer))
		if err != nil || unsafe.SliceData(selection.JSON) != unsafe.SliceData(buffer) {
			t.Fatalf("%s %v", selection.JSON, err)
		}
	}
	if raceEnabled {
		t.Skip("the race detector has sync.Pool drop some of what it is given")
	}
	if allocations := testing.AllocsPerRun(1000, call); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
	request := mcpselect.Request{Server: "s", Tool: "t", Labels: map[string]string{"ring": "canary"}}
	if allocations := testing.AllocsPerRun(1000, func() {
		if _, err := engine.Select(ctx, request, result, mcpselect.WithBuffer(buffer)); err != nil {
			t.Fatal(err)
		}
	}); allocations != 0 {
		t.Errorf("with a cached request: %v allocations", allocations)
	}
}

func TestErrors(t *testing.T) {
	engine := builtin(t, "sep-2200")
	ctx := context.Background()
	selected := func(request mcpselect.Request, result string) error {
		selection, err := engine.Select(ctx, request, json.RawMessage(result))
		if err == nil || selection.JSON != nil || selection.Status >= 0 {
			t.Errorf("%+v %v", selection, err)
		}
		return err
	}
	made := func(_ *mcpselect.Engine, err error) error { return err }
	prepared := func(request mcpselect.Request) error {
		_, err := engine.Prepare(request)
		return err
	}
	_, reload := engine.Reload()
	deep := `{"content":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "}"
	for _, test := range []struct {
		err     error
		code    mcpselect.Code
		message string
	}{
		{made(mcpselect.New(nil)), mcpselect.ErrPolicyEmpty, ""},
		{made(mcpselect.New([]byte("version = 1\nordr = 1"))), mcpselect.ErrPolicy, ""},
		{made(mcpselect.Open("/no/such/policy.toml")), mcpselect.ErrPolicyFile, ""},
		{made(mcpselect.Builtin("sep-220")), mcpselect.ErrNoBuiltin, ""},
		{made(mcpselect.Builtin("\xff")), mcpselect.ErrArgument, "mcpselect: bad-argument: name is no UTF-8 at byte 0"},
		{reload, mcpselect.ErrNoFile, "mcpselect: no-file: this engine was not opened from a file; open one, or use replace"},
		{selected(mcpselect.Request{Audience: "nobody"}, plain), mcpselect.ErrAudience, ""},
		{selected(mcpselect.Request{Revision: "soon"}, plain), mcpselect.ErrRevision, `mcpselect: bad-revision: "soon" is no protocol revision; write it as YYYY-MM-DD`},
		{prepared(mcpselect.Request{Revision: "soon"}), mcpselect.ErrRevision, ""},
		{selected(mcpselect.Request{ToolDefinition: json.RawMessage("[]")}, plain), mcpselect.ErrTool, ""},
		{selected(mcpselect.Request{Server: "\xff"}, plain), mcpselect.ErrArgument, ""},
		{selected(mcpselect.Request{}, ""), mcpselect.ErrJSON, ""},
		{selected(mcpselect.Request{}, "{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}"), mcpselect.ErrUTF8, ""},
		{selected(mcpselect.Request{}, deep), mcpselect.ErrDepth, ""},
		{selected(mcpselect.Request{}, "7"), mcpselect.ErrShape, ""},
	} {
		var refused *mcpselect.Error
		if !errors.As(test.err, &refused) || !errors.Is(test.err, test.code) || refused.Code != test.code {
			t.Errorf("%v: got %v", test.code, test.err)
			continue
		}
		if errors.Is(test.err, mcpselect.ErrInternal) || errors.Is(test.err, mcpselect.ErrClosed) {
			t.Errorf("%v is every error", test.err)
		}
		if !strings.HasPrefix(refused.Message, test.code.Error()+": ") && !strings.HasPrefix(refused.Message, test.code.Error()+" at byte ") {
			t.Errorf("%v: message %q", test.code, refused.Message)
		}
		if test.message != "" && test.err.Error() != test.message {
			t.Errorf("got  %s\nwant %s", test.err, test.message)
		}
	}
}

func TestErrorsSayWhere(t *testing.T) {
	_, err := mcpselect.New([]byte("version = 1\n[audience.model]\nordr = [\"both\"]\n"))
	var refused *mcpselect.Error
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if refused.Line != 3 || refused.Column != 1 || refused.File != "policy" || refused.Offset != 29 || len(refused.Diagnostics) != 1 ||
		refused.Diagnostics[0].Level != "error" || refused.Help == "" {
		t.Errorf("%+v", refused)
	}
	_, err = builtin(t, "sep-2200").Select(context.Background(), mcpselect.Request{}, json.RawMessage(`{"content":[],"structuredContent":{"v":NaN}}`))
	if !errors.As(err, &refused) || refused.Offset != 39 || refused.Member != "structuredContent.v" {
		t.Errorf("%+v", refused)
	}
	again := new(mcpselect.Error)
	if text, err := json.Marshal(refused); err != nil || json.Unmarshal(text, again) != nil || again.Message != refused.Message {
		t.Errorf("%s %v", text, err)
	}
}

func TestEveryCodeHasAWord(t *testing.T) {
	for _, code := range []mcpselect.Code{
		mcpselect.ErrArgument, mcpselect.ErrInternal, mcpselect.ErrPolicy, mcpselect.ErrPolicyEmpty, mcpselect.ErrPolicyFile,
		mcpselect.ErrNoBuiltin, mcpselect.ErrNoFile, mcpselect.ErrAudience, mcpselect.ErrTool, mcpselect.ErrRevision,
		mcpselect.ErrJSON, mcpselect.ErrUTF8, mcpselect.ErrDepth, mcpselect.ErrSize, mcpselect.ErrShape,
		mcpselect.ErrResultType, mcpselect.ErrSchema,
	} {
		if code.Error() == "unknown-error" {
			t.Errorf("%d has no word", code)
		}
	}
}

func TestAContextThatIsOver(t *testing.T) {
	engine := builtin(t, "sep-2200")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	selection, err := engine.Select(ctx, mcpselect.Request{}, json.RawMessage(plain))
	if !errors.Is(err, context.Canceled) || selection.JSON != nil || selection.Status >= 0 {
		t.Errorf("%+v %v", selection, err)
	}
}

func TestCloseTwice(t *testing.T) {
	engine := builtin(t, "sep-2200")
	prepared, err := engine.Prepare(mcpselect.Request{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := engine.Prepare(mcpselect.Request{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, result := context.Background(), json.RawMessage(plain)
	for range 2 {
		if err := prepared.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := prepared.Select(ctx, result); !errors.Is(err, mcpselect.ErrClosed) {
		t.Error(err)
	}
	if _, err := prepared.WithAudience("user"); !errors.Is(err, mcpselect.ErrClosed) {
		t.Error(err)
	}
	if _, err := other.Select(ctx, result); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}
	_, selected := engine.Select(ctx, mcpselect.Request{}, result)
	_, otherSelected := other.Select(ctx, result)
	_, made := engine.Prepare(mcpselect.Request{})
	_, reloaded := engine.Reload()
	_, told := engine.Diagnostics()
	_, table := engine.Table(mcpselect.Request{})
	for i, err := range []error{selected, otherSelected, made, reloaded, told, table, engine.Replace(nil)} {
		if !errors.Is(err, mcpselect.ErrClosed) {
			t.Errorf("%d: %v", i, err)
		}
	}
	engine.SetAutoReload(time.Second)
	if engine.Generation() != 0 {
		t.Error("a closed engine has a generation")
	}
}

// The garbage collector runs all the time, while engines and requests are closed under the calls.
func TestCloseWhileOthersSelect(t *testing.T) {
	stop := make(chan struct{})
	var collector, callers sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	for round := range 30 {
		engine := builtin(t, "lossless")
		prepared, err := engine.Prepare(mcpselect.Request{Server: "s"})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			callers.Go(func() {
				for {
					_, err := prepared.Select(context.Background(), json.RawMessage(duplicate), mcpselect.WithText(""))
					_, other := engine.Select(context.Background(), mcpselect.Request{Tool: "t"}, json.RawMessage(duplicate), mcpselect.WithDecision())
					if errors.Is(err, mcpselect.ErrClosed) && errors.Is(other, mcpselect.ErrClosed) {
						return
					}
					for _, err := range []error{err, other} {
						if err != nil && !errors.Is(err, mcpselect.ErrClosed) {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		time.Sleep(time.Duration(round%4) * time.Millisecond)
		if round%2 == 0 {
			prepared.Close()
		}
		engine.Close()
		callers.Wait()
	}
	close(stop)
	collector.Wait()
}

func TestPreparedRequestForAnotherAudience(t *testing.T) {
	engine := builtin(t, "sep-2200")
	model, err := engine.Prepare(mcpselect.Request{Server: "s", Tool: "t"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := model.WithAudience("code")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		prepared *mcpselect.PreparedRequest
		lane     mcpselect.Lane
	}{{model, mcpselect.LaneContent}, {code, mcpselect.LaneStructured}} {
		if selection, err := test.prepared.Select(context.Background(), json.RawMessage(duplicate)); err != nil || selection.Lane != test.lane {
			t.Errorf("%+v %v", selection, err)
		}
	}
}

func TestTable(t *testing.T) {
	table, err := builtin(t, "lossless").Table(mcpselect.Request{Server: "github", Tool: "list_issues"})
	if err != nil || !json.Valid(table) || !strings.Contains(string(table), "summaries that lost the data") {
		t.Errorf("%s %v", table, err)
	}
	_, err = builtin(t, "lossless").Table(mcpselect.Request{Audience: "nobody"})
	if !errors.Is(err, mcpselect.ErrAudience) {
		t.Error(err)
	}
}

func TestDiagnosticsAndReplace(t *testing.T) {
	engine := builtin(t, "sep-2200")
	before, err := engine.Diagnostics()
	if err != nil || before.Policy != "sep-2200" || before.Generation != 1 || len(before.Hash) != 16 || before.Error != nil || before.AutoReloadMs != 0 {
		t.Fatalf("%+v %v", before, err)
	}
	if err := engine.Replace([]byte("version = 2")); !errors.Is(err, mcpselect.ErrPolicy) || engine.Generation() != 1 {
		t.Errorf("%v, generation %d", err, engine.Generation())
	}
	if err := engine.Replace([]byte("version = 1\nextends = \"raw\"")); err != nil || engine.Generation() != 2 {
		t.Errorf("%v, generation %d", err, engine.Generation())
	}
	selection, err := engine.Select(context.Background(), mcpselect.Request{}, json.RawMessage(duplicate))
	if err != nil || selection.Lane != mcpselect.LaneRaw || selection.Generation != 2 {
		t.Errorf("%+v %v", selection, err)
	}
}

func TestVersion(t *testing.T) {
	if parts := strings.Split(mcpselect.Version(), "."); len(parts) != 3 {
		t.Errorf("%q", mcpselect.Version())
	}
}
