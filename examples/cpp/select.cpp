// select.cpp - prints what a model sees of a tool result: select POLICY [RESULT], RESULT being a file or standard input.
// POLICY is the name of a built-in policy or the path of a file that ends with .toml.
#include <mcp_select.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const std::string policy = argv[1];
  std::ifstream file;
  if (argc > 2) file.open(argv[2], std::ios::binary);
  std::istream &in = argc > 2 ? static_cast<std::istream &>(file) : std::cin;
  const std::string result{std::istreambuf_iterator<char>(in), {}};

  try {
    const bool is_file = policy.size() > 5 && policy.substr(policy.size() - 5) == ".toml";
    const auto engine = is_file ? mcp_select::Engine::open(policy) : mcp_select::Engine::builtin(policy);
    const mcp_select::Request request("demo", "tool", "model");
    mcp_select::Selection selection;
    const bool changed = engine.select(request, result, selection) == mcp_select::Status::changed;
    std::cout << (changed ? selection.json() : std::string_view(result));
  } catch (const mcp_select::Error &error) {
    std::cerr << error.message();
    return 1;
  }
  return 0;
}
