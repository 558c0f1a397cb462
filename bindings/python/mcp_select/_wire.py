"""What a caller hands in, as the bytes of the wire."""

import json
from collections.abc import Mapping
from typing import Any, Protocol


class Model(Protocol):
    """A pydantic model, such as `mcp.types.CallToolResult` of any version."""

    def model_dump_json(self, *, by_alias: bool, exclude_none: bool) -> str:
        """Write the model as JSON."""


JsonLike = bytes | bytearray | memoryview | str | Mapping[str, Any] | Model


def to_wire(value: JsonLike) -> bytes:
    """Return the JSON of `value` with the member names of the wire (`_meta`, `structuredContent`).

    A `bytearray` or `memoryview` is copied: another thread could write to it while the library reads. A `dict` and a
    model were parsed before, so the spelling of their numbers is lost already.
    """
    if isinstance(value, bytes):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, str):
        # A lone surrogate is no UTF-8: the library names its place.
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, Mapping):
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            return json.dumps(value, separators=(",", ":")).encode()
    dump = getattr(value, "model_dump_json", None)
    if dump is None:
        kind = type(value).__name__
        raise TypeError(f"expected bytes, bytearray, memoryview, str, a mapping or a pydantic model, not {kind}")
    # `exclude_none` leaves out the members that a model has and the server did not send. Nulls inside
    # `structuredContent` and `_meta` are values and stay.
    return str(dump(by_alias=True, exclude_none=True)).encode("utf-8", "surrogatepass")
