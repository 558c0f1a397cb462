// mcp_select.hpp - mcp_select.h for C++17: move-only objects that free themselves, std::string_view in and out.
//
//   mcp_select::Engine engine = mcp_select::Engine::open("policy.toml");          // the policy; share it
//   mcp_select::Request request("github", "list_issues", "model");                // a route; share it
//   mcp_select::Selection selection;                                              // a buffer; one for each thread
//
//   switch (engine.select(request, result, selection)) {
//     case mcp_select::Status::unchanged:       use(result); break;
//     case mcp_select::Status::changed:         use(selection.json()); break;
//     case mcp_select::Status::not_for_readers: to_the_protocol_driver(result); break;
//   }
//
// Every call that can fail has two forms. `open` throws an Error; `try_open` never throws one: it gives a Result, or, where
// there is nothing to give, a Status (below 0: an error) and the Error through a pointer that may be null. Without exceptions
// (-fno-exceptions) only the second form is there. Memory that runs out is std::bad_alloc in both.
//
// The conventions of mcp_select.h hold: `const` methods may be called from many threads at once, others by one. A view
// belongs to its object and is valid until that is destroyed, moved from, or used by a method that is not `const`.
// A moved-from object may only be destroyed or assigned to; other calls with it fail with Status::err_argument.
#ifndef MCP_SELECT_HPP
#define MCP_SELECT_HPP

#include "mcp_select.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define MCP_SELECT_THROWS 1
#else
#define MCP_SELECT_THROWS 0
#endif

namespace mcp_select {

// ---- constants: those of mcp_select.h --------------------------------------------------------------------

enum class Status : std::int32_t {
  unchanged = MCP_SELECT_UNCHANGED,
  ok = MCP_SELECT_UNCHANGED,  // of calls that select nothing
  changed = MCP_SELECT_CHANGED,
  not_for_readers = MCP_SELECT_NOT_FOR_READERS,
  err_argument = MCP_SELECT_ERR_ARGUMENT,
  err_internal = MCP_SELECT_ERR_INTERNAL,
  err_policy = MCP_SELECT_ERR_POLICY,
  err_policy_empty = MCP_SELECT_ERR_POLICY_EMPTY,
  err_policy_file = MCP_SELECT_ERR_POLICY_FILE,
  err_no_builtin = MCP_SELECT_ERR_NO_BUILTIN,
  err_no_file = MCP_SELECT_ERR_NO_FILE,
  err_audience = MCP_SELECT_ERR_AUDIENCE,
  err_tool = MCP_SELECT_ERR_TOOL,
  err_revision = MCP_SELECT_ERR_REVISION,
  err_json = MCP_SELECT_ERR_JSON,
  err_utf8 = MCP_SELECT_ERR_UTF8,
  err_depth = MCP_SELECT_ERR_DEPTH,
  err_size = MCP_SELECT_ERR_SIZE,
  err_shape = MCP_SELECT_ERR_SHAPE,
  err_result_type = MCP_SELECT_ERR_RESULT_TYPE,
  err_schema = MCP_SELECT_ERR_SCHEMA,
};

// Whether a status is an error. A library newer than this header may give one that has no name here.
constexpr bool failed(Status status) noexcept { return static_cast<std::int32_t>(status) < 0; }

enum class Input : std::int32_t {
  result = MCP_SELECT_INPUT_RESULT,
  sampling = MCP_SELECT_INPUT_SAMPLING,
};

enum class Outcome : std::int32_t {
  selected = MCP_SELECT_OUTCOME_SELECTED,
  needs_input = MCP_SELECT_OUTCOME_NEEDS_INPUT,
  task = MCP_SELECT_OUTCOME_TASK,
};

enum class Lane : std::int32_t {
  nothing = MCP_SELECT_LANE_NOTHING,
  content = MCP_SELECT_LANE_CONTENT,
  structured = MCP_SELECT_LANE_STRUCTURED,
  structured_only = MCP_SELECT_LANE_STRUCTURED_ONLY,
  both = MCP_SELECT_LANE_BOTH,
  raw = MCP_SELECT_LANE_RAW,
  whole = MCP_SELECT_LANE_WHOLE,
};

enum class BlockKind : std::int32_t {
  none = -1,  // no such block
  kept = MCP_SELECT_BLOCK_KEPT,
  rewritten = MCP_SELECT_BLOCK_REWRITTEN,
  note = MCP_SELECT_BLOCK_NOTE,
  added = MCP_SELECT_BLOCK_ADDED,
};

// ---- how text and objects cross the border ---------------------------------------------------------------

namespace detail {

inline const std::uint8_t *data(std::string_view text) noexcept {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

inline std::string_view view(const std::uint8_t *bytes, std::size_t size) noexcept {
  return {reinterpret_cast<const char *>(bytes), size};
}

struct Free {
  void operator()(mcp_select_engine *engine) const noexcept { mcp_select_engine_free(engine); }
  void operator()(mcp_select_request *request) const noexcept { mcp_select_request_free(request); }
  void operator()(mcp_select_selection *selection) const noexcept { mcp_select_selection_free(selection); }
  void operator()(mcp_select_error *error) const noexcept { mcp_select_error_free(error); }
  void operator()(mcp_select_text *text) const noexcept { mcp_select_text_free(text); }
};

template <class T>
using Handle = std::unique_ptr<T, Free>;

}  // namespace detail

// ---- errors ----------------------------------------------------------------------------------------------

// Why a call failed. Copies share what they say.
class Error : public std::exception {
 public:
  Error() noexcept = default;

  // Takes over an error of the C interface; `status` is what the call returned.
  explicit Error(std::int32_t status, mcp_select_error *error = nullptr) {
    detail::Handle<mcp_select_error> owned(error);
    auto said = std::make_shared<Said>();
    said->status = static_cast<Status>(status);
    std::size_t size = 0;
    if (owned) {
      said->offset = mcp_select_error_offset(owned.get());
      if (const std::uint8_t *bytes = mcp_select_error_message(owned.get(), &size)) {
        said->message = detail::view(bytes, size);
      }
      if (const std::uint8_t *bytes = mcp_select_error_json(owned.get(), &size)) said->json = detail::view(bytes, size);
    } else if (status == MCP_SELECT_ERR_ARGUMENT) {
      said->message = "bad-argument: an object is null or was moved from, or what was handed in does not fit";
    } else {
      said->message = "internal: the call failed and said no more";
    }
    said_ = std::move(said);
  }

  // Status::ok when there is no error.
  Status status() const noexcept { return said_ ? said_->status : Status::ok; }
  // One line, lower case: the code, the place, what is wrong, and the way out.
  std::string_view message() const noexcept { return said_ ? std::string_view(said_->message) : std::string_view(); }
  // The error as a JSON object, with all diagnostics of a policy; may be empty.
  std::string_view json() const noexcept { return said_ ? std::string_view(said_->json) : std::string_view(); }
  // The byte in the result or the policy file, from 0; -1: none.
  std::int64_t offset() const noexcept { return said_ ? said_->offset : -1; }
  const char *what() const noexcept override { return said_ ? said_->message.c_str() : "no error"; }

 private:
  struct Said {
    Status status = Status::ok;
    std::int64_t offset = -1;
    std::string message;
    std::string json;
  };
  std::shared_ptr<const Said> said_;
};

// What a `try_` form gives: an object, or an Error.
template <class T>
class Result {
 public:
  Result(T value) noexcept : value_(std::move(value)) {}
  Result(Error error) noexcept : error_(std::move(error)) {}

  explicit operator bool() const noexcept { return value_.has_value(); }
  Status status() const noexcept { return error_.status(); }
  const Error &error() const noexcept { return error_; }

  // Only when there is one.
  T &operator*() noexcept { return *value_; }
  const T &operator*() const noexcept { return *value_; }
  T *operator->() noexcept { return &*value_; }
  const T *operator->() const noexcept { return &*value_; }

#if MCP_SELECT_THROWS
  // The object; throws the Error when there is none.
  T value() && {
    if (!value_) throw error_;
    return std::move(*value_);
  }
#endif

 private:
  std::optional<T> value_;
  Error error_;
};

namespace detail {

// A `try_` form without an object: `call` is given the place for its error, which is nowhere when nobody asks for it.
template <class Call>
Status report(Error *error, Call call) {
  mcp_select_error *raw = nullptr;
  const std::int32_t status = call(error == nullptr ? nullptr : &raw);
  if (status < 0 && error != nullptr) *error = Error(status, raw);
  return static_cast<Status>(status);
}

// A maker: the object, or the Error.
template <class T, class Raw, class Call>
Result<T> make(Call call) {
  Raw *object = nullptr;
  mcp_select_error *raw = nullptr;
  const std::int32_t status = call(&object, &raw);
  if (status < 0) return Error(status, raw);
  return T(object);
}

#if MCP_SELECT_THROWS
// The end of a form that throws.
template <class Call>
Status or_throw(Call call) {
  Error error;
  const Status status = call(&error);
  if (failed(status)) throw error;
  return status;
}
#endif

}  // namespace detail

// ---- text ------------------------------------------------------------------------------------------------

// A report of an engine.
class Text {
 public:
  explicit Text(mcp_select_text *text) noexcept : handle_(text) {}
  std::string_view view() const noexcept {
    std::size_t size = 0;
    const std::uint8_t *bytes = mcp_select_text_bytes(handle_.get(), &size);
    return detail::view(bytes, size);
  }

 private:
  detail::Handle<mcp_select_text> handle_;
};

// ---- version ---------------------------------------------------------------------------------------------

// The version of the library that is loaded.
inline std::string_view version() noexcept {
  std::size_t size = 0;
  const std::uint8_t *bytes = mcp_select_version(&size);
  return detail::view(bytes, size);
}

// Whether the library that is loaded serves this header.
inline bool compatible() noexcept {
  return mcp_select_abi_min_compatible() <= MCP_SELECT_ABI_VERSION && MCP_SELECT_ABI_VERSION <= mcp_select_abi_version();
}

// ---- request ---------------------------------------------------------------------------------------------

// What is known before a result comes: server, tool, audience. Build it once, then share it.
class Request {
 public:
  explicit Request(mcp_select_request *request) noexcept : handle_(request) {}

  // `server` is the host's own connection id, never the name that a server gives itself.
  static Result<Request> try_make(std::string_view server, std::string_view tool, std::string_view audience) {
    return detail::make<Request, mcp_select_request>([&](auto out, auto err) {
      return mcp_select_request_new(detail::data(server), server.size(), detail::data(tool), tool.size(),
                                    detail::data(audience), audience.size(), out, err);
    });
  }

  // The same route for another audience; empty: for the same one, to be edited while the first stays in use.
  Result<Request> try_clone(std::string_view audience = {}) const {
    return detail::make<Request, mcp_select_request>([&](auto out, auto err) {
      return mcp_select_request_clone(get(), detail::data(audience), audience.size(), out, err);
    });
  }

  // The protocol revision that was agreed, YYYY-MM-DD.
  Status try_set_revision(std::string_view revision, Error *error = nullptr) {
    return detail::report(error, [&](auto err) {
      return mcp_select_request_set_revision(get(), detail::data(revision), revision.size(), err);
    });
  }

  // The tool's object out of tools/list as JSON; nothing takes it away.
  Status try_set_tool_definition(std::optional<std::string_view> tool, Error *error = nullptr) {
    // An empty text is no definition, but it is one that was given.
    const std::uint8_t *data = !tool ? nullptr : detail::data(tool->data() == nullptr ? std::string_view("") : *tool);
    return detail::report(error, [&](auto err) {
      return mcp_select_request_set_tool_definition(get(), data, tool ? tool->size() : 0, err);
    });
  }

  // An extension that was negotiated.
  Status try_add_extension(std::string_view extension, Error *error = nullptr) {
    return detail::report(error, [&](auto err) {
      return mcp_select_request_add_extension(get(), detail::data(extension), extension.size(), err);
    });
  }

  // A fact that only the host knows, for `when = { label.NAME = PATTERN }`.
  Status try_set_label(std::string_view name, std::string_view value, Error *error = nullptr) {
    return detail::report(error, [&](auto err) {
      return mcp_select_request_set_label(get(), detail::data(name), name.size(), detail::data(value), value.size(),
                                          err);
    });
  }

  // What the bytes will be.
  Status try_set_input(Input input, Error *error = nullptr) {
    return detail::report(error, [&](auto) {
      return mcp_select_request_set_input(get(), static_cast<std::int32_t>(input));
    });
  }

#if MCP_SELECT_THROWS
  Request(std::string_view server, std::string_view tool, std::string_view audience)
      : Request(try_make(server, tool, audience).value()) {}
  Request clone(std::string_view audience = {}) const { return try_clone(audience).value(); }
  Request &set_revision(std::string_view revision) {
    detail::or_throw([&](Error *error) { return try_set_revision(revision, error); });
    return *this;
  }
  Request &set_tool_definition(std::optional<std::string_view> tool) {
    detail::or_throw([&](Error *error) { return try_set_tool_definition(tool, error); });
    return *this;
  }
  Request &add_extension(std::string_view extension) {
    detail::or_throw([&](Error *error) { return try_add_extension(extension, error); });
    return *this;
  }
  Request &set_label(std::string_view name, std::string_view value) {
    detail::or_throw([&](Error *error) { return try_set_label(name, value, error); });
    return *this;
  }
  Request &set_input(Input input) {
    detail::or_throw([&](Error *error) { return try_set_input(input, error); });
    return *this;
  }
#endif

  const mcp_select_request *get() const noexcept { return handle_.get(); }
  mcp_select_request *get() noexcept { return handle_.get(); }

 private:
  detail::Handle<mcp_select_request> handle_;
};

// ---- selection -------------------------------------------------------------------------------------------

// A block of the output.
struct Block {
  std::int64_t source;  // its index in the input's content; -1: none
  BlockKind kind;
};

// A reusable buffer, and what the last call with it came to: nothing at first and after a call that failed.
class Selection {
 public:
  Selection() noexcept {
    mcp_select_selection *selection = nullptr;
    mcp_select_selection_new(&selection);
    handle_.reset(selection);
  }

  // The selected result; a view with no data unless the call said Status::changed.
  std::string_view json() const noexcept {
    std::size_t size = 0;
    const std::uint8_t *bytes = mcp_select_selection_json(get(), &size);
    return detail::view(bytes, size);
  }

  // Every text that the reader sees, joined. `result` must be the bytes of the call.
  Status try_text(std::string_view result, std::string_view separator, std::string_view &text, Error *error = nullptr) {
    const std::uint8_t *bytes = nullptr;
    std::size_t size = 0;
    const std::int32_t status = mcp_select_selection_text(get(), detail::data(result), result.size(),
                                                          detail::data(separator), separator.size(), &bytes, &size);
    if (status >= 0) text = detail::view(bytes, size);
    return detail::report(error, [&](auto) { return status; });
  }
#if MCP_SELECT_THROWS
  std::string_view text(std::string_view result, std::string_view separator = "\n") {
    std::string_view text;
    detail::or_throw([&](Error *error) { return try_text(result, separator, text, error); });
    return text;
  }
#endif

  Outcome outcome() const noexcept { return static_cast<Outcome>(mcp_select_selection_outcome(get())); }
  Lane lane() const noexcept { return static_cast<Lane>(mcp_select_selection_lane(get())); }
  bool is_error() const noexcept { return mcp_select_selection_is_error(get()) == 1; }
  std::uint64_t generation() const noexcept { return mcp_select_selection_generation(get()); }

  // The blocks of the output, for a host that holds parsed blocks and only wants to know which to keep.
  std::size_t block_count() const noexcept { return mcp_select_selection_block_count(get()); }
  Block block(std::size_t index) const noexcept {
    return {mcp_select_selection_block_source(get(), index),
            static_cast<BlockKind>(mcp_select_selection_block_kind(get(), index))};
  }

  // The decision record as JSON.
  std::string_view decision() noexcept {
    std::size_t size = 0;
    const std::uint8_t *bytes = mcp_select_selection_decision(get(), &size);
    return detail::view(bytes, size);
  }

  // Gives memory back when the buffers are larger than `keep` bytes. What was selected can be read as before, so the
  // output itself stays until the next call. Views that its accessors gave are no longer valid.
  void trim(std::size_t keep) noexcept { mcp_select_selection_trim(get(), keep); }

  const mcp_select_selection *get() const noexcept { return handle_.get(); }
  mcp_select_selection *get() noexcept { return handle_.get(); }

 private:
  detail::Handle<mcp_select_selection> handle_;
};

// ---- engine ----------------------------------------------------------------------------------------------

// A policy in force, swapped atomically. Share it between all threads.
class Engine {
 public:
  explicit Engine(mcp_select_engine *engine) noexcept : handle_(engine) {}

  // With the policy in these bytes (TOML).
  static Result<Engine> try_from_toml(std::string_view policy) { return made(policy, mcp_select_engine_new); }
  // With a built-in policy, such as "sep-2200".
  static Result<Engine> try_builtin(std::string_view name) { return made(name, mcp_select_engine_builtin); }
  // With the policy of a file, looked at again at most once a second. The path is UTF-8.
  static Result<Engine> try_open(std::string_view path) { return made(path, mcp_select_engine_open); }

  // Selects what the request's audience sees of a result.
  Status try_select(const Request &request, std::string_view result, Selection &selection,
                    Error *error = nullptr) const {
    return detail::report(error, [&](auto err) {
      return mcp_select_result(get(), request.get(), detail::data(result), result.size(), selection.get(), err);
    });
  }

  // Reads the files now: Status::changed or Status::unchanged; on an error the last good policy stays.
  Status try_reload(Error *error = nullptr) const {
    return detail::report(error, [&](auto err) {
      return mcp_select_engine_reload(get(), err);
    });
  }

  // Swaps in the policy in these bytes; the files are forgotten.
  Status try_replace(std::string_view policy, Error *error = nullptr) const {
    return detail::report(error, [&](auto err) {
      return mcp_select_engine_replace(get(), detail::data(policy), policy.size(), err);
    });
  }

  // How often a selection may look at the files, in milliseconds; 0: never.
  Status auto_reload(std::uint32_t interval_ms) const noexcept {
    return static_cast<Status>(mcp_select_engine_auto_reload(get(), interval_ms));
  }
  // 1 for the first policy, one more with each swap.
  std::uint64_t generation() const noexcept { return mcp_select_engine_generation(get()); }

  // Of the policy in force, as JSON.
  Result<Text> try_diagnostics() const {
    return detail::make<Text, mcp_select_text>([&](auto out, auto err) {
      return mcp_select_engine_diagnostics(get(), out, err);
    });
  }

  // The decision table of one route, as JSON.
  Result<Text> try_table(const Request &request) const {
    return detail::make<Text, mcp_select_text>([&](auto out, auto err) {
      return mcp_select_engine_table(get(), request.get(), out, err);
    });
  }

#if MCP_SELECT_THROWS
  static Engine from_toml(std::string_view policy) { return try_from_toml(policy).value(); }
  static Engine builtin(std::string_view name) { return try_builtin(name).value(); }
  static Engine open(std::string_view path) { return try_open(path).value(); }
  Status select(const Request &request, std::string_view result, Selection &selection) const {
    return detail::or_throw([&](Error *error) { return try_select(request, result, selection, error); });
  }
  Status reload() const {
    return detail::or_throw([&](Error *error) { return try_reload(error); });
  }
  void replace(std::string_view policy) const {
    detail::or_throw([&](Error *error) { return try_replace(policy, error); });
  }
  Text diagnostics() const { return try_diagnostics().value(); }
  Text table(const Request &request) const { return try_table(request).value(); }
#endif

  const mcp_select_engine *get() const noexcept { return handle_.get(); }

 private:
  template <class Maker>
  static Result<Engine> made(std::string_view text, Maker maker) {
    return detail::make<Engine, mcp_select_engine>([&](auto out, auto err) {
      return maker(detail::data(text), text.size(), out, err);
    });
  }

  detail::Handle<mcp_select_engine> handle_;
};

}  // namespace mcp_select

#endif  // MCP_SELECT_HPP
