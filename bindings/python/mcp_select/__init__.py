"""What each audience sees of an MCP tool result, decided by a policy file.

    import mcp_select

    engine = mcp_select.Engine.open("policy.toml")
    seen = engine.select(result_bytes, server="github", tool="list_issues")
    send_to_model(seen.text())

`result` may be the bytes of the result, a `str`, a `dict`, or a `CallToolResult` of the `mcp` package. The adapters for
clients and agent frameworks stand in `mcp_select.adapters`.
"""

from mcp_select._engine import Engine, Label, ResultLike
from mcp_select._error import ArgumentError, Error, InternalError, PolicyError, RequestError, ResultError
from mcp_select._raw import VERSION as __version__
from mcp_select._selection import Block, BlockKind, Lane, Outcome, Selection

__all__ = [
    "ArgumentError",
    "Block",
    "BlockKind",
    "Engine",
    "Error",
    "InternalError",
    "Label",
    "Lane",
    "Outcome",
    "PolicyError",
    "RequestError",
    "ResultError",
    "ResultLike",
    "Selection",
    "__version__",
]
