"""Adapters: an engine between a server's results and the model, in a few lines for each client and framework.

| module | for | use |
|---|---|---|
| `mcp` | sessions and clients of the `mcp` package, 1.x and 2.x | `attach(session, engine, server="github")` |
| `fastmcp` | FastMCP clients; FastMCP servers and proxies | `attach(client, ...)`; `SelectMiddleware(...)` |
| `langchain` | `langchain-mcp-adapters` | `tool_interceptors=[SelectInterceptor(engine)]` |
| `openai_agents` | MCP servers of `openai-agents` | `attach(server, engine)` |
| `pydantic_ai` | `MCPToolset` of `pydantic-ai` | `attach(toolset, engine, server="github")` |
| `google_adk` | `McpToolset` of `google-adk` | `after_tool_callback=select_results(engine, server="github")` |

All of them get results that an SDK has parsed already. Importing a module here imports nothing of the framework
unless it derives from one of its classes. A result that the policy refuses raises `mcp_select.ResultError`, which each
framework treats as a failed tool call.
"""
