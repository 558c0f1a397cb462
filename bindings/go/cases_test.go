package mcpselect_test

// Runs tests/cases/*.toml: what each audience gets of a result under a policy, as data that every language runs. Each
// case is checked against what it expects, and against the command line, byte for byte.

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
	"github.com/pelletier/go-toml/v2"
)

type caseFile struct {
	About      string  `toml:"about"`
	Policy     *string `toml:"policy"`
	PolicyTOML *string `toml:"policy_toml"`
	// Needs is a cargo feature; a library without it refuses the policy.
	Needs string     `toml:"needs"`
	Cases []testCase `toml:"cases"`
}

type testCase struct {
	Name           string            `toml:"name"`
	Policy         *string           `toml:"policy"`
	PolicyTOML     *string           `toml:"policy_toml"`
	Server         *string           `toml:"server"`
	Tool           *string           `toml:"tool"`
	Audience       string            `toml:"audience"`
	Revision       string            `toml:"revision"`
	ToolDefinition string            `toml:"tool_definition"`
	Labels         map[string]string `toml:"labels"`
	Extensions     []string          `toml:"extensions"`
	Input          string            `toml:"input"`
	Result         string            `toml:"result"`
	ResultHex      string            `toml:"result_hex"`
	Expect         expectation       `toml:"expect"`
	Stable         *bool             `toml:"stable"`
	KnownFault     string            `toml:"known_fault"`
}

type expectation struct {
	Status   string    `toml:"status"`
	JSON     string    `toml:"json"`
	Text     *string   `toml:"text"`
	Lane     *string   `toml:"lane"`
	Outcome  *string   `toml:"outcome"`
	IsError  *bool     `toml:"is_error"`
	Message  *string   `toml:"message"`
	Blocks   *[]string `toml:"blocks"`
	Dropped  *[]string `toml:"dropped"`
	Notes    *[]string `toml:"notes"`
	Deviates *[]string `toml:"deviates"`
	Rule     *string   `toml:"rule"`
	Fact     *string   `toml:"fact"`
}

func TestCases(t *testing.T) {
	folder := outside(t, "MCP_SELECT_CASES", "../../tests/cases")
	paths, err := filepath.Glob(filepath.Join(folder, "*.toml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases in %s: %v", folder, err)
	}
	count := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file caseFile
		if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		count += len(file.Cases)
		stem := strings.TrimSuffix(filepath.Base(path), ".toml")
		for _, one := range file.Cases {
			t.Run(stem+"/"+one.Name, func(t *testing.T) {
				t.Parallel()
				one.test(t, &file)
			})
		}
	}
	t.Logf("%d cases in %d files", count, len(paths))
}

func (c *testCase) test(t *testing.T, file *caseFile) {
	result := []byte(c.Result)
	if c.ResultHex != "" {
		var err error
		if result, err = hex.DecodeString(c.ResultHex); err != nil {
			t.Fatal(err)
		}
	}
	ctx, request := context.Background(), c.request(t)
	engine, policy := c.engine(t, file)
	options := []mcpselect.Option{mcpselect.WithText("\n"), mcpselect.WithBlocks(), mcpselect.WithDecision()}
	selection, err := engine.Select(ctx, request, result, options...)
	wrong := c.differences(selection, err, result)
	if err == nil && selection.Changed() && (c.Stable == nil || *c.Stable) {
		twice, err := engine.Select(ctx, request, selection.JSON)
		if err != nil || !bytes.Equal(twice.JSON, selection.JSON) {
			wrong = append(wrong, fmt.Sprintf("second pass\n  first  %s\n  second %s %v", selection.JSON, twice.JSON, err))
		}
	}
	switch {
	case c.KnownFault == "" && len(wrong) > 0:
		t.Errorf("%s\n%s", file.About, strings.Join(wrong, "\n"))
	case c.KnownFault != "" && len(wrong) == 0:
		t.Errorf("passes, but has known_fault: %s", c.KnownFault)
	}

	line := commandLine{path: outside(t, "MCP_SELECT_CLI", "../../target/release/mcp-select"), policy: policy, request: request}
	if c.ToolDefinition != "" {
		line.definition = written(t, "tool.json", c.ToolDefinition)
	}
	line.same(t, c.Name, result, selection, err)
}

func written(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// engine opens the policy, and says what the command line must be told to use the same.
func (c *testCase) engine(t *testing.T, file *caseFile) (*mcpselect.Engine, string) {
	name, text := c.Policy, c.PolicyTOML
	if name == nil && text == nil {
		name, text = file.Policy, file.PolicyTOML
	}
	var engine *mcpselect.Engine
	var policy string
	var err error
	if name != nil {
		policy = *name
		engine, err = mcpselect.Builtin(policy)
	} else {
		policy = written(t, "policy.toml", *text)
		engine, err = mcpselect.Open(policy)
	}
	if refused := new(mcpselect.Error); file.Needs != "" && errors.As(err, &refused) && refused.Diagnostics != nil && refused.Diagnostics[0].Code == "feature" {
		// `make go-test-schema` has them.
		t.Skipf("skipped: %s", refused.Message)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine, policy
}

func (c *testCase) request(t *testing.T) mcpselect.Request {
	or := func(value *string, other string) string {
		if value == nil {
			return other
		}
		return *value
	}
	request := mcpselect.Request{
		Server: or(c.Server, "demo"), Tool: or(c.Tool, "tool"), Audience: c.Audience, Revision: c.Revision,
		Labels: c.Labels, Extensions: c.Extensions, Sampling: c.Input == "sampling",
	}
	if c.ToolDefinition != "" {
		request.ToolDefinition = json.RawMessage(c.ToolDefinition)
	}
	if c.Input != "" && c.Input != "result" && c.Input != "sampling" {
		t.Fatalf("no input %q", c.Input)
	}
	return request
}

// differences says what is other than expected.
func (c *testCase) differences(selection mcpselect.Selection, failure error, result []byte) (wrong []string) {
	compare := func(what, expected, got string) {
		if expected != got {
			wrong = append(wrong, fmt.Sprintf("%s\n  expected %q\n  got      %q", what, expected, got))
		}
	}
	expect := &c.Expect
	if failure != nil {
		var refused *mcpselect.Error
		if !errors.As(failure, &refused) {
			return []string{failure.Error()}
		}
		compare("status", expect.Status, refused.Code.Error())
		compare("status of the selection", expect.Status, selection.Status.String())
		if expect.Message != nil {
			compare("message", *expect.Message, refused.Message)
		}
		if selection.JSON != nil || selection.Text != "" || selection.Decision != nil || selection.Blocks != nil {
			wrong = append(wrong, "the selection is not empty after an error")
		}
		return wrong
	}
	compare("status", expect.Status, selection.Status.String())
	switch selection.Status {
	case mcpselect.Changed:
		compare("json", expect.JSON, string(selection.JSON))
	case mcpselect.Unchanged:
		compare("json", string(result), string(selection.JSON))
	default:
		compare("json", "", string(selection.JSON))
	}
	if expect.Text != nil {
		compare("text", *expect.Text, selection.Text)
	}
	if expect.Lane != nil {
		compare("lane", *expect.Lane, selection.Lane.String())
	}
	if expect.Outcome != nil {
		compare("outcome", *expect.Outcome, selection.Outcome.String())
	}
	if expect.IsError != nil {
		compare("is_error", fmt.Sprint(*expect.IsError), fmt.Sprint(selection.IsError))
	}
	list := func(what string, expected *[]string, got []string) {
		if expected != nil {
			compare(what, strings.Join(*expected, ", "), strings.Join(got, ", "))
		}
	}
	var blocks []string
	for _, block := range selection.Blocks {
		text := block.Fate.String()
		if block.Source >= 0 {
			text = fmt.Sprintf("%s %d", text, block.Source)
		}
		blocks = append(blocks, text)
	}
	list("blocks", expect.Blocks, blocks)

	var record struct {
		Dropped []struct{ What, Why string }
		Notes   []struct {
			Code  string
			Count int
		}
		Deviates []string
		Settings map[string]struct{ Rule string }
	}
	if err := json.Unmarshal(selection.Decision, &record); err != nil {
		return append(wrong, fmt.Sprintf("decision record: %v: %s", err, selection.Decision))
	}
	var dropped, notes, rules []string
	for _, d := range record.Dropped {
		dropped = append(dropped, d.What+" "+d.Why)
	}
	for _, n := range record.Notes {
		notes = append(notes, fmt.Sprintf("%s %d", n.Code, n.Count))
	}
	for _, setting := range record.Settings {
		rules = append(rules, setting.Rule)
	}
	list("dropped", expect.Dropped, dropped)
	list("notes", expect.Notes, notes)
	list("deviates", expect.Deviates, record.Deviates)
	if expect.Rule != nil && !slices.Contains(rules, *expect.Rule) {
		compare("rule", *expect.Rule, strings.Join(rules, ", "))
	}
	if expect.Fact != nil {
		_, facts, _ := strings.Cut(string(selection.Decision), `"facts":`)
		facts, _, _ = strings.Cut(facts, `,"settings":`)
		if !strings.Contains(facts, *expect.Fact) {
			compare("fact", *expect.Fact, facts)
		}
	}
	return wrong
}
