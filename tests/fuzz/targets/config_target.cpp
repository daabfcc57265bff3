// Configurations: YAML. A base that is another file than base.yaml is not read: it could be any file of the machine.
#include <string>

#include "config/loading/schema.h"
#include "fuzz_target.h"

namespace {
using namespace nmt;
using fuzz::require;

bool names_a_base(std::string_view input) {
  constexpr std::string_view kOurs = "base: base.yaml\n";
  for (size_t at = input.find("base"); at != input.npos; at = input.find("base", at + 1))
    if (input.substr(at, kOurs.size()) != kOurs && input.substr(at, 9) != "base.yaml") return true;
  return input.find('\\') != input.npos;  // "\x62ase"
}

}  // namespace

NMT_FUZZ_TARGET(config, input) {
  static const fuzz::Folder folder;
  static const auto base = folder.put("base.yaml", "data:\n  dir: prepared\ntraining:\n  seed: 7\n");
  if (names_a_base(input)) return;
  LoadedConfig loaded;
  if (fuzz::takes([&] { loaded = load_config(folder.put("x.yaml", input)); })) {
    const auto yaml = to_yaml(loaded.config);
    require(to_yaml(parse_config(yaml, "again").config) == yaml, "what is written is read again");
  }
  const std::string setting(input.substr(0, input.find('\n')));
  fuzz::takes([&] { parse_config("{}", "x.yaml", {setting}); });
}
