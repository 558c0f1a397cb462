# Made of include/mcp_select.h by build_ffi.py; do not edit it.
from typing import Any, Final, Protocol

class CData(Protocol):
    def __getitem__(self, index: int, /) -> Any: ...
    def __setitem__(self, index: int, value: Any, /) -> None: ...
    def __int__(self) -> int: ...

class _FFI:
    NULL: Final[CData]
    def new(self, cdecl: str, init: Any = None, /) -> CData: ...
    def gc(self, cdata: CData, destructor: Any, size: int = 0, /) -> CData: ...
    def cast(self, cdecl: str, value: CData | int, /) -> CData: ...
    def buffer(self, cdata: CData, size: int, /) -> memoryview: ...

class _Lib:
    MCP_SELECT_ABI_VERSION: Final[int]
    MCP_SELECT_ABI_MIN_COMPATIBLE: Final[int]
    MCP_SELECT_UNCHANGED: Final[int]
    MCP_SELECT_CHANGED: Final[int]
    MCP_SELECT_NOT_FOR_READERS: Final[int]
    MCP_SELECT_ERR_ARGUMENT: Final[int]
    MCP_SELECT_ERR_INTERNAL: Final[int]
    MCP_SELECT_ERR_POLICY: Final[int]
    MCP_SELECT_ERR_POLICY_EMPTY: Final[int]
    MCP_SELECT_ERR_POLICY_FILE: Final[int]
    MCP_SELECT_ERR_NO_BUILTIN: Final[int]
    MCP_SELECT_ERR_NO_FILE: Final[int]
    MCP_SELECT_ERR_AUDIENCE: Final[int]
    MCP_SELECT_ERR_TOOL: Final[int]
    MCP_SELECT_ERR_REVISION: Final[int]
    MCP_SELECT_ERR_JSON: Final[int]
    MCP_SELECT_ERR_UTF8: Final[int]
    MCP_SELECT_ERR_DEPTH: Final[int]
    MCP_SELECT_ERR_SIZE: Final[int]
    MCP_SELECT_ERR_SHAPE: Final[int]
    MCP_SELECT_ERR_RESULT_TYPE: Final[int]
    MCP_SELECT_ERR_SCHEMA: Final[int]
    MCP_SELECT_INPUT_RESULT: Final[int]
    MCP_SELECT_INPUT_SAMPLING: Final[int]
    MCP_SELECT_OUTCOME_SELECTED: Final[int]
    MCP_SELECT_OUTCOME_NEEDS_INPUT: Final[int]
    MCP_SELECT_OUTCOME_TASK: Final[int]
    MCP_SELECT_LANE_NOTHING: Final[int]
    MCP_SELECT_LANE_CONTENT: Final[int]
    MCP_SELECT_LANE_STRUCTURED: Final[int]
    MCP_SELECT_LANE_STRUCTURED_ONLY: Final[int]
    MCP_SELECT_LANE_BOTH: Final[int]
    MCP_SELECT_LANE_RAW: Final[int]
    MCP_SELECT_LANE_WHOLE: Final[int]
    MCP_SELECT_BLOCK_KEPT: Final[int]
    MCP_SELECT_BLOCK_REWRITTEN: Final[int]
    MCP_SELECT_BLOCK_NOTE: Final[int]
    MCP_SELECT_BLOCK_ADDED: Final[int]
    def mcp_select_abi_version(self) -> int: ...
    def mcp_select_abi_min_compatible(self) -> int: ...
    def mcp_select_version(self, len: CData, /) -> CData: ...
    def mcp_select_engine_new(self, policy: bytes | CData, policy_len: int, out: CData, err: CData, /) -> int: ...
    def mcp_select_engine_builtin(self, name: bytes | CData, name_len: int, out: CData, err: CData, /) -> int: ...
    def mcp_select_engine_open(self, path: bytes | CData, path_len: int, out: CData, err: CData, /) -> int: ...
    def mcp_select_engine_reload(self, engine: CData, err: CData, /) -> int: ...
    def mcp_select_engine_replace(
        self,
        engine: CData,
        policy: bytes | CData,
        policy_len: int,
        err: CData,
        /,
    ) -> int: ...
    def mcp_select_engine_auto_reload(self, engine: CData, interval_ms: int, /) -> int: ...
    def mcp_select_engine_generation(self, engine: CData, /) -> int: ...
    def mcp_select_engine_diagnostics(self, engine: CData, out: CData, err: CData, /) -> int: ...
    def mcp_select_engine_table(self, engine: CData, request: CData, out: CData, err: CData, /) -> int: ...
    def mcp_select_engine_free(self, engine: CData, /) -> None: ...
    def mcp_select_request_new(
        self,
        server: bytes | CData,
        server_len: int,
        tool: bytes | CData,
        tool_len: int,
        audience: bytes | CData,
        audience_len: int,
        out: CData,
        err: CData,
        /,
    ) -> int: ...
    def mcp_select_request_set_revision(
        self,
        request: CData,
        revision: bytes | CData,
        revision_len: int,
        err: CData,
        /,
    ) -> int: ...
    def mcp_select_request_set_tool_definition(
        self,
        request: CData,
        tool: bytes | CData,
        tool_len: int,
        err: CData,
        /,
    ) -> int: ...
    def mcp_select_request_add_extension(
        self,
        request: CData,
        extension: bytes | CData,
        extension_len: int,
        err: CData,
        /,
    ) -> int: ...
    def mcp_select_request_set_label(
        self,
        request: CData,
        name: bytes | CData,
        name_len: int,
        value: bytes | CData,
        value_len: int,
        err: CData,
        /,
    ) -> int: ...
    def mcp_select_request_set_input(self, request: CData, input: int, /) -> int: ...
    def mcp_select_request_clone(
        self,
        request: CData,
        audience: bytes | CData,
        audience_len: int,
        out: CData,
        err: CData,
        /,
    ) -> int: ...
    def mcp_select_request_free(self, request: CData, /) -> None: ...
    def mcp_select_selection_new(self, out: CData, /) -> int: ...
    def mcp_select_result(
        self,
        engine: CData,
        request: CData,
        result: bytes | CData,
        result_len: int,
        selection: CData,
        err: CData,
        /,
    ) -> int: ...
    def mcp_select_selection_json(self, selection: CData, len: CData, /) -> CData: ...
    def mcp_select_selection_text(
        self,
        selection: CData,
        result: bytes | CData,
        result_len: int,
        separator: bytes | CData,
        separator_len: int,
        text: CData,
        text_len: CData,
        /,
    ) -> int: ...
    def mcp_select_selection_outcome(self, selection: CData, /) -> int: ...
    def mcp_select_selection_lane(self, selection: CData, /) -> int: ...
    def mcp_select_selection_is_error(self, selection: CData, /) -> int: ...
    def mcp_select_selection_generation(self, selection: CData, /) -> int: ...
    def mcp_select_selection_block_count(self, selection: CData, /) -> int: ...
    def mcp_select_selection_block_source(self, selection: CData, index: int, /) -> int: ...
    def mcp_select_selection_block_kind(self, selection: CData, index: int, /) -> int: ...
    def mcp_select_selection_decision(self, selection: CData, len: CData, /) -> CData: ...
    def mcp_select_selection_trim(self, selection: CData, keep: int, /) -> None: ...
    def mcp_select_selection_free(self, selection: CData, /) -> None: ...
    def mcp_select_error_status(self, error: CData, /) -> int: ...
    def mcp_select_error_message(self, error: CData, len: CData, /) -> CData: ...
    def mcp_select_error_offset(self, error: CData, /) -> int: ...
    def mcp_select_error_json(self, error: CData, len: CData, /) -> CData: ...
    def mcp_select_error_free(self, error: CData, /) -> None: ...
    def mcp_select_text_bytes(self, text: CData, len: CData, /) -> CData: ...
    def mcp_select_text_free(self, text: CData, /) -> None: ...

ffi: Final[_FFI]
lib: Final[_Lib]
