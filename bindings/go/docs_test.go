package mcpselect_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every Go snippet of docs/embedding-go.md stands, line for line, in a file that is compiled and run here: an example, a
// test, or the quickstart. Indentation does not count.
func TestTheSnippetsOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/embedding-go.md")
	if os.IsNotExist(err) {
		t.Skip("skipped: this module stands alone")
	}
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, "example_test.go") || strings.HasPrefix(path, "examples/") && strings.HasSuffix(path, ".go")) {
			text, err := os.ReadFile(path)
			sources = append(sources, flat(string(text)))
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	snippets := strings.Split(string(page), "```go\n")[1:]
	for _, snippet := range snippets {
		snippet, _, _ = strings.Cut(snippet, "```")
		found := false
		for _, source := range sources {
			found = found || strings.Contains(source, flat(snippet))
		}
		if !found {
			t.Errorf("stands in no file that is run:\n%s", snippet)
		}
	}
	if len(snippets) < 5 || len(sources) < 4 {
		t.Errorf("%d snippets, %d files", len(snippets), len(sources))
	}
}

func flat(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n") + "\n"
}
