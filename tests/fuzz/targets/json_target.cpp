#include "base/files/strict_json.h"
#include "fuzz_target.h"

namespace {
using namespace nmt;
using fuzz::require;
}  // namespace

NMT_FUZZ_TARGET(json, input) {
  const JsonLimits limits{.bytes = 4096, .depth = 8, .values = 256};
  const auto problem = problem_of_json(input, limits);
  nlohmann::json tree;
  const bool taken = fuzz::takes([&] { tree = parse_json(input, "x.json", limits); });
  require(taken == !problem, "what has no problem is read");
  require(parse_json_or_null<nlohmann::json>(input, limits) == tree, "both readers read the same");
  if (taken) {
    const auto ordered = parse_json<nlohmann::ordered_json>(input, "x.json", limits);
    require(parse_json(ordered.dump(), "x.json") == tree, "what is written is read again");
  }
  static const fuzz::Folder folder;
  const auto path = folder.put("x.json", input);
  nlohmann::json read;
  require(fuzz::takes([&] { read = read_json_file(path, limits); }) == taken, "a file is as its text");
  require(read == tree, "a file is as its text");
}
