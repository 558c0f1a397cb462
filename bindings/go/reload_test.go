package mcpselect_test

// Policies that change under an engine: in the ways that editors, deployments and accidents change files.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
)

// numbered is a policy that says its number to whoever reads a result with nothing in it.
func numbered(number int) string {
	return fmt.Sprintf("version = 1\nextends = \"sep-2200\"\n\n[audience.model]\nplaceholder = \"policy %d\"\n", number)
}

// A follower selects with an engine whose files change.
type follower struct {
	*testing.T
	engine *mcpselect.Engine
}

func follow(t *testing.T, path string) follower {
	engine, err := mcpselect.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	engine.SetAutoReload(time.Millisecond)
	return follower{t, engine}
}

func (f follower) says() string {
	f.Helper()
	selection, err := f.engine.Select(context.Background(), mcpselect.Request{}, json.RawMessage(`{"content":[]}`), mcpselect.WithText(""))
	if err != nil {
		f.Fatal(err)
	}
	return selection.Text
}

// soon selects until it is told what is expected.
func (f follower) soon(expected string) {
	f.Helper()
	f.until("the policy says "+expected, func() bool { return f.says() == expected })
}

func (f follower) until(what string, holds func() bool) {
	f.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			told, _ := f.engine.Diagnostics()
			f.Fatalf("after 10 s: not %s; diagnostics %+v", what, told)
		}
	}
}

func (f follower) lastError() *mcpselect.Error {
	f.Helper()
	told, err := f.engine.Diagnostics()
	if err != nil {
		f.Fatal(err)
	}
	return told.Error
}

func (f follower) failsWith(code mcpselect.Code, still string) {
	f.Helper()
	f.until("an error", func() bool { f.says(); return f.lastError() != nil })
	if err := f.lastError(); !errors.Is(err, code) || f.says() != still {
		f.Fatalf("%v, and the policy says %s", err, f.says())
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatIsWrittenAnew(t *testing.T) {
	path := written(t, "policy.toml", numbered(1))
	f := follow(t, path)
	f.soon("policy 1")
	write(t, path, numbered(2222))
	f.soon("policy 2222")
	if f.engine.Generation() != 2 {
		t.Errorf("generation %d", f.engine.Generation())
	}
}

func TestAFileThatAnEditorRenamesIntoPlace(t *testing.T) {
	path := written(t, "policy.toml", numbered(1))
	f := follow(t, path)
	f.soon("policy 1")
	for number := 2; number < 5; number++ {
		// Of the same length, and perhaps written within one tick of the file system's clock.
		write(t, path+".new", numbered(number))
		must(t, os.Rename(path+".new", path))
		f.soon(fmt.Sprint("policy ", number))
	}
}

// Kubernetes: policy.toml is a link to ..data/policy.toml, and ..data a link to a folder, which is swapped.
func TestAConfigMapThatIsSwapped(t *testing.T) {
	mount := t.TempDir()
	publish := func(folder string, number int) {
		must(t, os.Mkdir(filepath.Join(mount, folder), 0o700))
		write(t, filepath.Join(mount, folder, "policy.toml"), numbered(number))
		must(t, os.Symlink(folder, filepath.Join(mount, "..data_tmp")))
		must(t, os.Rename(filepath.Join(mount, "..data_tmp"), filepath.Join(mount, "..data")))
	}
	publish("..2026_11_30_1", 1)
	path := filepath.Join(mount, "policy.toml")
	must(t, os.Symlink(filepath.Join("..data", "policy.toml"), path))
	f := follow(t, path)
	f.soon("policy 1")
	publish("..2026_11_30_2", 2)
	must(t, os.RemoveAll(filepath.Join(mount, "..2026_11_30_1")))
	f.soon("policy 2")
}

func TestAFileThatIsOnlyHalfWritten(t *testing.T) {
	path := written(t, "policy.toml", numbered(1))
	f := follow(t, path)
	f.soon("policy 1")
	// A writer that is slower than the engine looks: each look sees another size, so none reads what is there.
	whole := numbered(2) + strings.Repeat("# a policy that is long\n", 20)
	for end := 0; end < len(whole); end += 16 {
		write(t, path, whole[:end])
		time.Sleep(2 * time.Millisecond)
		if said := f.says(); said != "policy 1" || f.lastError() != nil {
			t.Fatalf("after %d bytes: %s, %v", end, said, f.lastError())
		}
	}
	write(t, path, whole)
	f.soon("policy 2")
	// A writer that stopped in the middle: the last good policy stays, and the diagnostics say so.
	write(t, path, whole[:len(numbered(2))-5])
	f.failsWith(mcpselect.ErrPolicy, "policy 2")
	if err := f.lastError(); err.Line != 5 || !strings.HasSuffix(err.File, "policy.toml") {
		t.Errorf("%+v", err)
	}
}

func TestAFileThatIsDeletedAndComesBack(t *testing.T) {
	path := written(t, "policy.toml", numbered(1))
	f := follow(t, path)
	f.soon("policy 1")
	must(t, os.Remove(path))
	f.failsWith(mcpselect.ErrPolicyFile, "policy 1")
	write(t, path, numbered(2))
	f.soon("policy 2")
	if f.lastError() != nil {
		t.Error(f.lastError())
	}
}

func TestAFileThatIsBrokenAndMended(t *testing.T) {
	path := written(t, "policy.toml", numbered(1))
	f := follow(t, path)
	f.soon("policy 1")
	write(t, path, "version = 1\nordr = 1\n")
	f.failsWith(mcpselect.ErrPolicy, "policy 1")
	if _, err := f.engine.Reload(); !errors.Is(err, mcpselect.ErrPolicy) {
		t.Error(err)
	}
	write(t, path, "\n")
	f.until("an empty policy", func() bool { f.says(); return errors.Is(f.lastError(), mcpselect.ErrPolicyEmpty) })
	// Mended to what is in force: no new generation, and the error is gone.
	write(t, path, numbered(1))
	f.until("no error", func() bool { f.says(); return f.lastError() == nil })
	if f.engine.Generation() != 1 {
		t.Errorf("generation %d", f.engine.Generation())
	}
	write(t, path, numbered(3))
	f.soon("policy 3")
}

func TestAnAudienceThatIsDropped(t *testing.T) {
	auditor := "\n[audience.auditor]\nlike = \"model\"\n"
	path := written(t, "policy.toml", numbered(1)+auditor)
	f := follow(t, path)
	f.soon("policy 1")
	write(t, path, numbered(2))
	f.failsWith(mcpselect.ErrPolicy, "policy 1")
	if !strings.Contains(f.lastError().Message, `the audience "auditor" of the policy in force is no longer defined`) {
		t.Error(f.lastError())
	}
	if _, err := f.engine.Select(context.Background(), mcpselect.Request{Audience: "auditor"}, json.RawMessage(plain)); err != nil {
		t.Error(err)
	}
	write(t, path, numbered(3)+auditor)
	f.soon("policy 3")
}

func TestAFileThatIsExtended(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "base.toml"), numbered(1))
	write(t, filepath.Join(folder, "policy.toml"), "version = 1\nextends = \"./base.toml\"\n")
	f := follow(t, filepath.Join(folder, "policy.toml"))
	f.soon("policy 1")
	write(t, filepath.Join(folder, "base.toml"), numbered(22))
	f.soon("policy 22")
}

func TestReplaceForgetsTheFiles(t *testing.T) {
	path := written(t, "policy.toml", numbered(1))
	f := follow(t, path)
	must(t, f.engine.Replace([]byte(numbered(7))))
	write(t, path, numbered(22))
	for range 10 {
		time.Sleep(2 * time.Millisecond)
		if said := f.says(); said != "policy 7" {
			t.Fatal(said)
		}
	}
	if _, err := f.engine.Reload(); !errors.Is(err, mcpselect.ErrNoFile) {
		t.Error(err)
	}
}

func TestAutoReloadCanBeSwitchedOff(t *testing.T) {
	path := written(t, "policy.toml", numbered(1))
	f := follow(t, path)
	f.engine.SetAutoReload(0)
	write(t, path, numbered(22))
	for range 10 {
		time.Sleep(2 * time.Millisecond)
		if said := f.says(); said != "policy 1" {
			t.Fatal(said)
		}
	}
	if changed, err := f.engine.Reload(); !changed || err != nil || f.says() != "policy 22" {
		t.Errorf("%v %v", changed, err)
	}
	if changed, err := f.engine.Reload(); changed || err != nil {
		t.Errorf("%v %v", changed, err)
	}
	for interval, milliseconds := range map[time.Duration]int64{
		-time.Second: 0, time.Nanosecond: 1, 1500 * time.Microsecond: 1, time.Second: 1000, 1 << 62: 1<<32 - 1,
	} {
		f.engine.SetAutoReload(interval)
		if told, err := f.engine.Diagnostics(); err != nil || told.AutoReloadMs != milliseconds {
			t.Errorf("%v: %d %v", interval, told.AutoReloadMs, err)
		}
	}
}

// Eight goroutines select while a thousand policies come and go. Policy number n is generation n, so each selection shows
// whether one policy made all of it: the text, the generation, and the decision record.
func TestEachSelectionIsByOneGeneration(t *testing.T) {
	const reloads = 1000
	path := written(t, "policy.toml", numbered(1))
	engine, err := mcpselect.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	engine.SetAutoReload(0)
	prepared, err := engine.Prepare(mcpselect.Request{Server: "s"})
	if err != nil {
		t.Fatal(err)
	}
	var done atomic.Bool
	var selections atomic.Int64
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			var last uint64
			for !done.Load() {
				var selection mcpselect.Selection
				var err error
				options := []mcpselect.Option{mcpselect.WithText(""), mcpselect.WithDecision()}
				if worker%2 == 0 {
					selection, err = prepared.Select(context.Background(), json.RawMessage(`{"content":[]}`), options...)
				} else {
					selection, err = engine.Select(context.Background(), mcpselect.Request{Server: "t"}, json.RawMessage(`{"content":[]}`), options...)
				}
				text := fmt.Sprint("policy ", selection.Generation)
				if err != nil || selection.Text != text || string(selection.JSON) != `{"content":[{"type":"text","text":"`+text+`"}]}` ||
					!strings.Contains(string(selection.Decision), fmt.Sprintf(`"generation":%d}`, selection.Generation)) {
					t.Errorf("%+v, decision %s, %v", selection, selection.Decision, err)
					return
				}
				if selection.Generation < last {
					t.Errorf("generation %d after %d", selection.Generation, last)
					return
				}
				last = selection.Generation
				// Without a rest the eight would leave the one that reloads no processor.
				if selections.Add(1)%8 == 0 {
					time.Sleep(100 * time.Microsecond)
				}
			}
		})
	}
	for number := 2; number <= reloads+1; number++ {
		write(t, path, numbered(number))
		if changed, err := engine.Reload(); !changed || err != nil {
			t.Fatalf("%d: %v %v", number, changed, err)
		}
	}
	done.Store(true)
	wait.Wait()
	if engine.Generation() != reloads+1 {
		t.Errorf("generation %d", engine.Generation())
	}
	t.Logf("%d selections by %d policies", selections.Load(), reloads+1)
}
