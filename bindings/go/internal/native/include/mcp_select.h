/* mcp_select.h - What an audience sees of an MCP tool result, decided by a policy file.
 *
 * A program makes an engine once (the policy), a request for each server, tool and audience (who asks),
 * and a selection for each thread (the buffer), and then calls mcp_select_result for every result:
 *
 *     mcp_select_engine *engine = NULL;
 *     mcp_select_request *request = NULL;
 *     mcp_select_selection *selection = NULL;
 *     mcp_select_error *error = NULL;
 *
 *     mcp_select_engine_open((const uint8_t *)"policy.toml", 11, &engine, &error);
 *     mcp_select_request_new((const uint8_t *)"github", 6, (const uint8_t *)"list_issues", 11,
 *                            (const uint8_t *)"model", 5, &request, &error);
 *     mcp_select_selection_new(&selection);
 *     ...
 *     switch (mcp_select_result(engine, request, bytes, length, selection, &error)) {
 *     case MCP_SELECT_UNCHANGED:       use(bytes, length); break;
 *     case MCP_SELECT_CHANGED:         json = mcp_select_selection_json(selection, &size); use(json, size); break;
 *     case MCP_SELECT_NOT_FOR_READERS: to_the_protocol_driver(bytes, length); break;
 *     default:                         report(error); mcp_select_error_free(error);
 *     }
 *
 * Conventions (hold for every function below)
 *
 *   Names      One prefix; the type is the first part of a function's name, its object the first argument.
 *   Inputs     Pointer and length, never NUL-terminated. NULL is allowed only with length 0. Read during the
 *              call only: the library keeps no pointer to the caller's memory after a call returns, calls
 *              nothing back, and starts no thread.
 *   Outputs    An out-parameter is written only on success, `err` (which may be NULL) only on failure.
 *   Arguments  A NULL where an object is needed, a length over PTRDIFF_MAX, a name that is no UTF-8 or a number
 *              that is no enumerator gives MCP_SELECT_ERR_ARGUMENT, never a crash. Accessors say what they give.
 *   Ownership  What an out-parameter gave is freed once with the *_free of its type; *_free(NULL) does nothing.
 *              Bytes from an accessor belong to the object: they are valid until it is freed, or until the next
 *              call that takes it as a non-const pointer. Objects do not depend on each other: they may be
 *              freed in any order.
 *   Threads    An object given as `const T *` may be in use by many threads at once, one given as `T *` by one.
 *              Objects may move between threads; no result depends on the thread that asks.
 *   fork       Every object stays usable in the child; no lock is held across a call.
 *   Failure    A status < 0 is always an error and >= 0 never is. Panics are caught (MCP_SELECT_ERR_INTERNAL).
 *              The panic hook, the environment, signals and the allocator of the process are not touched.
 *   Text       UTF-8. Server, tool and audience names are compared byte by byte.
 *
 * This file is made from src/ffi/ by `make header`; do not edit it.
 */
#ifndef MCP_SELECT_H
#define MCP_SELECT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- Constants ------------------------------------------------------------------------------------------- */

/* Plain enumerators, so that cgo, cffi and the preprocessor all see them. Numbers are never reused.
 * Functions take and give them as int32_t. */

/* What a call came to. The numbers are those of the C ABI and are never reused. */
enum mcp_select_status {
  MCP_SELECT_UNCHANGED        = 0,   /* The reader sees the input exactly as it is: use your own bytes */
  MCP_SELECT_CHANGED          = 1,   /* Read the selection */
  MCP_SELECT_NOT_FOR_READERS  = 2,   /* `needs_input` or `task`: hand the input to the protocol driver, show it to nobody */

  MCP_SELECT_ERR_ARGUMENT     = -1,  /* A NULL, a length over `PTRDIFF_MAX`, or a number that is no enumerator */
  MCP_SELECT_ERR_INTERNAL     = -2,  /* A caught panic: a bug here. The objects stay usable, or say so again */

  MCP_SELECT_ERR_POLICY       = -10, /* The policy does not compile: read the diagnostics */
  MCP_SELECT_ERR_POLICY_EMPTY = -11, /* No bytes, or nothing but comments */
  MCP_SELECT_ERR_POLICY_FILE  = -12, /* A file cannot be read, or `extends` leads nowhere or round in a circle */
  MCP_SELECT_ERR_NO_BUILTIN   = -13, /* No built-in policy has this name */
  MCP_SELECT_ERR_NO_FILE      = -14, /* Reload of an engine that was not opened from a file */

  MCP_SELECT_ERR_AUDIENCE     = -20, /* The policy in force does not define this audience */
  MCP_SELECT_ERR_TOOL         = -21, /* The tool definition is no JSON object */
  MCP_SELECT_ERR_REVISION     = -22, /* The protocol revision is no `YYYY-MM-DD` */

  MCP_SELECT_ERR_JSON         = -30, /* Malformed JSON (NaN and Infinity are named) */
  MCP_SELECT_ERR_UTF8         = -31, /* Invalid UTF-8 */
  MCP_SELECT_ERR_DEPTH        = -32, /* Nested too deep */
  MCP_SELECT_ERR_SIZE         = -33, /* Larger than the policy allows */
  MCP_SELECT_ERR_SHAPE        = -34, /* A member of the wrong type, or no member at all */
  MCP_SELECT_ERR_RESULT_TYPE  = -35, /* A `resultType` that is unknown or was not negotiated; `outputs` alone */
  MCP_SELECT_ERR_SCHEMA       = -36  /* Setting `schema = "reject"`, and the value does not conform */
};

/* What kind of object the bytes are. Said by the host, never guessed from bytes that a server wrote. */
enum mcp_select_input {
  MCP_SELECT_INPUT_RESULT   = 0,   /* The `result` of tools/call or tasks/result (this is the default) */
  MCP_SELECT_INPUT_SAMPLING = 1    /* A tool_result block of a sampling message: its type, toolUseId and _meta stay */
};

/* Who should read the result at all. */
enum mcp_select_outcome {
  MCP_SELECT_OUTCOME_SELECTED    = 0,   /* A result to select from */
  MCP_SELECT_OUTCOME_NEEDS_INPUT = 1,   /* resultType input_required: for the protocol driver */
  MCP_SELECT_OUTCOME_TASK        = 2    /* resultType task, and the extension was negotiated: for the protocol driver */
};

/* The way in which what is seen was built. */
enum mcp_select_lane {
  MCP_SELECT_LANE_NOTHING         = 0,   /* The placeholder */
  MCP_SELECT_LANE_CONTENT         = 1,   /* The blocks */
  MCP_SELECT_LANE_STRUCTURED      = 2,   /* The structured value in the place of the text blocks */
  MCP_SELECT_LANE_STRUCTURED_ONLY = 3,   /* The structured value alone */
  MCP_SELECT_LANE_BOTH            = 4,   /* The blocks and the structured value */
  MCP_SELECT_LANE_RAW             = 5,   /* The whole result as JSON text */
  MCP_SELECT_LANE_WHOLE           = 6    /* The result as it came (MCP Apps) */
};

/* What became of a block of the output. */
enum mcp_select_block {
  MCP_SELECT_BLOCK_KEPT      = 0,   /* Byte for byte the source block */
  MCP_SELECT_BLOCK_REWRITTEN = 1,   /* Cut, sanitised, projected, turned into text, or its _meta filtered */
  MCP_SELECT_BLOCK_NOTE      = 2,   /* Stands in the place of the source block */
  MCP_SELECT_BLOCK_ADDED     = 3    /* Structured value, extras or placeholder: no source block */
};

/* ---- Types ----------------------------------------------------------------------------------------------- */

/* A policy in force, swapped atomically. */
typedef struct mcp_select_engine mcp_select_engine;
/* A route: server, tool, audience, and what is known of them. */
typedef struct mcp_select_request mcp_select_request;
/* A reusable output buffer, and what the last call came to. */
typedef struct mcp_select_selection mcp_select_selection;
/* Why a call failed. */
typedef struct mcp_select_error mcp_select_error;
/* An owned piece of UTF-8. */
typedef struct mcp_select_text mcp_select_text;

/* ---- Version --------------------------------------------------------------------------------------------- */

/* A binding that was built on this header refuses a library whose range [min_compatible, version] does not
 * hold MCP_SELECT_ABI_VERSION. */

/* Raised by one when a caller of the older header could notice. */
#define MCP_SELECT_ABI_VERSION 1

/* The oldest header that this library still serves. */
#define MCP_SELECT_ABI_MIN_COMPATIBLE 1

/* MCP_SELECT_ABI_VERSION of the library that is loaded. */
uint32_t mcp_select_abi_version(void);

/* MCP_SELECT_ABI_MIN_COMPATIBLE of the library that is loaded. */
uint32_t mcp_select_abi_min_compatible(void);

/* The version of the library that is loaded, such as "1.2.3". Never freed. NULL when `len` is NULL. */
const uint8_t *mcp_select_version(size_t *len);

/* ---- Engine ---------------------------------------------------------------------------------------------- */

/* A policy in force, swapped atomically. Make one, share it between all threads. */

/* Makes an engine with the policy in these bytes (TOML). `extends` may name built-in policies only.
 *
 * Returns 0, or MCP_SELECT_ERR_POLICY with all that is wrong in the error's JSON, or
 * MCP_SELECT_ERR_POLICY_EMPTY: no bytes is an error, not a default. Free `*out` with
 * mcp_select_engine_free. */
int32_t mcp_select_engine_new(const uint8_t *policy, size_t policy_len, mcp_select_engine **out,
                              mcp_select_error **err);

/* Makes an engine with a built-in policy, such as "sep-2200".
 *
 * Returns 0 or MCP_SELECT_ERR_NO_BUILTIN. Free `*out` with mcp_select_engine_free. */
int32_t mcp_select_engine_builtin(const uint8_t *name, size_t name_len, mcp_select_engine **out,
                                  mcp_select_error **err);

/* Makes an engine with the policy of a file and of the files that it extends. `path` is UTF-8 on every
 * platform.
 *
 * The files are looked at again, at most once a second, while results are selected; see
 * mcp_select_engine_auto_reload. Returns 0, MCP_SELECT_ERR_POLICY_FILE when a file cannot be read, or as
 * mcp_select_engine_new. Free `*out` with mcp_select_engine_free. */
int32_t mcp_select_engine_open(const uint8_t *path, size_t path_len, mcp_select_engine **out,
                               mcp_select_error **err);

/* Reads the files now, on this thread, and swaps in what they say.
 *
 * Returns MCP_SELECT_CHANGED when a new policy is in force, MCP_SELECT_UNCHANGED when the files say the
 * same, or an error, and then the last good policy stays: as mcp_select_engine_open; MCP_SELECT_ERR_POLICY
 * also when an audience of the policy in force would vanish; MCP_SELECT_ERR_NO_FILE when the engine was
 * not opened from a file. */
int32_t mcp_select_engine_reload(const mcp_select_engine *engine, mcp_select_error **err);

/* Swaps in the policy in these bytes. The files are forgotten: auto reload stops until an engine is opened
 * anew.
 *
 * Returns 0, or as mcp_select_engine_new, and then the last good policy stays. */
int32_t mcp_select_engine_replace(const mcp_select_engine *engine, const uint8_t *policy, size_t policy_len,
                                  mcp_select_error **err);

/* Sets how often a selection may look at the files, in milliseconds; 0: never.
 *
 * With an event loop, set 0 and call mcp_select_engine_reload from a worker. Returns 0, or
 * MCP_SELECT_ERR_ARGUMENT when `engine` is NULL. */
int32_t mcp_select_engine_auto_reload(const mcp_select_engine *engine, uint32_t interval_ms);

/* 1 for the first policy, one more with each swap; 0 when `engine` is NULL. */
uint64_t mcp_select_engine_generation(const mcp_select_engine *engine);

/* Tells of the policy in force, as JSON: its name, hash, generation, files and warnings, how old it is,
 * and the error of the last reload, if there was one.
 *
 * Returns 0. Free `*out` with mcp_select_text_free. */
int32_t mcp_select_engine_diagnostics(const mcp_select_engine *engine, mcp_select_text **out,
                                      mcp_select_error **err);

/* Tells the decision table of one route, as JSON, for an admin page or a test.
 *
 * Returns 0 or MCP_SELECT_ERR_AUDIENCE. Free `*out` with mcp_select_text_free. */
int32_t mcp_select_engine_table(const mcp_select_engine *engine, const mcp_select_request *request,
                                mcp_select_text **out, mcp_select_error **err);

/* Frees an engine. No other thread may be in a call with it. Requests and selections may outlive it. */
void mcp_select_engine_free(mcp_select_engine *engine);

/* ---- Request --------------------------------------------------------------------------------------------- */

/* What is known before a result comes. Build one for each server, tool and audience when tools/list comes,
 * then share it; it is not edited while it is shared. It remembers its decision table, so that a call with
 * it looks nothing up. */

/* Makes a request. `server` is the host's own connection id, never the name that a server gives itself.
 *
 * Whether the audience exists is seen when a policy is applied. Returns 0. Free `*out` with
 * mcp_select_request_free. */
int32_t mcp_select_request_new(const uint8_t *server, size_t server_len, const uint8_t *tool, size_t tool_len,
                               const uint8_t *audience, size_t audience_len, mcp_select_request **out,
                               mcp_select_error **err);

/* Says which protocol revision was agreed, as YYYY-MM-DD; a later date than this library knows is
 * accepted.
 *
 * Returns 0, or MCP_SELECT_ERR_REVISION, and then nothing is set. */
int32_t mcp_select_request_set_revision(mcp_select_request *request,
                                        const uint8_t *revision, size_t revision_len, mcp_select_error **err);

/* Hands over the tool's object out of tools/list, as JSON: its outputSchema and _meta.ui are read. NULL
 * with length 0 takes it away.
 *
 * Returns 0, or MCP_SELECT_ERR_TOOL when it is no JSON object, and then nothing is set. */
int32_t mcp_select_request_set_tool_definition(mcp_select_request *request,
                                               const uint8_t *tool, size_t tool_len, mcp_select_error **err);

/* Says that an extension was negotiated, such as "io.modelcontextprotocol/tasks". Returns 0. */
int32_t mcp_select_request_add_extension(mcp_select_request *request,
                                         const uint8_t *extension, size_t extension_len,
                                         mcp_select_error **err);

/* Tells a fact that only the host knows, for `when = { label.NAME = PATTERN }` in a policy: model, ring,
 * tenant, trust ... The last value of a name counts. Returns 0. */
int32_t mcp_select_request_set_label(mcp_select_request *request, const uint8_t *name, size_t name_len,
                                     const uint8_t *value, size_t value_len, mcp_select_error **err);

/* Says what the bytes will be: one of enum mcp_select_input.
 *
 * Returns 0, or MCP_SELECT_ERR_ARGUMENT when `input` is none of them, and then nothing is set. */
int32_t mcp_select_request_set_input(mcp_select_request *request, int32_t input);

/* Makes a second request of the same route for another audience, or, with length 0, for the same one. It
 * can be edited while the first stays in use.
 *
 * Returns 0. Free `*out` with mcp_select_request_free. */
int32_t mcp_select_request_clone(const mcp_select_request *request,
                                 const uint8_t *audience, size_t audience_len, mcp_select_request **out,
                                 mcp_select_error **err);

/* Frees a request. No other thread may be in a call with it. Selections may outlive it. */
void mcp_select_request_free(mcp_select_request *request);

/* ---- Selection ------------------------------------------------------------------------------------------- */

/* The buffer for the output of a call, and what the last call with it came to. Make one for each thread,
 * or keep a pool, and use it again and again: once it has grown, a call with an ordinary result allocates
 * nothing.
 *
 * A selection is empty before the first call and after a call that failed: it has no JSON, no text, no
 * blocks and no decision record then, outcome, lane and generation are 0. */

/* Makes an empty selection.
 *
 * Returns 0, or MCP_SELECT_ERR_ARGUMENT when `out` is NULL. Free `*out` with mcp_select_selection_free. */
int32_t mcp_select_selection_new(mcp_select_selection **out);

/* Selects what the request's audience sees of a result, by the engine's policy.
 *
 * Returns MCP_SELECT_UNCHANGED (use your own bytes), MCP_SELECT_CHANGED (read the selection) or
 * MCP_SELECT_NOT_FOR_READERS (hand your bytes to the protocol driver); or an error, and then the selection
 * is empty: never a part of a result. `result` is not needed after the call. */
int32_t mcp_select_result(const mcp_select_engine *engine, const mcp_select_request *request,
                          const uint8_t *result, size_t result_len, mcp_select_selection *selection,
                          mcp_select_error **err);

/* The selected result as JSON; NULL and 0 unless the call said MCP_SELECT_CHANGED. */
const uint8_t *mcp_select_selection_json(const mcp_select_selection *selection, size_t *len);

/* Every text that the reader sees, joined with `separator`: the string for a model API that takes one.
 *
 * `result` must be the bytes of the call, since a result that did not change was not copied; after
 * MCP_SELECT_CHANGED it may be NULL with length 0. The text is empty when the selection is, or when the
 * result is not for readers. Returns 0, or MCP_SELECT_ERR_ARGUMENT when a pointer is NULL, `separator` is
 * no UTF-8, or `result` has another length than the bytes of the call. */
int32_t mcp_select_selection_text(mcp_select_selection *selection, const uint8_t *result, size_t result_len,
                                  const uint8_t *separator, size_t separator_len,
                                  const uint8_t **text, size_t *text_len);

/* One of enum mcp_select_outcome; MCP_SELECT_ERR_ARGUMENT when `selection` is NULL. */
int32_t mcp_select_selection_outcome(const mcp_select_selection *selection);

/* One of enum mcp_select_lane; MCP_SELECT_ERR_ARGUMENT when `selection` is NULL. */
int32_t mcp_select_selection_lane(const mcp_select_selection *selection);

/* 1 when the result's isError was true, else 0; MCP_SELECT_ERR_ARGUMENT when `selection` is NULL. */
int32_t mcp_select_selection_is_error(const mcp_select_selection *selection);

/* The generation of the policy that decided; 0 when the selection is empty or NULL. */
uint64_t mcp_select_selection_generation(const mcp_select_selection *selection);

/* How many blocks the output has, for a host that holds parsed blocks and only wants to know which to
 * keep. */
size_t mcp_select_selection_block_count(const mcp_select_selection *selection);

/* The index in the input's content of the block that this block of the output was made of; -1 when there
 * is none. */
int64_t mcp_select_selection_block_source(const mcp_select_selection *selection, size_t index);

/* What became of a block of the output, one of enum mcp_select_block; -1 when there is no such block. */
int32_t mcp_select_selection_block_kind(const mcp_select_selection *selection, size_t index);

/* The decision record as JSON: what was decided, by which rules, what was measured and what was left out.
 * Never a value out of _meta. NULL and 0 when the selection is empty.
 *
 * It is built on the first call and needs nothing of the input. */
const uint8_t *mcp_select_selection_decision(mcp_select_selection *selection, size_t *len);

/* Gives memory back when the buffers are larger than `keep` bytes, after one result of 60 MiB, say. What
 * was selected can be read as before, so the output itself stays until the next call; the bytes that
 * accessors gave are no longer valid. */
void mcp_select_selection_trim(mcp_select_selection *selection, size_t keep);

/* Frees a selection, and the bytes that its accessors gave. */
void mcp_select_selection_free(mcp_select_selection *selection);

/* ---- Error ----------------------------------------------------------------------------------------------- */

/* Why a call failed. It is made only when the caller handed in an `err`, and belongs to the caller. */

/* The status that the call returned; MCP_SELECT_ERR_ARGUMENT when `error` is NULL. */
int32_t mcp_select_error_status(const mcp_select_error *error);

/* One line, lower case: the code, the place, what is wrong, and the way out. */
const uint8_t *mcp_select_error_message(const mcp_select_error *error, size_t *len);

/* The byte in the result or in the policy file, from 0; -1 when there is none. */
int64_t mcp_select_error_offset(const mcp_select_error *error);

/* The error as a JSON object: status, code, message, offset, member, and for a policy file, line, column,
 * help and all diagnostics. */
const uint8_t *mcp_select_error_json(const mcp_select_error *error, size_t *len);

/* Frees an error. */
void mcp_select_error_free(mcp_select_error *error);

/* ---- Text ------------------------------------------------------------------------------------------------ */

/* A piece of UTF-8 that belongs to the caller: the JSON reports of an engine. */

/* The bytes of a text; NULL and 0 when `text` is NULL. */
const uint8_t *mcp_select_text_bytes(const mcp_select_text *text, size_t *len);

/* Frees a text. */
void mcp_select_text_free(mcp_select_text *text);

#if defined(__cplusplus)
} /* extern "C" */
#endif
#endif /* MCP_SELECT_H */
