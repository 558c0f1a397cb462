package mcpselect_test

import (
	"bytes"
	"os"
	"testing"
)

// The binding has its own copy of the C header, since a Go module holds nothing from above its folder.
func TestTheHeaderIsTheLibrarys(t *testing.T) {
	own, err := os.ReadFile("internal/native/include/mcp_select.h")
	if err != nil {
		t.Fatal(err)
	}
	library, err := os.ReadFile("../../include/mcp_select.h")
	if os.IsNotExist(err) {
		t.Skip("skipped: this module stands alone")
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(own, library) {
		t.Error("include/mcp_select.h has changed; run `make go-header`")
	}
}
