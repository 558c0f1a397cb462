// runtime.cpp - a small agent runtime's loop: results of tools come in, what the model and the person see goes out.
//
//   runtime POLICY.toml < calls
//
// Each line of standard input is SERVER, TOOL and a result, separated by tabs. The policy file is followed while it runs.
#include <mcp_select.hpp>

#include <iostream>
#include <map>
#include <string>
#include <tuple>

namespace {

// What a runtime keeps: one engine, a request for each server, tool and audience, one selection for each thread.
class Router {
 public:
  explicit Router(const std::string &policy) : engine_(mcp_select::Engine::open(policy)) {}

  // The text for one audience; empty when the result is for the protocol driver.
  std::string text(const std::string &server, const std::string &tool, const std::string &audience,
                   const std::string &result) {
    const mcp_select::Status status = engine_.select(request(server, tool, audience), result, selection_);
    if (status == mcp_select::Status::not_for_readers) return {};
    return std::string(selection_.text(result, "\n"));
  }

 private:
  const mcp_select::Request &request(const std::string &server, const std::string &tool, const std::string &audience) {
    const auto key = std::make_tuple(server, tool, audience);
    const auto known = requests_.find(key);
    if (known != requests_.end()) return known->second;
    return requests_.emplace(key, mcp_select::Request(server, tool, audience)).first->second;
  }

  mcp_select::Engine engine_;
  mcp_select::Selection selection_;
  std::map<std::tuple<std::string, std::string, std::string>, mcp_select::Request> requests_;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  try {
    Router router(argv[1]);
    for (std::string line; std::getline(std::cin, line);) {
      const std::size_t first = line.find('\t');
      const std::size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
      if (second == std::string::npos) {
        std::cerr << "a line is SERVER, TOOL and a result, separated by tabs\n";
        return 2;
      }
      const std::string server = line.substr(0, first), tool = line.substr(first + 1, second - first - 1);
      const std::string result = line.substr(second + 1);
      try {
        for (const char *audience : {"model", "user"}) {
          const std::string text = router.text(server, tool, audience, result);
          std::cout << audience << ": " << text << '\n';
        }
      } catch (const mcp_select::Error &refused) {
        // One bad result is an answer for the model, not the end of the loop.
        std::cout << "refused: " << refused.message() << '\n';
      }
    }
  } catch (const mcp_select::Error &error) {
    std::cerr << error.message() << '\n';
    return 1;
  }
  return 0;
}
