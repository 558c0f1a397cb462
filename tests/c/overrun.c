/* overrun.c - lies about a length, so that the library reads past the end: the address sanitizer must say so, or it is not
 * there (make asan). */
#include "check.h"

int main(void) {
  static const char result[] = "{\"content\":[{\"type\":\"text\",\"text\":\"";
  mcp_select_engine *engine = builtin("sep-2200");
  mcp_select_request *route = request("s", "t", "model");
  mcp_select_selection *buffer = selection();
  uint8_t *copy = malloc(sizeof result - 1);
  CHECK(copy != NULL);
  memcpy(copy, result, sizeof result - 1);
  mcp_select_result(engine, route, copy, sizeof result + 63, buffer, NULL);
  return 0;
}
