/* check.h - what the C tests share: a check that says where it failed, and text with its length. */
#ifndef CHECK_H
#define CHECK_H

#include "mcp_select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);       \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

/* Pointer and length of a string literal, as two arguments. */
#define TEXT(literal) (const uint8_t *)(literal), (sizeof(literal) - 1)
#define NOTHING NULL, 0

/* Whether these bytes are this text. */
static inline int is(const uint8_t *bytes, size_t len, const char *text) {
  return bytes != NULL && len == strlen(text) && memcmp(bytes, text, len) == 0;
}

/* Whether these bytes contain this text. */
static inline int has(const uint8_t *bytes, size_t len, const char *text) {
  size_t size = strlen(text), i;
  for (i = 0; bytes != NULL && i + size <= len; i++) {
    if (memcmp(bytes + i, text, size) == 0) return 1;
  }
  return 0;
}

/* Prints an error and ends; for calls that must not fail. */
static inline void must(int32_t status, mcp_select_error *error, int line) {
  if (status < 0) {
    size_t len = 0;
    const uint8_t *message = mcp_select_error_message(error, &len);
    fprintf(stderr, "line %d: status %d: %.*s\n", line, (int)status, (int)len, (const char *)message);
    exit(1);
  }
}

static inline mcp_select_engine *builtin(const char *name) {
  mcp_select_engine *engine = NULL;
  mcp_select_error *error = NULL;
  must(mcp_select_engine_builtin((const uint8_t *)name, strlen(name), &engine, &error), error, __LINE__);
  return engine;
}

static inline mcp_select_engine *policy(const char *text) {
  mcp_select_engine *engine = NULL;
  mcp_select_error *error = NULL;
  must(mcp_select_engine_new((const uint8_t *)text, strlen(text), &engine, &error), error, __LINE__);
  return engine;
}

static inline mcp_select_request *request(const char *server, const char *tool, const char *audience) {
  mcp_select_request *made = NULL;
  mcp_select_error *error = NULL;
  must(mcp_select_request_new((const uint8_t *)server, strlen(server), (const uint8_t *)tool, strlen(tool),
                              (const uint8_t *)audience, strlen(audience), &made, &error),
       error, __LINE__);
  return made;
}

static inline mcp_select_selection *selection(void) {
  mcp_select_selection *made = NULL;
  CHECK(mcp_select_selection_new(&made) == 0);
  CHECK(made != NULL);
  return made;
}

#endif
