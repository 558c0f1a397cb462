// no_exceptions.cpp - built with -fno-exceptions -fno-rtti: the forms that do not throw are all there.
#include "mcp_select.hpp"

static_assert(MCP_SELECT_THROWS == 0, "this is built without exceptions");

int main() {
  using namespace mcp_select;
  auto engine = Engine::try_builtin("sep-2200");
  auto request = Request::try_make("server", "tool", "model");
  if (!engine || !request) return 1;
  Selection selection;
  Error error;
  const char *result = R"({"content":[],"structuredContent":[1]})";
  if (engine->try_select(*request, result, selection, &error) != Status::changed) return 2;
  if (selection.json() != R"({"content":[{"type":"text","text":"[1]"}]})") return 3;
  if (engine->try_select(*request, "[", selection, &error) != Status::err_json || error.message().empty()) return 4;
  auto none = Engine::try_builtin("none such");
  if (none || none.status() != Status::err_no_builtin) return 5;
  auto report = engine->try_diagnostics();
  return report && !report->view().empty() ? 0 : 6;
}
