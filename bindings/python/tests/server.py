"""A real MCP server over stdio, written with the `mcp` package (1.x or 2.x), with a tool for each shape of result."""

import json

from mcp.types import CallToolResult

try:
    from mcp.server import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server

FORECAST = {
    "city": "Oslo",
    "days": [{"day": "Mon", "sky": "rain", "high": 7.5}, {"day": "Tue", "sky": "sun", "high": 11}],
}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

RESULTS = {
    # The data twice: as JSON text and as a value.
    "twice": {
        "content": [{"type": "text", "text": json.dumps(FORECAST, indent=2)}],
        "structuredContent": FORECAST,
    },
    # A block that is for people only, and things for the host.
    "hidden": {
        "content": [
            {"type": "text", "text": "2 days of weather"},
            {"type": "text", "text": "SECRET for people", "annotations": {"audience": ["user"]}},
        ],
        "_meta": {"example.com/trace": "TRACE"},
    },
    # A text that lost the data.
    "lossy": {
        "content": [{"type": "text", "text": "2 days found."}],
        "structuredContent": FORECAST,
    },
    "picture": {
        "content": [
            {"type": "text", "text": "the map"},
            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        ],
    },
    "failed": {
        "content": [{"type": "text", "text": "no such city"}],
        "isError": True,
    },
    "empty": {"content": []},
}

server = Server("weather")


def make(name):
    def tool() -> CallToolResult:
        return CallToolResult.model_validate(RESULTS[name])

    server.add_tool(tool, name=name, description=f"returns {name}")


for name in RESULTS:
    make(name)

if __name__ == "__main__":
    server.run("stdio")
