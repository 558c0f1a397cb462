package mcpselect_test

// The command line, for tests that compare with it, and what they find outside this folder.

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
)

// outside finds a file or folder that an environment variable names, or that stands at a place relative to this folder.
// Without it the test is skipped, but never on a build server.
func outside(t testing.TB, variable, place string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		path = place
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v; %s names it", err, variable)
		}
		t.Skipf("skipped: %v; %s names it", err, variable)
	}
	return path
}

// A commandLine is mcp-select with a policy and a request.
type commandLine struct {
	path    string
	policy  string
	request mcpselect.Request
	// definition is a file with the request's tool definition.
	definition string
}

// hasValidator is whether the library was built with the feature `schema`.
func hasValidator() bool {
	engine, err := mcpselect.New([]byte("version = 1\n[audience.model]\nschema = \"reject\"\n"))
	if err != nil {
		return false
	}
	engine.Close()
	return true
}

// run gives standard output, or what is said behind "error: ".
func (c commandLine) run(t testing.TB, result []byte, verb ...string) (out []byte, refusal string) {
	t.Helper()
	args := append(verb, "--policy="+c.policy, "--server="+c.request.Server, "--tool="+c.request.Tool)
	if c.request.Audience != "" {
		args = append(args, "--audience="+c.request.Audience)
	}
	if c.request.Revision != "" {
		args = append(args, "--revision="+c.request.Revision)
	}
	if c.definition != "" {
		args = append(args, "--tool-definition="+c.definition)
	}
	for name, value := range c.request.Labels {
		args = append(args, "--label="+name+"="+value)
	}
	for _, extension := range c.request.Extensions {
		args = append(args, "--extension="+extension)
	}
	if c.request.Sampling {
		args = append(args, "--input=sampling")
	}
	var stderr bytes.Buffer
	command := exec.Command(c.path, args...)
	command.Stdin, command.Stderr = bytes.NewReader(result), &stderr
	out, err := command.Output()
	if err != nil {
		text := strings.TrimSuffix(stderr.String(), "\n")
		refusal, found := strings.CutPrefix(text, "error: ")
		if !found {
			t.Fatalf("%v: %v: %s", args, err, text)
		}
		return nil, refusal
	}
	return out, ""
}

// same compares a selection with what the command line says of the same request and result: output and decision record,
// byte for byte, or the message of the refusal.
func (c commandLine) same(t testing.TB, name string, result []byte, selection mcpselect.Selection, err error) {
	t.Helper()
	line, refusal := c.run(t, result, "select")
	record, recordRefusal := c.run(t, result, "explain", "--format=json")
	if err != nil {
		if want := "mcpselect: " + refusal; err.Error() != want || refusal != recordRefusal {
			t.Errorf("%s: refusal\n  command line %s\n  Go           %s", name, want, err)
		}
		return
	}
	if refusal != "" {
		t.Errorf("%s: the command line refuses it: %s", name, refusal)
		return
	}
	output := selection.JSON
	if selection.Status == mcpselect.NotForReaders {
		output = result
	}
	// The command line writes one line, whatever white space the result has.
	var compact bytes.Buffer
	if err := json.Compact(&compact, output); err != nil {
		t.Errorf("%s: the output is no JSON: %v", name, err)
	}
	if compact.WriteByte('\n'); !bytes.Equal(compact.Bytes(), line) {
		t.Errorf("%s: output\n  command line %s\n  Go           %s", name, line, compact.Bytes())
	}
	// The command line has the JSON Schema validator, and its record names the setting `schema` for a tool that declares an
	// outputSchema. A library without it does not; `make go-test-schema` compares the two with it.
	if c.request.ToolDefinition != nil && !hasValidator() {
		return
	}
	if !bytes.Equal(append(bytes.Clone(selection.Decision), '\n'), record) {
		t.Errorf("%s: decision record\n  command line %s\n  Go           %s", name, record, selection.Decision)
	}
}
