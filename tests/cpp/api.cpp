// api.cpp - mcp_select.hpp: both forms of every call, moves, and what an Error carries.
#include "mcp_select.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <type_traits>
#include <vector>

#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);      \
      std::exit(1);                                                                            \
    }                                                                                          \
  } while (0)

using namespace mcp_select;

template <class T>
constexpr bool move_only = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                           !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(move_only<Engine> && move_only<Request> && move_only<Selection> && move_only<Text>);
static_assert(std::is_nothrow_copy_constructible_v<Error>);

static const std::string_view both = R"({"content":[{"type":"text","text":"7 C"}],"structuredContent":{"c":7}})";
static const std::string_view text_only = R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})";

static bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Runs a call that must throw, and gives what it threw.
template <class Call>
static Error thrown(Call call) {
  try {
    call();
  } catch (const Error &error) {
    CHECK(failed(error.status()) && !error.message().empty() && error.message() == error.what());
    return error;
  }
  std::fprintf(stderr, "nothing was thrown\n");
  std::exit(1);
}

static void write(const std::string &path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  CHECK(compatible());
  CHECK(version() == MCP_SELECT_EXPECTED_VERSION);

  // A call, in both forms.
  Engine engine = Engine::builtin("sep-2200");
  Request request("server", "tool", "model");
  Selection selection;
  CHECK(engine.select(request, both, selection) == Status::changed);
  CHECK(selection.json() == R"({"content":[{"type":"text","text":"7 C"}]})");
  CHECK(selection.lane() == Lane::content && selection.outcome() == Outcome::selected && !selection.is_error());
  CHECK(selection.generation() == 1 && selection.block_count() == 1);
  CHECK(selection.block(0).source == 0 && selection.block(0).kind == BlockKind::kept);
  CHECK(selection.block(1).source == -1 && selection.block(1).kind == BlockKind::none);
  CHECK(contains(selection.decision(), R"("lane":"content")"));
  CHECK(engine.try_select(request, text_only, selection) == Status::unchanged);
  CHECK(selection.json().data() == nullptr && selection.json().empty());
  CHECK(selection.text(text_only) == "a\nb" && selection.text(text_only, "") == "ab");
  std::string_view text = "untouched";
  Error error;
  CHECK(error.status() == Status::ok && error.message().empty());
  CHECK(selection.try_text(both, "\n", text, &error) == Status::err_argument && text == "untouched");
  CHECK(error.status() == Status::err_argument && !error.message().empty());
  CHECK(selection.try_text(text_only, ";", text) == Status::ok && text == "a;b");
  selection.trim(0);

  // Refused.
  CHECK(engine.try_select(request, R"({"content":[1})", selection, &error) == Status::err_json);
  CHECK(error.status() == Status::err_json && error.offset() == 13 && contains(error.json(), "malformed-json"));
  CHECK(engine.try_select(request, "", selection) == Status::err_json);
  CHECK(thrown([&] { engine.select(request, "{}", selection); }).status() == Status::err_shape);
  CHECK(selection.block_count() == 0 && selection.decision().data() == nullptr);
  const Error copy = thrown([&] { engine.select(Request("s", "t", "stranger"), both, selection); });
  CHECK(copy.status() == Status::err_audience && contains(copy.message(), "stranger"));

  // Engines.
  const Error of_policy = thrown([] { Engine::from_toml("version = 1\nordr = 2\n"); });
  CHECK(of_policy.status() == Status::err_policy && of_policy.offset() == 12 && contains(of_policy.json(), "\"line\":2"));
  CHECK(thrown([] { Engine::from_toml(""); }).status() == Status::err_policy_empty);
  CHECK(thrown([] { Engine::builtin("no-such"); }).status() == Status::err_no_builtin);
  CHECK(thrown([] { Engine::open("/no/such.toml"); }).status() == Status::err_policy_file);
  Result<Engine> tried = Engine::try_open("\xff");
  CHECK(!tried && tried.status() == Status::err_argument && contains(tried.error().message(), "UTF-8"));
  tried = Engine::try_from_toml("version = 1\nextends = \"raw\"\n");
  CHECK(tried && tried.status() == Status::ok && tried->generation() == 1);
  CHECK((*tried).select(request, both, selection) == Status::changed && selection.lane() == Lane::raw);
  CHECK(thrown([&] { engine.reload(); }).status() == Status::err_no_file);

  const std::string path = std::string(argv[1]) + "/cpp.toml";
  write(path, "version = 1\n[audience.model]\norder = [\"content\"]\n");
  engine = Engine::open(path);
  CHECK(engine.auto_reload(0) == Status::ok);
  CHECK(engine.reload() == Status::unchanged);
  write(path, "version = 1\n[audience.model]\norder = [\"structured\"]\n");
  CHECK(engine.try_reload() == Status::changed && engine.generation() == 2);
  write(path, "version = 1\nordr = 1\n");
  CHECK(engine.try_reload(&error) == Status::err_policy && contains(error.message(), "ordr"));
  CHECK(contains(engine.diagnostics().view(), "ordr"));
  CHECK(contains(engine.table(request).view(), "\"rows\""));
  CHECK(thrown([&] { engine.table(Request("s", "t", "stranger")); }).status() == Status::err_audience);
  engine.replace("version = 1\nextends = \"sep-2200\"\n");
  CHECK(engine.generation() == 3);
  CHECK(engine.try_replace("", &error) == Status::err_policy_empty);
  std::remove(path.c_str());

  // Requests.
  engine.replace("version = 1\n[[rules]]\nwhen = { label.ring = \"canary\" }\norder = [\"both\"]\n");
  request.set_revision("2026-07-28").set_label("ring", "canary").add_extension("io.modelcontextprotocol/tasks");
  request.set_tool_definition(R"({"name":"tool"})").set_tool_definition(std::nullopt).set_input(Input::result);
  CHECK(engine.select(request, both, selection) == Status::changed && selection.lane() == Lane::both);
  CHECK(engine.select(request, R"({"resultType":"task"})", selection) == Status::not_for_readers);
  CHECK(selection.outcome() == Outcome::task);
  CHECK(thrown([&] { request.set_revision("soon"); }).status() == Status::err_revision);
  CHECK(thrown([&] { request.set_tool_definition(""); }).status() == Status::err_tool);
  CHECK(thrown([&] { request.set_tool_definition(std::string_view()); }).status() == Status::err_tool);
  CHECK(thrown([&] { request.set_input(static_cast<Input>(7)); }).status() == Status::err_argument);
  CHECK(thrown([&] { request.set_label("\xff", ""); }).status() == Status::err_argument);
  CHECK(request.try_add_extension("\xff", &error) == Status::err_argument && contains(error.message(), "extension"));
  CHECK(!Request::try_make("\xff", "t", "model") && Request::try_make("", "", "model"));
  const Request for_app = request.clone("app"), same = request.clone();
  CHECK(engine.select(for_app, both, selection) == Status::unchanged && selection.lane() == Lane::whole);
  CHECK(engine.select(same, both, selection) == Status::changed && selection.lane() == Lane::both);

  // Moved.
  std::vector<Engine> engines;
  engines.push_back(std::move(engine));
  CHECK(engines[0].select(same, both, selection) == Status::changed);
  CHECK(engine.try_select(same, both, selection, &error) == Status::err_argument);
  CHECK(contains(error.message(), "engine is NULL") && engine.auto_reload(0) == Status::err_argument);
  Selection other = std::move(selection);
  CHECK(engines[0].try_select(same, both, selection, &error) == Status::err_argument);
  CHECK(engines[0].select(same, both, other) == Status::changed);
  Request moved = std::move(request);
  CHECK(request.try_set_input(Input::result, &error) == Status::err_argument);
  CHECK(thrown([&] { engines[0].select(request, both, other); }).status() == Status::err_argument);
  return 0;
}
