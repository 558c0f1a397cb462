/* reload.c - an engine follows its file as file systems change it: reload FOLDER. The last good policy stays whatever
 * stands there in between. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[512];

static const char *at(const char *name) {
  static char paths[4][1024];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static void write_text(const char *name, const char *text, const char *mode) {
  FILE *file = fopen(at(name), mode);
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* A policy whose placeholder tells which one decided. */
static const char *says(const char *word) {
  static char text[256];
  snprintf(text, sizeof text, "version = 1\n[audience.model]\nplaceholder = \"%s\"\n", word);
  return text;
}

static void replace(const char *name, const char *text) {
  write_text("new", text, "w");
  CHECK(rename(at("new"), at(name)) == 0);
}

static mcp_select_engine *open_policy(void) {
  mcp_select_engine *engine = NULL;
  mcp_select_error *error = NULL;
  const char *path = at("policy.toml");
  must(mcp_select_engine_open((const uint8_t *)path, strlen(path), &engine, &error), error, __LINE__);
  CHECK(mcp_select_engine_auto_reload(engine, 1) == 0);
  return engine;
}

static int is_said(const mcp_select_engine *engine, const char *word) {
  static const char result[] = "{\"content\":[]}";
  mcp_select_request *request = NULL;
  mcp_select_selection *selection = NULL;
  mcp_select_error *error = NULL;
  const uint8_t *text = NULL;
  size_t len = 0;
  int same;
  must(mcp_select_request_new(TEXT("s"), TEXT("t"), TEXT("model"), &request, &error), error, __LINE__);
  CHECK(mcp_select_selection_new(&selection) == 0);
  must(mcp_select_result(engine, request, TEXT(result), selection, &error), error, __LINE__);
  CHECK(mcp_select_selection_text(selection, TEXT(result), NOTHING, &text, &len) == 0);
  same = is(text, len, word);
  mcp_select_selection_free(selection);
  mcp_select_request_free(request);
  return same;
}

static void wait_a_little(void) {
  struct timespec pause = {0, 2000000};
  nanosleep(&pause, NULL);
}

static void comes_to(const mcp_select_engine *engine, const char *word) {
  int turn;
  for (turn = 0; turn < 5000 && !is_said(engine, word); turn++) wait_a_little();
  CHECK(is_said(engine, word));
}

static void stays(const mcp_select_engine *engine, const char *word) {
  int turn;
  for (turn = 0; turn < 30; turn++) {
    CHECK(is_said(engine, word));
    wait_a_little();
  }
}

static void diagnosed(const mcp_select_engine *engine, const char *text) {
  mcp_select_text *report = NULL;
  mcp_select_error *error = NULL;
  size_t len = 0;
  const uint8_t *bytes;
  must(mcp_select_engine_diagnostics(engine, &report, &error), error, __LINE__);
  bytes = mcp_select_text_bytes(report, &len);
  CHECK(has(bytes, len, text));
  mcp_select_text_free(report);
}

int main(int argc, char **argv) {
  mcp_select_engine *engine;
  int line;
  CHECK(argc == 2);
  snprintf(folder, sizeof folder, "%s/reload-XXXXXX", argv[1]);
  CHECK(mkdtemp(folder) != NULL);

  /* Renamed over, written in place, broken and mended, deleted and back. */
  write_text("policy.toml", says("one"), "w");
  engine = open_policy();
  CHECK(is_said(engine, "one"));
  replace("policy.toml", says("two"));
  comes_to(engine, "two");
  write_text("policy.toml", says("three"), "w");
  comes_to(engine, "three");
  replace("policy.toml", "version = 1\nordr = 1\n");
  stays(engine, "three");
  diagnosed(engine, "unknown key `ordr`");
  replace("policy.toml", says("four"));
  comes_to(engine, "four");
  diagnosed(engine, "\"error\":null");
  CHECK(remove(at("policy.toml")) == 0);
  stays(engine, "four");
  diagnosed(engine, "policy-file");
  write_text("policy.toml", says("five"), "w");
  comes_to(engine, "five");
  CHECK(mcp_select_engine_generation(engine) == 5);

  /* Half-written: it loads at every moment, but never stays the same for two looks. */
  write_text("policy.toml", says("six"), "w");
  for (line = 0; line < 40; line++) {
    write_text("policy.toml", "# one more line\n", "a");
    CHECK(is_said(engine, "five"));
    wait_a_little();
  }
  comes_to(engine, "six");
  mcp_select_engine_free(engine);

  /* An extended file. */
  write_text("base.toml", says("base one"), "w");
  write_text("policy.toml", "version = 1\nextends = \"./base.toml\"\n[audience.model]\nusable = \"any\"\n", "w");
  engine = open_policy();
  replace("base.toml", says("base two"));
  comes_to(engine, "base two");
  mcp_select_engine_free(engine);

  /* An audience must not vanish. */
  write_text("policy.toml", "version = 1\n[audience.model]\nplaceholder = \"a\"\n[audience.reviewer]\nlike = \"model\"\n", "w");
  engine = open_policy();
  replace("policy.toml", says("b"));
  stays(engine, "a");
  diagnosed(engine, "reviewer");
  mcp_select_engine_free(engine);

  /* The symlink swap of a Kubernetes ConfigMap. */
  CHECK(remove(at("policy.toml")) == 0 && mkdir(at("v1"), 0700) == 0 && mkdir(at("v2"), 0700) == 0);
  write_text("v1/policy.toml", says("v1"), "w");
  write_text("v2/policy.toml", says("v2"), "w");
  CHECK(symlink("v1", at("..data")) == 0 && symlink("..data/policy.toml", at("policy.toml")) == 0);
  engine = open_policy();
  CHECK(symlink("v2", at("..data_tmp")) == 0 && rename(at("..data_tmp"), at("..data")) == 0);
  comes_to(engine, "v2");
  mcp_select_engine_free(engine);
  puts("reload follows the files");
  return 0;
}
