/* second.c - two Rust archives in one program: each works, and each catches its own panics. */
#include "check.h"

int64_t second_sum(const uint8_t *text, size_t len);

int main(void) {
  mcp_select_engine *engine = builtin("sep-2200");
  mcp_select_request *route = request("s", "t", "model");
  mcp_select_selection *buffer = selection();
  size_t len = 0;
  const uint8_t *json;
  CHECK(second_sum(TEXT("1,2,39")) == 42);
  CHECK(mcp_select_result(engine, route, TEXT("{\"content\":[],\"structuredContent\":{\"a\":[1]}}"), buffer, NULL) ==
        MCP_SELECT_CHANGED);
  CHECK(second_sum(TEXT("1,x")) == -1);
  json = mcp_select_selection_json(buffer, &len);
  CHECK(is(json, len, "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":[1]}\"}]}"));
  mcp_select_selection_free(buffer);
  mcp_select_request_free(route);
  mcp_select_engine_free(engine);
  return 0;
}
