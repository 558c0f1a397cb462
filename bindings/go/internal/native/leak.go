package native

/*
#include "mcp_select.h"

static void leak(void) {
	mcp_select_engine *engine = NULL;
	mcp_select_engine_builtin((const uint8_t *)"sep-2200", 8, &engine, NULL);
}
*/
import "C"

// Leak loses an engine. For internal/leakcheck alone, which shows with it that a leak would be found.
func Leak() { C.leak() }
