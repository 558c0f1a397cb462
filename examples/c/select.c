/* select.c - prints what a model sees of a tool result: select POLICY [RESULT], RESULT being a file or standard input.
 * POLICY is the name of a built-in policy or the path of a file that ends with .toml. */
#include <mcp_select.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *read_all(FILE *file, size_t *len) {
  uint8_t *bytes = NULL, *more;
  size_t room = 0;
  for (*len = 0; !feof(file) && !ferror(file); *len += fread(bytes + *len, 1, room - *len, file)) {
    if (*len == room) {
      if (!(more = realloc(bytes, room = room * 2 + 65536))) exit(2);
      bytes = more;
    }
  }
  return bytes;
}

int main(int argc, char **argv) {
  mcp_select_engine *engine = NULL;
  mcp_select_request *request = NULL;
  mcp_select_selection *selection = NULL;
  mcp_select_error *error = NULL;
  FILE *file = argc > 2 ? fopen(argv[2], "rb") : stdin;
  if (argc < 2 || file == NULL) return 2;
  const uint8_t *policy = (const uint8_t *)argv[1];
  size_t name = strlen(argv[1]), length, size = 0;
  uint8_t *result = read_all(file, &length);
  const uint8_t *seen = result;

  int32_t status = name > 5 && strcmp(argv[1] + name - 5, ".toml") == 0
                       ? mcp_select_engine_open(policy, name, &engine, &error)
                       : mcp_select_engine_builtin(policy, name, &engine, &error);
  if (status >= 0) status = mcp_select_selection_new(&selection);
  if (status >= 0) status = mcp_select_request_new((const uint8_t *)"demo", 4, (const uint8_t *)"tool", 4,
                                                   (const uint8_t *)"model", 5, &request, &error);
  if (status >= 0) status = mcp_select_result(engine, request, result, length, selection, &error);

  if (status == MCP_SELECT_CHANGED) seen = mcp_select_selection_json(selection, &size);
  else if (status < 0) seen = mcp_select_error_message(error, &size);
  else size = length; /* unchanged, or for the protocol driver: our own bytes */
  fwrite(seen, 1, size, status < 0 ? stderr : stdout);

  mcp_select_error_free(error);
  mcp_select_selection_free(selection);
  mcp_select_request_free(request);
  mcp_select_engine_free(engine);
  free(result);
  return status < 0;
}
