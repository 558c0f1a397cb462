/* cases.c - replays the cases of tests/cases/ as the Rust tests exported them (MCP_SELECT_EXPORT_CASES), and compares every
 * byte with what Rust got: status, JSON, text, decision record and message.
 *
 * The file: for each case a line `case NAME`, then fields, each a line `FIELD LENGTH`, that many bytes and a line feed, then a
 * line `end`. `labels` holds a number, and so many `label_name` and `label_value` follow; `extensions` holds one a line. */
#include "check.h"

typedef struct {
  const char *bytes;
  size_t len;
} piece;

enum { MAX_LABELS = 64 };

typedef struct {
  piece name, policy_kind, policy, server, tool, audience, revision, definition, extensions, input, result;
  piece status, json, text, decision, message;
  piece label_names[MAX_LABELS], label_values[MAX_LABELS];
  size_t label_count, name_count, value_count;
} test_case;

static int faults = 0;

static int equal(piece piece, const char *text) {
  return piece.len == strlen(text) && memcmp(piece.bytes, text, piece.len) == 0;
}

static const uint8_t *data(piece piece) { return (const uint8_t *)piece.bytes; }

static void compare(const test_case *test, const char *what, piece expected, const uint8_t *got, size_t len) {
  if (len != expected.len || (len > 0 && memcmp(got, expected.bytes, len) != 0)) {
    fprintf(stderr, "case %.*s: %s differs\n  Rust: %.*s\n  C:    %.*s\n", (int)test->name.len, test->name.bytes, what,
            (int)expected.len, expected.bytes, (int)len, (const char *)got);
    faults++;
  }
}

static void compare_status(const test_case *test, int32_t status) {
  char text[16];
  snprintf(text, sizeof text, "%d", (int)status);
  compare(test, "status", test->status, (const uint8_t *)text, strlen(text));
}

/* An error: its status and message; there is no JSON, no text and no record. */
static void compare_error(const test_case *test, int32_t status, mcp_select_error *error) {
  size_t len = 0;
  const uint8_t *message = mcp_select_error_message(error, &len);
  compare_status(test, status);
  compare(test, "message", test->message, message, len);
  mcp_select_error_free(error);
}

/* The request of a case; a status < 0 and the error when it cannot be made. */
static int32_t prepare(const test_case *test, mcp_select_request **out, mcp_select_error **error) {
  size_t i, start;
  int32_t status = mcp_select_request_new(data(test->server), test->server.len, data(test->tool), test->tool.len,
                                          data(test->audience), test->audience.len, out, error);
  if (status >= 0 && test->revision.len > 0) {
    status = mcp_select_request_set_revision(*out, data(test->revision), test->revision.len, error);
  }
  if (status >= 0 && test->definition.len > 0) {
    status = mcp_select_request_set_tool_definition(*out, data(test->definition), test->definition.len, error);
  }
  CHECK(test->name_count == test->label_count && test->value_count == test->label_count);
  for (i = 0; status >= 0 && i < test->label_count; i++) {
    status = mcp_select_request_set_label(*out, data(test->label_names[i]), test->label_names[i].len,
                                          data(test->label_values[i]), test->label_values[i].len, error);
  }
  for (start = i = 0; status >= 0 && i <= test->extensions.len; i++) {
    if (i == test->extensions.len || test->extensions.bytes[i] == '\n') {
      if (i > start) status = mcp_select_request_add_extension(*out, data(test->extensions) + start, i - start, error);
      start = i + 1;
    }
  }
  CHECK(equal(test->input, "result") || equal(test->input, "sampling"));
  if (status >= 0) {
    status = mcp_select_request_set_input(
        *out, equal(test->input, "sampling") ? MCP_SELECT_INPUT_SAMPLING : MCP_SELECT_INPUT_RESULT);
  }
  return status;
}

static void run(const test_case *test, mcp_select_selection *selection) {
  mcp_select_error *error = NULL;
  mcp_select_engine *engine = NULL;
  mcp_select_request *route = NULL;
  const uint8_t *bytes = NULL, *input = NULL;
  uint8_t *copy;
  size_t len = 0;
  int32_t status;

  CHECK(equal(test->policy_kind, "builtin") || equal(test->policy_kind, "toml"));
  status = equal(test->policy_kind, "builtin")
               ? mcp_select_engine_builtin(data(test->policy), test->policy.len, &engine, &error)
               : mcp_select_engine_new(data(test->policy), test->policy.len, &engine, &error);
  if (status >= 0) status = prepare(test, &route, &error);
  if (status < 0) {
    compare_error(test, status, error);
    mcp_select_request_free(route);
    mcp_select_engine_free(engine);
    return;
  }

  /* In memory of just this size, so that a checker sees a read past its end. */
  copy = malloc(test->result.len > 0 ? test->result.len : 1);
  CHECK(copy != NULL);
  memcpy(copy, test->result.bytes, test->result.len);
  input = copy;
  status = mcp_select_result(engine, route, input, test->result.len, selection, &error);
  if (status < 0) {
    compare_error(test, status, error);
  } else {
    compare_status(test, status);
    CHECK(error == NULL && test->message.len == 0);
  }
  CHECK(mcp_select_selection_text(selection, input, test->result.len, (const uint8_t *)"\n", 1, &bytes, &len) == 0);
  compare(test, "text", test->text, bytes, len);
  free(copy);
  bytes = mcp_select_selection_json(selection, &len);
  CHECK((bytes != NULL) == (status == MCP_SELECT_CHANGED));
  compare(test, "json", test->json, bytes, len);
  bytes = mcp_select_selection_decision(selection, &len);
  compare(test, "decision", test->decision, bytes, len);

  mcp_select_request_free(route);
  mcp_select_engine_free(engine);
}

static piece line(const char **at, const char *end) {
  piece found = {*at, 0};
  const char *feed = memchr(*at, '\n', (size_t)(end - *at));
  CHECK(feed != NULL);
  found.len = (size_t)(feed - *at);
  *at = feed + 1;
  return found;
}

static void set(test_case *test, piece field, piece value) {
  struct {
    const char *name;
    piece *place;
  } places[] = {
      {"policy_kind", &test->policy_kind}, {"policy", &test->policy},         {"server", &test->server},
      {"tool", &test->tool},               {"audience", &test->audience},     {"revision", &test->revision},
      {"definition", &test->definition},   {"extensions", &test->extensions}, {"input", &test->input},
      {"result", &test->result},           {"status", &test->status},         {"json", &test->json},
      {"text", &test->text},               {"decision", &test->decision},     {"message", &test->message},
  };
  size_t i;
  if (equal(field, "labels")) {
    test->label_count = (size_t)strtoul(value.bytes, NULL, 10);
    CHECK(test->label_count <= MAX_LABELS);
    return;
  }
  if (equal(field, "label_name")) {
    CHECK(test->name_count < MAX_LABELS);
    test->label_names[test->name_count++] = value;
    return;
  }
  if (equal(field, "label_value")) {
    CHECK(test->value_count < MAX_LABELS);
    test->label_values[test->value_count++] = value;
    return;
  }
  for (i = 0; i < sizeof places / sizeof *places; i++) {
    if (equal(field, places[i].name)) {
      *places[i].place = value;
      return;
    }
  }
  fprintf(stderr, "no field is called %.*s\n", (int)field.len, field.bytes);
  exit(1);
}

static char *read_all(const char *path, size_t *len) {
  FILE *file = fopen(path, "rb");
  long size;
  char *bytes;
  CHECK(file != NULL);
  CHECK(fseek(file, 0, SEEK_END) == 0);
  size = ftell(file);
  CHECK(size >= 0 && fseek(file, 0, SEEK_SET) == 0);
  bytes = malloc((size_t)size + 1);
  CHECK(bytes != NULL && fread(bytes, 1, (size_t)size, file) == (size_t)size);
  bytes[size] = '\0';
  fclose(file);
  *len = (size_t)size;
  return bytes;
}

int main(int argc, char **argv) {
  /* One for all cases: nothing of one may be seen in the next. */
  mcp_select_selection *buffer = selection();
  size_t len, count = 0;
  char *bytes;
  const char *at, *end;
  CHECK(argc == 2);
  bytes = read_all(argv[1], &len);
  at = bytes;
  end = bytes + len;
  while (at < end) {
    test_case test;
    piece head = line(&at, end);
    memset(&test, 0, sizeof test);
    CHECK(head.len > 5 && memcmp(head.bytes, "case ", 5) == 0);
    test.name.bytes = head.bytes + 5;
    test.name.len = head.len - 5;
    for (;;) {
      piece field = line(&at, end), value;
      const char *space;
      if (equal(field, "end")) break;
      space = memchr(field.bytes, ' ', field.len);
      CHECK(space != NULL);
      value.len = (size_t)strtoul(space + 1, NULL, 10);
      value.bytes = at;
      field.len = (size_t)(space - field.bytes);
      CHECK(value.len < (size_t)(end - at) && at[value.len] == '\n');
      at += value.len + 1;
      set(&test, field, value);
    }
    run(&test, buffer);
    count++;
  }
  free(bytes);
  mcp_select_selection_free(buffer);
  printf("%lu cases, %d differences\n", (unsigned long)count, faults);
  CHECK(count > 0);
  return faults > 0;
}
