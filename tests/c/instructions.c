/* instructions.c - what instructions.sh counts: a selection for each of 200 results of one shape, in the function `measured`.
 *
 *   instructions SHAPE    prints how many bytes a result has
 *   instructions level    prints which vector instructions the library may use here: the figures of another are others
 *
 * The shapes are those of benches/src/shapes.rs at 2 KB, made by a generator that is the same on every run. */
#include "check.h"

#include <stdarg.h>

#define RESULTS 200
#define BYTES 2048

/* ---- a text that grows ---- */

typedef struct {
  char *bytes;
  size_t len, room;
} buffer;

static void add(buffer *out, const char *format, ...) {
  for (;;) {
    va_list args;
    int needed;
    va_start(args, format);
    needed = vsnprintf(out->bytes == NULL ? NULL : out->bytes + out->len, out->room - out->len, format, args);
    va_end(args);
    CHECK(needed >= 0);
    if ((size_t)needed < out->room - out->len) {
      out->len += (size_t)needed;
      return;
    }
    out->room = (out->room + (size_t)needed + 1) * 2;
    out->bytes = realloc(out->bytes, out->room);
    CHECK(out->bytes != NULL);
  }
}

/* ---- parts of results, as in shapes.rs ---- */

static uint64_t state;

static size_t below(size_t limit) {
  uint64_t z = (state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return (size_t)((z ^ (z >> 31)) % limit);
}

static void add_words(buffer *out, size_t count) {
  for (size_t word = 0; word < count; word++) {
    size_t letters = 3 + below(8);
    if (word > 0) add(out, " ");
    while (letters-- > 0) add(out, "%c", (int)('a' + below(26)));
  }
}

static void add_rows(buffer *out, size_t bytes) {
  size_t start = out->len;
  add(out, "{\"items\":[");
  for (int row = 0; row == 0 || out->len - start < bytes; row++) {
    add(out, "%s{\"id\":%zu,\"name\":\"", row > 0 ? "," : "", below(100000));
    add_words(out, 1);
    add(out, "\",\"title\":\"");
    add_words(out, 4);
    add(out, "\",\"open\":%s,", below(2) == 0 ? "true" : "false");
    add(out, "\"score\":%zu.", below(100));
    add(out, "%zu,\"tags\":[\"", below(9) + 1);
    add_words(out, 1);
    add(out, "\",\"");
    add_words(out, 1);
    add(out, "\"]}");
  }
  add(out, "]}");
}

static void add_prose(buffer *out, size_t bytes) {
  size_t start = out->len;
  while (out->len - start < bytes) {
    add_words(out, 6 + below(9));
    add(out, "%s", below(4) == 0 ? ".\\n" : ", ");
  }
}

static void add_base64(buffer *out, size_t bytes) {
  static const char symbols[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t at = 0; at < bytes / 4 * 4; at++) add(out, "%c", symbols[below(64)]);
}

static buffer result(const char *shape) {
  buffer out = {NULL, 0, 0};
  if (strcmp(shape, "text") == 0) {
    add(&out, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    add_prose(&out, BYTES - 44);
    add(&out, "\"}]}");
  } else if (strcmp(shape, "dual") == 0) {
    /* The same rows twice: once between quotes, once as the value. */
    buffer value = {NULL, 0, 0};
    add_rows(&value, (BYTES - 80) * 10 / 23);
    add(&out, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    for (size_t at = 0; at < value.len; at++) add(&out, value.bytes[at] == '"' ? "\\%c" : "%c", value.bytes[at]);
    add(&out, "\"}],\"structuredContent\":%s}", value.bytes);
    free(value.bytes);
  } else if (strcmp(shape, "structured") == 0) {
    add(&out, "{\"content\":[],\"structuredContent\":");
    add_rows(&out, BYTES - 40);
    add(&out, "}");
  } else if (strcmp(shape, "prose") == 0) {
    add(&out, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    add_prose(&out, BYTES / 2 - 40);
    add(&out, "\"}],\"structuredContent\":");
    add_rows(&out, (BYTES - 80) / 2);
    add(&out, "}");
  } else if (strcmp(shape, "image") == 0) {
    add(&out, "{\"content\":[{\"type\":\"image\",\"data\":\"");
    add_base64(&out, BYTES - 70);
    add(&out, "\",\"mimeType\":\"image/png\"}]}");
  } else if (strcmp(shape, "blocks") == 0) {
    add(&out, "{\"content\":[");
    for (int block = 0; out.len < BYTES - 8; block++) {
      add(&out, "%s{\"type\":\"text\",\"text\":\"", block > 0 ? "," : "");
      add_words(&out, 4);
      add(&out, "\",\"annotations\":{\"priority\":0.%zu}}", below(10));
    }
    add(&out, "]}");
  } else if (strcmp(shape, "meta") == 0) {
    add(&out, "{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}],\"_meta\":{\"durationMs\":%zu", below(900));
    while (out.len < BYTES - 4) {
      add(&out, ",\"com.example.");
      add_words(&out, 1);
      add(&out, "/");
      add_words(&out, 1);
      add(&out, "\":{\"v\":%zu,\"s\":\"", below(1000));
      add_words(&out, 1);
      add(&out, "\"}");
    }
    add(&out, "}}");
  } else {
    fprintf(stderr, "no shape %s\n", shape);
    exit(2);
  }
  return out;
}

/* ---- what is measured ---- */

__attribute__((noinline)) static void measured(mcp_select_engine *engine, mcp_select_request *request,
                                               const buffer *results, mcp_select_selection *selection) {
  for (int i = 0; i < RESULTS; i++) {
    mcp_select_error *error = NULL;
    int32_t status = mcp_select_result(engine, request, (const uint8_t *)results[i].bytes, results[i].len, selection, &error);
    must(status, error, __LINE__);
  }
}

/* The same under another name, so that it is not counted. */
__attribute__((noinline)) static void warm_up(mcp_select_engine *engine, mcp_select_request *request,
                                              const buffer *results, mcp_select_selection *selection) {
  for (int i = 0; i < RESULTS; i++) {
    mcp_select_error *error = NULL;
    int32_t status = mcp_select_result(engine, request, (const uint8_t *)results[i].bytes, results[i].len, selection, &error);
    must(status, error, -__LINE__);
  }
}

static const char *level(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") ? "x86-64-avx2" : "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "other";
#endif
}

int main(int argc, char **argv) {
  static buffer results[RESULTS];
  size_t bytes = 0;
  CHECK(argc == 2);
  if (strcmp(argv[1], "level") == 0) {
    puts(level());
    return 0;
  }
  state = 1;
  for (int i = 0; i < RESULTS; i++) {
    results[i] = result(argv[1]);
    bytes += results[i].len;
  }
  mcp_select_engine *engine =
      policy("version = 1\nextends = \"sep-2200\"\n[audience.model]\nmeta.allow = [\"durationMs\"]\n");
  mcp_select_request *asked = request("server", "tool", "model");
  mcp_select_selection *selected = selection();
  warm_up(engine, asked, results, selected);
  measured(engine, asked, results, selected);
  printf("%zu\n", bytes / RESULTS);
  mcp_select_selection_free(selected);
  mcp_select_request_free(asked);
  mcp_select_engine_free(engine);
  for (int i = 0; i < RESULTS; i++) free(results[i].bytes);
  return 0;
}
