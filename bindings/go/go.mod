module github.com/mcp-select/mcp-select/bindings/go

go 1.25
