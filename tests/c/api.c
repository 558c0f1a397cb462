/* api.c - every function, every way in which it can fail, and NULL and no bytes wherever a pointer goes in. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <unistd.h>

#if defined(MCP_SELECT_TEST_PANIC)
int32_t mcp_select_test_panic(int32_t kind, mcp_select_selection *selection, mcp_select_error **err);
#endif

static const size_t TOO_LONG = (size_t)PTRDIFF_MAX + 1;
static const char BOTH[] = "{\"content\":[{\"type\":\"text\",\"text\":\"7 C\"}],\"structuredContent\":{\"c\":7}}";
static const char TEXT_ONLY[] = "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}";
static const char NOTED[] =
    "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"new\"},{\"type\":\"text\",\"text\":\"b\"}],\"isError\":true}";

/* A failure: the status, the error object of the same status with one line of text and JSON, and `out` not written. */
static int failed(int32_t status, int32_t expected, mcp_select_error **error, const char *text) {
  size_t len = 0, json_len = 0;
  const uint8_t *message, *json;
  int fine;
  if (status != expected || *error == NULL) {
    fprintf(stderr, "status %d, not %d\n", (int)status, (int)expected);
    return 0;
  }
  message = mcp_select_error_message(*error, &len);
  json = mcp_select_error_json(*error, &json_len);
  fine = mcp_select_error_status(*error) == expected && len > 0 && !has(message, len, "\n") && has(message, len, text) &&
         json_len > 2 && json[0] == '{' && json[json_len - 1] == '}' && has(json, json_len, "\"code\":");
  if (!fine) fprintf(stderr, "%.*s\n%.*s\n", (int)len, (const char *)message, (int)json_len, (const char *)json);
  mcp_select_error_free(*error);
  *error = NULL;
  return fine;
}

#define FAILS(call, expected, text) CHECK(failed((call), (expected), &error, (text)))
#define BAD(call, text) FAILS(call, MCP_SELECT_ERR_ARGUMENT, text)

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL);
  CHECK(fwrite(text, 1, strlen(text), file) == strlen(text));
  CHECK(fclose(file) == 0);
}

static void engines(const char *folder) {
  mcp_select_error *error = NULL;
  mcp_select_engine *engine = NULL, *never = NULL;
  mcp_select_request *route = request("server", "tool", "model"), *stranger = request("server", "tool", "stranger");
  mcp_select_text *text = NULL, *never_text = NULL;
  const uint8_t *bytes;
  size_t len = 0;
  char path[512];

  /* From bytes. */
  BAD(mcp_select_engine_new(NULL, 3, &never, &error), "policy is NULL");
  BAD(mcp_select_engine_new((const uint8_t *)"x", TOO_LONG, &never, &error), "PTRDIFF_MAX");
  BAD(mcp_select_engine_new(TEXT("version = 1"), NULL, &error), "out is NULL");
  FAILS(mcp_select_engine_new(NOTHING, &never, &error), MCP_SELECT_ERR_POLICY_EMPTY, "empty-policy");
  FAILS(mcp_select_engine_new(TEXT(""), &never, &error), MCP_SELECT_ERR_POLICY_EMPTY, "empty-policy");
  FAILS(mcp_select_engine_new(TEXT("# nothing\n"), &never, &error), MCP_SELECT_ERR_POLICY_EMPTY, "empty-policy");
  FAILS(mcp_select_engine_new(TEXT("version = "), &never, &error), MCP_SELECT_ERR_POLICY, "bad-policy");
  FAILS(mcp_select_engine_new(TEXT("version = 1\nextends = \"../other.toml\"\n"), &never, &error),
        MCP_SELECT_ERR_POLICY_FILE, "other.toml");
  CHECK(mcp_select_engine_new(TEXT("version = 1\n\xff"), &never, &error) == MCP_SELECT_ERR_POLICY);
  mcp_select_error_free(error);
  error = NULL;
  CHECK(mcp_select_engine_new(NULL, 3, &never, NULL) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_engine_new(TEXT("version = "), &never, NULL) == MCP_SELECT_ERR_POLICY);

  /* An error of a policy says where. */
  CHECK(mcp_select_engine_new(TEXT("version = 1\n[audience.model]\nordre = [\"content\"]\n"), &never, &error) ==
        MCP_SELECT_ERR_POLICY);
  CHECK(mcp_select_error_offset(error) == 29);
  bytes = mcp_select_error_json(error, &len);
  CHECK(has(bytes, len, "\"line\":3") && has(bytes, len, "\"diagnostics\":[{"));
  CHECK(mcp_select_error_message(error, NULL) == NULL && mcp_select_error_json(error, NULL) == NULL);
  mcp_select_error_free(error);
  error = NULL;

  /* Built in. */
  BAD(mcp_select_engine_builtin(NULL, 8, &never, &error), "name is NULL");
  BAD(mcp_select_engine_builtin((const uint8_t *)"x", TOO_LONG, &never, &error), "PTRDIFF_MAX");
  BAD(mcp_select_engine_builtin(TEXT("sep\xc3"), &never, &error), "name is no UTF-8 at byte 3");
  BAD(mcp_select_engine_builtin(TEXT("sep-2200"), NULL, &error), "out is NULL");
  FAILS(mcp_select_engine_builtin(TEXT("sep-2201"), &never, &error), MCP_SELECT_ERR_NO_BUILTIN, "sep-2201");
  FAILS(mcp_select_engine_builtin(NOTHING, &never, &error), MCP_SELECT_ERR_NO_BUILTIN, "no-builtin");
  CHECK(mcp_select_engine_builtin(TEXT("sep-2200"), &engine, &error) == 0);
  CHECK(error == NULL && mcp_select_engine_generation(engine) == 1);
  FAILS(mcp_select_engine_reload(engine, &error), MCP_SELECT_ERR_NO_FILE, "no-file");
  mcp_select_engine_free(engine);

  /* From a file. */
  snprintf(path, sizeof path, "%s/policy-%ld.toml", folder, (long)getpid());
  remove(path);
  BAD(mcp_select_engine_open(NULL, 1, &never, &error), "path is NULL");
  BAD(mcp_select_engine_open((const uint8_t *)"x", TOO_LONG, &never, &error), "PTRDIFF_MAX");
  BAD(mcp_select_engine_open(TEXT("\xff"), &never, &error), "path is no UTF-8 at byte 0");
  FAILS(mcp_select_engine_open(NOTHING, &never, &error), MCP_SELECT_ERR_POLICY_FILE, "policy-file");
  FAILS(mcp_select_engine_open(TEXT("a\0b"), &never, &error), MCP_SELECT_ERR_POLICY_FILE, "policy-file");
  FAILS(mcp_select_engine_open((const uint8_t *)path, strlen(path), &never, &error), MCP_SELECT_ERR_POLICY_FILE, "policy-file");
  write_file(path, "version = 1\n[audience.model]\norder = [\"content\"]\n");
  BAD(mcp_select_engine_open((const uint8_t *)path, strlen(path), NULL, &error), "out is NULL");
  engine = NULL;
  must(mcp_select_engine_open((const uint8_t *)path, strlen(path), &engine, &error), error, __LINE__);
  CHECK(mcp_select_engine_auto_reload(engine, 0) == 0);
  CHECK(mcp_select_engine_reload(engine, &error) == MCP_SELECT_UNCHANGED);
  write_file(path, "version = 1\n[audience.model]\norder = [\"structured\"]\n");
  CHECK(mcp_select_engine_reload(engine, &error) == MCP_SELECT_CHANGED && error == NULL);
  CHECK(mcp_select_engine_generation(engine) == 2);
  write_file(path, "version = 1\n[audience.model]\norder = [\"sidewise\"]\n");
  FAILS(mcp_select_engine_reload(engine, &error), MCP_SELECT_ERR_POLICY, "sidewise");
  CHECK(mcp_select_engine_reload(engine, NULL) == MCP_SELECT_ERR_POLICY);
  CHECK(mcp_select_engine_generation(engine) == 2);
  CHECK(mcp_select_engine_diagnostics(engine, &text, &error) == 0 && error == NULL);
  bytes = mcp_select_text_bytes(text, &len);
  CHECK(has(bytes, len, "\"generation\":2") && has(bytes, len, "sidewise") && has(bytes, len, path));
  CHECK(mcp_select_text_bytes(text, NULL) == NULL);
  mcp_select_text_free(text);
  remove(path);
  FAILS(mcp_select_engine_reload(engine, &error), MCP_SELECT_ERR_POLICY_FILE, "policy-file");
  CHECK(mcp_select_engine_generation(engine) == 2);

  /* Replaced. */
  BAD(mcp_select_engine_replace(engine, NULL, 1, &error), "policy is NULL");
  BAD(mcp_select_engine_replace(engine, (const uint8_t *)"x", TOO_LONG, &error), "PTRDIFF_MAX");
  FAILS(mcp_select_engine_replace(engine, NOTHING, &error), MCP_SELECT_ERR_POLICY_EMPTY, "empty-policy");
  FAILS(mcp_select_engine_replace(engine, TEXT("version = 1\nordr = 1\n"), &error), MCP_SELECT_ERR_POLICY, "ordr");
  CHECK(mcp_select_engine_generation(engine) == 2);
  CHECK(mcp_select_engine_replace(engine, TEXT("version = 1\nextends = \"raw\"\n"), &error) == 0);
  CHECK(mcp_select_engine_generation(engine) == 3);
  FAILS(mcp_select_engine_reload(engine, &error), MCP_SELECT_ERR_NO_FILE, "no-file");

  /* Reports. */
  BAD(mcp_select_engine_diagnostics(engine, NULL, &error), "out is NULL");
  BAD(mcp_select_engine_table(engine, route, NULL, &error), "out is NULL");
  BAD(mcp_select_engine_table(engine, NULL, &never_text, &error), "request is NULL");
  FAILS(mcp_select_engine_table(engine, stranger, &never_text, &error), MCP_SELECT_ERR_AUDIENCE, "stranger");
  text = NULL;
  CHECK(mcp_select_engine_table(engine, route, &text, &error) == 0);
  bytes = mcp_select_text_bytes(text, &len);
  CHECK(has(bytes, len, "\"server\":\"server\"") && has(bytes, len, "\"rows\":["));
  mcp_select_text_free(text);
  mcp_select_engine_free(engine);

  /* No engine. */
  BAD(mcp_select_engine_reload(NULL, &error), "engine is NULL");
  BAD(mcp_select_engine_replace(NULL, TEXT("version = 1"), &error), "engine is NULL");
  BAD(mcp_select_engine_diagnostics(NULL, &never_text, &error), "engine is NULL");
  BAD(mcp_select_engine_table(NULL, route, &never_text, &error), "engine is NULL");
  CHECK(mcp_select_engine_auto_reload(NULL, 5) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_engine_generation(NULL) == 0);
  mcp_select_engine_free(NULL);
  CHECK(never == NULL && never_text == NULL);
  mcp_select_request_free(route);
  mcp_select_request_free(stranger);
}

static void requests(void) {
  mcp_select_error *error = NULL;
  mcp_select_request *route = NULL, *second = NULL, *never = NULL;
  mcp_select_engine *engine = policy(
      "version = 1\n"
      "[[rules]]\nwhen = { label.ring = \"canary\" }\norder = [\"structured\"]\n"
      "[[rules]]\nwhen = { revision = \">= 2026-01-01\" }\norder = [\"both\"]\n"
      "[[rules]]\nwhen = { app = true }\norder = [\"raw\"]\n");
  mcp_select_selection *buffer = selection();

  BAD(mcp_select_request_new(NULL, 1, TEXT("t"), TEXT("model"), &never, &error), "server is NULL");
  BAD(mcp_select_request_new(TEXT("s"), NULL, 1, TEXT("model"), &never, &error), "tool is NULL");
  BAD(mcp_select_request_new(TEXT("s"), TEXT("t"), NULL, 1, &never, &error), "audience is NULL");
  BAD(mcp_select_request_new((const uint8_t *)"s", TOO_LONG, TEXT("t"), TEXT("model"), &never, &error), "PTRDIFF_MAX");
  BAD(mcp_select_request_new(TEXT("s"), (const uint8_t *)"t", TOO_LONG, TEXT("model"), &never, &error), "PTRDIFF_MAX");
  BAD(mcp_select_request_new(TEXT("s"), TEXT("t"), (const uint8_t *)"m", TOO_LONG, &never, &error), "PTRDIFF_MAX");
  BAD(mcp_select_request_new(TEXT("\x80"), TEXT("t"), TEXT("model"), &never, &error), "server is no UTF-8");
  BAD(mcp_select_request_new(TEXT("s"), TEXT("t\xed\xa0\x80"), TEXT("model"), &never, &error), "tool is no UTF-8 at byte 1");
  BAD(mcp_select_request_new(TEXT("s"), TEXT("t"), TEXT("\xf5"), &never, &error), "audience is no UTF-8");
  BAD(mcp_select_request_new(TEXT("s"), TEXT("t"), TEXT("model"), NULL, &error), "out is NULL");
  CHECK(mcp_select_request_new(NOTHING, NOTHING, TEXT("model"), &route, &error) == 0);
  CHECK(mcp_select_result(engine, route, TEXT(BOTH), buffer, &error) == MCP_SELECT_CHANGED);
  CHECK(mcp_select_selection_lane(buffer) == MCP_SELECT_LANE_CONTENT);

  /* Tool definition. */
  BAD(mcp_select_request_set_tool_definition(route, NULL, 2, &error), "tool is NULL");
  BAD(mcp_select_request_set_tool_definition(route, (const uint8_t *)"{", TOO_LONG, &error), "PTRDIFF_MAX");
  FAILS(mcp_select_request_set_tool_definition(route, TEXT("[]"), &error), MCP_SELECT_ERR_TOOL, "bad-tool-definition");
  FAILS(mcp_select_request_set_tool_definition(route, TEXT(""), &error), MCP_SELECT_ERR_TOOL, "bad-tool-definition");
  FAILS(mcp_select_request_set_tool_definition(route, TEXT("{\"a\":\"\xff\"}"), &error), MCP_SELECT_ERR_TOOL, "bad-tool-definition");
  CHECK(mcp_select_request_set_tool_definition(
            route, TEXT("{\"name\":\"t\",\"_meta\":{\"ui\":{\"resourceUri\":\"ui://v\"}}}"), &error) == 0);
  CHECK(mcp_select_result(engine, route, TEXT(BOTH), buffer, &error) == MCP_SELECT_CHANGED);
  CHECK(mcp_select_selection_lane(buffer) == MCP_SELECT_LANE_RAW);
  CHECK(mcp_select_request_set_tool_definition(route, NOTHING, &error) == 0);
  CHECK(mcp_select_result(engine, route, TEXT(BOTH), buffer, &error) == MCP_SELECT_CHANGED);
  CHECK(mcp_select_selection_lane(buffer) == MCP_SELECT_LANE_CONTENT);

  /* Revision. */
  BAD(mcp_select_request_set_revision(route, NULL, 10, &error), "revision is NULL");
  BAD(mcp_select_request_set_revision(route, (const uint8_t *)"2", TOO_LONG, &error), "PTRDIFF_MAX");
  BAD(mcp_select_request_set_revision(route, TEXT("2026-01-0\xff"), &error), "revision is no UTF-8");
  FAILS(mcp_select_request_set_revision(route, TEXT("yesterday"), &error), MCP_SELECT_ERR_REVISION, "yesterday");
  FAILS(mcp_select_request_set_revision(route, NOTHING, &error), MCP_SELECT_ERR_REVISION, "bad-revision");
  CHECK(mcp_select_request_set_revision(route, TEXT("2030-01-01"), &error) == 0);
  CHECK(mcp_select_result(engine, route, TEXT(BOTH), buffer, &error) == MCP_SELECT_CHANGED);
  CHECK(mcp_select_selection_lane(buffer) == MCP_SELECT_LANE_BOTH);

  /* A second one is another one. */
  BAD(mcp_select_request_clone(NULL, NOTHING, &never, &error), "request is NULL");
  BAD(mcp_select_request_clone(route, NULL, 1, &never, &error), "audience is NULL");
  BAD(mcp_select_request_clone(route, (const uint8_t *)"m", TOO_LONG, &never, &error), "PTRDIFF_MAX");
  BAD(mcp_select_request_clone(route, TEXT("\xff"), &never, &error), "audience is no UTF-8");
  BAD(mcp_select_request_clone(route, NOTHING, NULL, &error), "out is NULL");
  CHECK(mcp_select_request_clone(route, NOTHING, &second, &error) == 0);

  /* Labels. */
  BAD(mcp_select_request_set_label(second, NULL, 1, TEXT("v"), &error), "name is NULL");
  BAD(mcp_select_request_set_label(second, TEXT("n"), NULL, 1, &error), "value is NULL");
  BAD(mcp_select_request_set_label(second, (const uint8_t *)"n", TOO_LONG, TEXT("v"), &error), "PTRDIFF_MAX");
  BAD(mcp_select_request_set_label(second, TEXT("n"), (const uint8_t *)"v", TOO_LONG, &error), "PTRDIFF_MAX");
  BAD(mcp_select_request_set_label(second, TEXT("\xff"), TEXT("v"), &error), "name is no UTF-8");
  BAD(mcp_select_request_set_label(second, TEXT("n"), TEXT("\xff"), &error), "value is no UTF-8");
  CHECK(mcp_select_request_set_label(second, TEXT("ring"), NOTHING, &error) == 0);
  CHECK(mcp_select_request_set_label(second, TEXT("ring"), TEXT("canary"), &error) == 0);
  CHECK(mcp_select_result(engine, second, TEXT(BOTH), buffer, &error) == MCP_SELECT_CHANGED);
  CHECK(mcp_select_selection_lane(buffer) == MCP_SELECT_LANE_STRUCTURED);
  CHECK(mcp_select_result(engine, route, TEXT(BOTH), buffer, &error) == MCP_SELECT_CHANGED);
  CHECK(mcp_select_selection_lane(buffer) == MCP_SELECT_LANE_BOTH);
  mcp_select_request_free(second);

  /* The audience of a second one. */
  second = NULL;
  CHECK(mcp_select_request_clone(route, TEXT("app"), &second, &error) == 0);
  CHECK(mcp_select_result(engine, second, TEXT(BOTH), buffer, &error) == MCP_SELECT_UNCHANGED);
  CHECK(mcp_select_selection_lane(buffer) == MCP_SELECT_LANE_WHOLE);
  mcp_select_request_free(second);

  /* Extensions and what the bytes are. */
  BAD(mcp_select_request_add_extension(route, NULL, 1, &error), "extension is NULL");
  BAD(mcp_select_request_add_extension(route, (const uint8_t *)"e", TOO_LONG, &error), "PTRDIFF_MAX");
  BAD(mcp_select_request_add_extension(route, TEXT("\xff"), &error), "extension is no UTF-8");
  FAILS(mcp_select_result(engine, route, TEXT("{\"resultType\":\"task\",\"task\":{}}"), buffer, &error),
        MCP_SELECT_ERR_RESULT_TYPE, "task");
  CHECK(mcp_select_request_add_extension(route, TEXT("io.modelcontextprotocol/tasks"), &error) == 0);
  CHECK(mcp_select_result(engine, route, TEXT("{\"resultType\":\"task\",\"task\":{}}"), buffer, &error) ==
        MCP_SELECT_NOT_FOR_READERS);
  CHECK(mcp_select_selection_outcome(buffer) == MCP_SELECT_OUTCOME_TASK);
  CHECK(mcp_select_request_set_input(route, 2) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_request_set_input(route, -1) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_request_set_input(NULL, MCP_SELECT_INPUT_RESULT) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_request_set_input(route, MCP_SELECT_INPUT_SAMPLING) == 0);
  CHECK(mcp_select_result(engine, route,
                          TEXT("{\"type\":\"tool_result\",\"toolUseId\":\"1\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}"),
                          buffer, &error) == MCP_SELECT_UNCHANGED);
  CHECK(mcp_select_request_set_input(route, MCP_SELECT_INPUT_RESULT) == 0);

  /* No request. */
  BAD(mcp_select_request_set_revision(NULL, TEXT("2030-01-01"), &error), "request is NULL");
  BAD(mcp_select_request_set_tool_definition(NULL, NOTHING, &error), "request is NULL");
  BAD(mcp_select_request_add_extension(NULL, TEXT("e"), &error), "request is NULL");
  BAD(mcp_select_request_set_label(NULL, TEXT("n"), TEXT("v"), &error), "request is NULL");
  mcp_select_request_free(NULL);
  CHECK(never == NULL && error == NULL);
  mcp_select_request_free(route);
  mcp_select_engine_free(engine);
  mcp_select_selection_free(buffer);
}

/* Whether a selection is empty in everything that can be asked of it. */
static int is_empty(mcp_select_selection *buffer) {
  size_t len = 7, text_len = 7;
  const uint8_t *text = NULL;
  int empty = mcp_select_selection_json(buffer, &len) == NULL && len == 0;
  len = 7;
  empty = empty && mcp_select_selection_decision(buffer, &len) == NULL && len == 0;
  empty = empty && mcp_select_selection_text(buffer, TEXT(BOTH), TEXT("\n"), &text, &text_len) == 0 && text != NULL &&
          text_len == 0;
  return empty && mcp_select_selection_outcome(buffer) == MCP_SELECT_OUTCOME_SELECTED &&
         mcp_select_selection_lane(buffer) == MCP_SELECT_LANE_NOTHING && mcp_select_selection_is_error(buffer) == 0 &&
         mcp_select_selection_generation(buffer) == 0 && mcp_select_selection_block_count(buffer) == 0 &&
         mcp_select_selection_block_source(buffer, 0) == -1 && mcp_select_selection_block_kind(buffer, 0) == -1;
}

static void selections(void) {
  mcp_select_error *error = NULL;
  mcp_select_engine *engine = builtin("sep-2200");
  mcp_select_request *route = request("server", "tool", "model"), *stranger = request("server", "tool", "stranger");
  mcp_select_selection *buffer = selection();
  const uint8_t *bytes, *text = NULL;
  size_t len = 0, text_len = 0;
  static const struct {
    const char *input;
    int32_t status;
    const char *text;
  } refused[] = {
      {"", MCP_SELECT_ERR_JSON, "malformed-json"},
      {"{\"content\":[]", MCP_SELECT_ERR_JSON, "malformed-json"},
      {"{\"content\":[],\"structuredContent\":NaN}", MCP_SELECT_ERR_JSON, "NaN"},
      {"{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}", MCP_SELECT_ERR_UTF8, "invalid-utf8"},
      {"{\"content\":{}}", MCP_SELECT_ERR_SHAPE, "content"},
      {"{}", MCP_SELECT_ERR_SHAPE, "wrong-shape"},
      {"{\"resultType\":\"new\",\"content\":[]}", MCP_SELECT_ERR_RESULT_TYPE, "new"},
  };
  size_t i;

  CHECK(mcp_select_selection_new(NULL) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(is_empty(buffer));
  mcp_select_selection_trim(buffer, 0);
  CHECK(is_empty(buffer));

  /* Changed. */
  CHECK(mcp_select_result(engine, route, TEXT(BOTH), buffer, &error) == MCP_SELECT_CHANGED && error == NULL);
  bytes = mcp_select_selection_json(buffer, &len);
  CHECK(is(bytes, len, "{\"content\":[{\"type\":\"text\",\"text\":\"7 C\"}]}"));
  CHECK(mcp_select_selection_json(buffer, NULL) == NULL);
  CHECK(mcp_select_selection_text(buffer, NOTHING, TEXT("\n"), &text, &text_len) == 0);
  CHECK(is(text, text_len, "7 C"));
  CHECK(mcp_select_selection_outcome(buffer) == MCP_SELECT_OUTCOME_SELECTED);
  CHECK(mcp_select_selection_lane(buffer) == MCP_SELECT_LANE_CONTENT);
  CHECK(mcp_select_selection_generation(buffer) == 1);
  CHECK(mcp_select_selection_block_count(buffer) == 1);
  CHECK(mcp_select_selection_block_source(buffer, 0) == 0);
  CHECK(mcp_select_selection_block_kind(buffer, 0) == MCP_SELECT_BLOCK_KEPT);
  CHECK(mcp_select_selection_block_source(buffer, 1) == -1 && mcp_select_selection_block_kind(buffer, 1) == -1);
  CHECK(mcp_select_selection_block_kind(buffer, SIZE_MAX) == -1);
  bytes = mcp_select_selection_decision(buffer, &len);
  CHECK(has(bytes, len, "\"lane\":\"content\"") && has(bytes, len, "\"changed\":true"));
  CHECK(mcp_select_selection_decision(buffer, NULL) == NULL);
  mcp_select_selection_trim(buffer, 0);
  bytes = mcp_select_selection_json(buffer, &len);
  CHECK(is(bytes, len, "{\"content\":[{\"type\":\"text\",\"text\":\"7 C\"}]}"));
  bytes = mcp_select_selection_decision(buffer, &len);
  CHECK(has(bytes, len, "\"lane\":\"content\"") && has(bytes, len, "\"changed\":true"));
  CHECK(mcp_select_selection_text(buffer, NOTHING, TEXT("\n"), &text, &text_len) == 0 && is(text, text_len, "7 C"));

  /* Unchanged: the text is of the bytes that are handed in again. */
  CHECK(mcp_select_result(engine, route, TEXT(TEXT_ONLY), buffer, NULL) == MCP_SELECT_UNCHANGED);
  len = 7;
  CHECK(mcp_select_selection_json(buffer, &len) == NULL && len == 0);
  CHECK(mcp_select_selection_text(buffer, TEXT(TEXT_ONLY), TEXT(", "), &text, &text_len) == 0);
  CHECK(is(text, text_len, "a, b"));
  CHECK(mcp_select_selection_text(buffer, TEXT(TEXT_ONLY), NOTHING, &text, &text_len) == 0);
  CHECK(is(text, text_len, "ab"));
  text = NULL;
  text_len = 7;
  CHECK(mcp_select_selection_text(buffer, NOTHING, TEXT("\n"), &text, &text_len) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_selection_text(buffer, TEXT(BOTH), TEXT("\n"), &text, &text_len) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_selection_text(buffer, NULL, 1, TEXT("\n"), &text, &text_len) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_selection_text(buffer, TEXT(TEXT_ONLY), NULL, 1, &text, &text_len) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_selection_text(buffer, TEXT(TEXT_ONLY), TEXT("\xff"), &text, &text_len) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_selection_text(buffer, TEXT(TEXT_ONLY), TEXT("\n"), NULL, &text_len) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_selection_text(buffer, TEXT(TEXT_ONLY), TEXT("\n"), &text, NULL) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(text == NULL && text_len == 7);
  CHECK(mcp_select_selection_block_count(buffer) == 2);
  CHECK(mcp_select_selection_block_source(buffer, 1) == 1);

  /* A note, and a placeholder. */
  CHECK(mcp_select_result(engine, route, TEXT(NOTED), buffer, NULL) == MCP_SELECT_CHANGED);
  CHECK(mcp_select_selection_is_error(buffer) == 1);
  CHECK(mcp_select_selection_block_kind(buffer, 1) == MCP_SELECT_BLOCK_NOTE);
  CHECK(mcp_select_selection_block_source(buffer, 1) == 1);
  CHECK(mcp_select_result(engine, route, TEXT("{\"content\":[]}"), buffer, NULL) == MCP_SELECT_CHANGED);
  CHECK(mcp_select_selection_lane(buffer) == MCP_SELECT_LANE_NOTHING);
  CHECK(mcp_select_selection_is_error(buffer) == 0);
  CHECK(mcp_select_selection_block_kind(buffer, 0) == MCP_SELECT_BLOCK_ADDED);
  CHECK(mcp_select_selection_block_source(buffer, 0) == -1);

  /* Not for readers. */
  CHECK(mcp_select_result(engine, route, TEXT("{\"resultType\":\"input_required\",\"inputRequests\":{}}"), buffer, NULL) ==
        MCP_SELECT_NOT_FOR_READERS);
  CHECK(mcp_select_selection_outcome(buffer) == MCP_SELECT_OUTCOME_NEEDS_INPUT);
  CHECK(mcp_select_selection_json(buffer, &len) == NULL);
  CHECK(mcp_select_selection_text(buffer, NOTHING, TEXT("\n"), &text, &text_len) == 0 && text_len == 0 && text != NULL);
  bytes = mcp_select_selection_decision(buffer, &len);
  CHECK(has(bytes, len, "\"outcome\":"));

  /* Refused: the selection is empty, whatever it held. */
  for (i = 0; i < sizeof refused / sizeof *refused; i++) {
    const uint8_t *input = (const uint8_t *)refused[i].input;
    CHECK(mcp_select_result(engine, route, TEXT(BOTH), buffer, NULL) == MCP_SELECT_CHANGED);
    FAILS(mcp_select_result(engine, route, input, strlen(refused[i].input), buffer, &error), refused[i].status,
          refused[i].text);
    CHECK(is_empty(buffer));
    CHECK(mcp_select_result(engine, route, input, strlen(refused[i].input), buffer, NULL) == refused[i].status);
  }
  CHECK(mcp_select_result(engine, route, TEXT("{\"resultType\":\"input_required\",\"inputRequests\":{}}"), buffer, NULL) ==
        MCP_SELECT_NOT_FOR_READERS);
  FAILS(mcp_select_result(engine, stranger, TEXT(BOTH), buffer, &error), MCP_SELECT_ERR_AUDIENCE, "stranger");
  CHECK(is_empty(buffer));
  FAILS(mcp_select_result(engine, route, NOTHING, buffer, &error), MCP_SELECT_ERR_JSON, "malformed-json");
  CHECK(mcp_select_result(engine, route, TEXT("{\"content\":[1}"), buffer, &error) == MCP_SELECT_ERR_JSON);
  CHECK(mcp_select_error_offset(error) == 13);
  mcp_select_error_free(error);
  error = NULL;
  {
    mcp_select_engine *narrow = policy("version = 1\n[input]\nmax_bytes = 40\nmax_depth = 4\n[audience.model]\n");
    FAILS(mcp_select_result(narrow, route, TEXT(BOTH), buffer, &error), MCP_SELECT_ERR_SIZE, "too-large");
    FAILS(mcp_select_result(narrow, route, TEXT("{\"content\":[],\"_meta\":[[[[]]]]}"), buffer, &error),
          MCP_SELECT_ERR_DEPTH, "too-deep");
    mcp_select_engine_free(narrow);
  }

  /* Arguments. */
  CHECK(mcp_select_result(engine, route, TEXT(BOTH), buffer, NULL) == MCP_SELECT_CHANGED);
  BAD(mcp_select_result(NULL, route, TEXT(BOTH), buffer, &error), "engine is NULL");
  CHECK(is_empty(buffer));
  CHECK(mcp_select_result(engine, route, TEXT(BOTH), buffer, NULL) == MCP_SELECT_CHANGED);
  BAD(mcp_select_result(engine, NULL, TEXT(BOTH), buffer, &error), "request is NULL");
  CHECK(is_empty(buffer));
  BAD(mcp_select_result(engine, route, NULL, 1, buffer, &error), "result is NULL");
  BAD(mcp_select_result(engine, route, (const uint8_t *)BOTH, TOO_LONG, buffer, &error), "PTRDIFF_MAX");
  BAD(mcp_select_result(engine, route, TEXT(BOTH), NULL, &error), "selection is NULL");
  CHECK(mcp_select_result(NULL, NULL, NULL, 1, NULL, NULL) == MCP_SELECT_ERR_ARGUMENT);

  /* A selection outlives the engine and the request that filled it. */
  CHECK(mcp_select_result(engine, route, TEXT(BOTH), buffer, NULL) == MCP_SELECT_CHANGED);
  mcp_select_engine_free(engine);
  mcp_select_request_free(route);
  mcp_select_request_free(stranger);
  bytes = mcp_select_selection_decision(buffer, &len);
  CHECK(has(bytes, len, "\"name\":\"sep-2200\""));
  mcp_select_selection_free(buffer);

  /* Nothing to ask. */
  len = 7;
  CHECK(mcp_select_selection_json(NULL, &len) == NULL && len == 0);
  len = 7;
  CHECK(mcp_select_selection_decision(NULL, &len) == NULL && len == 0);
  CHECK(mcp_select_selection_text(NULL, NOTHING, NOTHING, &text, &text_len) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_selection_outcome(NULL) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_selection_lane(NULL) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_selection_is_error(NULL) == MCP_SELECT_ERR_ARGUMENT);
  CHECK(mcp_select_selection_generation(NULL) == 0);
  CHECK(mcp_select_selection_block_count(NULL) == 0);
  CHECK(mcp_select_selection_block_source(NULL, 0) == -1 && mcp_select_selection_block_kind(NULL, 0) == -1);
  mcp_select_selection_trim(NULL, 0);
  mcp_select_selection_free(NULL);
  len = 7;
  CHECK(mcp_select_error_message(NULL, &len) == NULL && len == 0);
  len = 7;
  CHECK(mcp_select_error_json(NULL, &len) == NULL && len == 0);
  CHECK(mcp_select_error_status(NULL) == MCP_SELECT_ERR_ARGUMENT && mcp_select_error_offset(NULL) == -1);
  mcp_select_error_free(NULL);
  len = 7;
  CHECK(mcp_select_text_bytes(NULL, &len) == NULL && len == 0);
  mcp_select_text_free(NULL);
  CHECK(error == NULL);
}

/* A panic inside a call: an error like others, and everything stays usable. */
static void panics(void) {
#if defined(MCP_SELECT_TEST_PANIC)
  mcp_select_error *error = NULL;
  mcp_select_engine *engine = builtin("sep-2200");
  mcp_select_request *route = request("server", "tool", "model");
  mcp_select_selection *buffer = selection();
  size_t len = 0;
  const uint8_t *bytes;
  int32_t kind;
  for (kind = 0; kind < 4; kind++) {
    static const char *const said[] = {": on purpose;", ": on purpose, kind 1;", "no message", "after writing"};
    CHECK(mcp_select_result(engine, route, TEXT(BOTH), buffer, &error) == MCP_SELECT_CHANGED);
    FAILS(mcp_select_test_panic(kind, buffer, &error), MCP_SELECT_ERR_INTERNAL, said[kind]);
    CHECK(is_empty(buffer));
    mcp_select_selection_trim(buffer, 0);
    CHECK(is_empty(buffer));
    CHECK(mcp_select_test_panic(kind, buffer, NULL) == MCP_SELECT_ERR_INTERNAL);
    CHECK(is_empty(buffer));
    CHECK(mcp_select_result(engine, route, TEXT(BOTH), buffer, &error) == MCP_SELECT_CHANGED);
    bytes = mcp_select_selection_json(buffer, &len);
    CHECK(is(bytes, len, "{\"content\":[{\"type\":\"text\",\"text\":\"7 C\"}]}"));
  }
  /* When even the error object cannot be made, there is one that is never freed. */
  CHECK(mcp_select_test_panic(4, buffer, &error) == MCP_SELECT_ERR_INTERNAL);
  bytes = mcp_select_error_message(error, &len);
  CHECK(has(bytes, len, "internal: a panic was caught"));
  bytes = mcp_select_error_json(error, &len);
  CHECK(has(bytes, len, "\"code\":\"internal\"") && mcp_select_error_status(error) == MCP_SELECT_ERR_INTERNAL);
  CHECK(mcp_select_error_offset(error) == -1);
  mcp_select_error_free(error);
  mcp_select_error_free(error);
  error = NULL;
  BAD(mcp_select_test_panic(0, NULL, &error), "selection is NULL");
  mcp_select_selection_free(buffer);
  mcp_select_request_free(route);
  mcp_select_engine_free(engine);
#endif
}

int main(int argc, char **argv) {
  CHECK(argc == 2); /* a folder to write in */
  engines(argv[1]);
  requests();
  selections();
  panics();
  return 0;
}
