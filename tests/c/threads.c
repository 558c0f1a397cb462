/* threads.c - eight threads select while the policy is reloaded again and again under them, and forks in between.
 *
 * The file of the policy alternates between two texts. Every result must be that of one of them, and of the one whose
 * generation it names. Arguments: a folder to write in, and how often to reload. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8 };

static const char RESULT[] = "{\"content\":[{\"type\":\"text\",\"text\":\"words\"}],\"structuredContent\":{\"n\":1.50}}";
static const char *const POLICY[2] = {
    "version = 1\n[servers.s]\norder = [\"content\"]\n",
    "version = 1\n[servers.s]\norder = [\"structured\"]\n",
};
static const char *const SEEN[2] = {
    "{\"content\":[{\"type\":\"text\",\"text\":\"words\"}]}",
    "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\":1.50}\"}]}",
};
static const int32_t LANE[2] = {MCP_SELECT_LANE_CONTENT, MCP_SELECT_LANE_STRUCTURED};

/* Reachable from the child of a fork too. */
static mcp_select_engine *engine;
static mcp_select_request *route;
static mcp_select_selection *selections[THREADS];
static atomic_int stop;
static atomic_int generations_alternate = 1;
static atomic_long calls;
static char path[512], fresh[520];

/* Whether the result is that of one policy, and of the one that its generation says: the first is generation 1. */
static int consistent(mcp_select_selection *selection, int strict) {
  size_t len = 0, record_len = 0;
  const uint8_t *json = mcp_select_selection_json(selection, &len);
  const uint8_t *record = mcp_select_selection_decision(selection, &record_len);
  uint64_t generation = mcp_select_selection_generation(selection);
  int which = mcp_select_selection_lane(selection) == LANE[1];
  char said[64];
  snprintf(said, sizeof said, "\"generation\":%llu}", (unsigned long long)generation);
  return is(json, len, SEEN[which]) && mcp_select_selection_lane(selection) == LANE[which] &&
         has(record, record_len, said) && (!strict || generation % 2 == (which ? 0 : 1));
}

static void *reader(void *argument) {
  mcp_select_selection *selection = argument;
  while (!atomic_load(&stop)) {
    CHECK(mcp_select_result(engine, route, TEXT(RESULT), selection, NULL) == MCP_SELECT_CHANGED);
    CHECK(consistent(selection, atomic_load(&generations_alternate)));
    atomic_fetch_add(&calls, 1);
  }
  return NULL;
}

/* As editors and Kubernetes do it: a new file takes the place of the old one. */
static void write_policy(int which) {
  FILE *file = fopen(fresh, "wb");
  CHECK(file != NULL);
  CHECK(fwrite(POLICY[which], 1, strlen(POLICY[which]), file) == strlen(POLICY[which]));
  CHECK(fclose(file) == 0);
  CHECK(rename(fresh, path) == 0);
}

/* The child of a process that was in the middle of things can do all that its parent can. Not under the address sanitizer:
 * a lock of its allocator that another thread held at the fork stays locked in the child. */
#if defined(__SANITIZE_ADDRESS__)
static void check_child(void) {}
#else
static void check_child(void) {
  int status = 0, i;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    mcp_select_selection *own = selection();
    for (i = 0; i < 20; i++) {
      CHECK(mcp_select_result(engine, route, TEXT(RESULT), own, NULL) == MCP_SELECT_CHANGED);
      CHECK(consistent(own, 1));
      CHECK(mcp_select_engine_reload(engine, NULL) == MCP_SELECT_UNCHANGED);
    }
    CHECK(mcp_select_engine_replace(engine, (const uint8_t *)POLICY[0], strlen(POLICY[0]), NULL) == 0);
    CHECK(mcp_select_result(engine, route, TEXT(RESULT), own, NULL) == MCP_SELECT_CHANGED);
    CHECK(mcp_select_selection_lane(own) == MCP_SELECT_LANE_CONTENT);
    mcp_select_selection_free(own);
    /* Not by exit: what the other threads of the parent held is nobody's here, which a leak checker would count. */
    execl("/bin/true", "true", (char *)NULL);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  mcp_select_error *error = NULL;
  int i, count;
  CHECK(argc == 3);
  count = atoi(argv[2]);
  CHECK(count > 0);
  snprintf(path, sizeof path, "%s/alternating-%ld.toml", argv[1], (long)getpid());
  snprintf(fresh, sizeof fresh, "%s.new", path);
  write_policy(0);
  must(mcp_select_engine_open((const uint8_t *)path, strlen(path), &engine, &error), error, __LINE__);
  CHECK(mcp_select_engine_auto_reload(engine, 0) == 0);
  route = request("s", "t", "model");
  for (i = 0; i < THREADS; i++) {
    selections[i] = selection();
    CHECK(pthread_create(&threads[i], NULL, reader, selections[i]) == 0);
  }

  for (i = 1; i <= count; i++) {
    int32_t status;
    write_policy(i % 2);
    status = mcp_select_engine_reload(engine, &error);
    must(status, error, __LINE__);
    CHECK(status == MCP_SELECT_CHANGED);
    CHECK(mcp_select_engine_generation(engine) == (uint64_t)i + 1);
    if (i % (count / 10 + 1) == 0) check_child();
  }

  /* Now the selecting threads find the changes themselves, all at once. */
  atomic_store(&generations_alternate, 0);
  CHECK(mcp_select_engine_auto_reload(engine, 1) == 0);
  for (i = 1; i <= (count < 100 ? 3 : 20); i++) {
    uint64_t before = mcp_select_engine_generation(engine);
    int waited;
    write_policy((count + i) % 2);
    for (waited = 0; waited < 10000 && mcp_select_engine_generation(engine) == before; waited++) {
      struct timespec millisecond = {0, 1000000};
      nanosleep(&millisecond, NULL);
    }
    CHECK(mcp_select_engine_generation(engine) > before);
  }

  atomic_store(&stop, 1);
  for (i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(atomic_load(&calls) > THREADS);
  for (i = 0; i < THREADS; i++) mcp_select_selection_free(selections[i]);
  mcp_select_request_free(route);
  mcp_select_engine_free(engine);
  remove(path);
  return 0;
}
