"""The `google-adk` package: a callback after the tools of a `McpToolset`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from mcp_select._wire import to_wire

if TYPE_CHECKING:
    from mcp_select._engine import Engine


def select_results(
    engine: Engine,
    *,
    server: str | Callable[[Any], str],
    audience: str = "model",
    revision: str | None = None,
    labels: Mapping[str, str] | None = None,
    extensions: Collection[str] | None = None,
) -> Callable[[Any, dict[str, Any], Any, Any], dict[str, Any] | None]:
    """Return an `after_tool_callback`: the function response holds what `audience` sees.

        agent = LlmAgent(..., after_tool_callback=select_results(engine, server="github"))

    `server` is the host's own id of the toolset, or a function that says it for a tool. Tools that are none of MCP, and
    responses that are none of a server's, are left alone. The other arguments are those of `Engine.select`.
    """

    def after_tool(tool: Any, args: dict[str, Any], tool_context: Any, tool_response: Any) -> dict[str, Any] | None:
        definition = getattr(tool, "raw_mcp_tool", None)
        if definition is None or not isinstance(tool_response, dict):
            return None
        if not isinstance(tool_response.get("content"), list):
            return None  # ADK's own report of a failed call
        selection = engine.select(
            _renamed(tool_response, "meta", "_meta"),
            server=server if isinstance(server, str) else server(tool),
            tool=definition.name,
            audience=audience,
            revision=revision,
            tool_definition=to_wire(definition),
            labels=labels,
            extensions=extensions,
        )
        return _renamed(selection.result(), "_meta", "meta") if selection.changed else None

    return after_tool


def _renamed(result: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    """Rename the member of the result, its blocks and their resources: ADK writes `meta` for `_meta`."""
    renamed = {new if name == old else name: value for name, value in result.items()}
    if isinstance(renamed.get("content"), list):
        renamed["content"] = [_renamed_block(block, old, new) for block in renamed["content"]]
    return renamed


def _renamed_block(block: Any, old: str, new: str) -> Any:
    if not isinstance(block, dict):
        return block
    renamed = {new if name == old else name: value for name, value in block.items()}
    resource = renamed.get("resource")
    if isinstance(resource, dict):
        renamed["resource"] = {new if name == old else name: value for name, value in resource.items()}
    return renamed
