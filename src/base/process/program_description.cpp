#include "base/process/program_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <istream>

#include "base/files/strict_json.h"
#include "base/process/programs.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace nmt {
namespace {

#if defined(__x86_64__)
/// True if the processor has the tile registers with bf16 and the system saves them at a task switch.
/// (Intel SDM volume 2, CPUID leaf 7: EDX bits 22 and 24; XCR0 bits 17 and 18.)
bool has_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return false;
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned kTileState = 3u << 17;
  if ((low & kTileState) != kTileState) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  return (d & (1u << 22)) && (d & (1u << 24));
}
#endif

}  // namespace

std::string version() { return NMT_VERSION; }

std::string cpu_features() {
  std::string features;
  [[maybe_unused]] const auto add = [&](bool present, const char* name) {
    if (!present) return;
    if (!features.empty()) features += ' ';
    features += name;
  };
#if defined(__x86_64__)
  add(__builtin_cpu_supports("avx2"), "AVX2");
  add(__builtin_cpu_supports("avx512f"), "AVX512");
  add(__builtin_cpu_supports("avx512bf16"), "AVX512-BF16");
  add(has_amx(), "AMX");
#elif defined(__aarch64__)
  add(true, "NEON");
#if defined(__linux__)
  const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  add(first & HWCAP_ASIMDDP, "DotProd");
  add(second & HWCAP2_I8MM, "I8MM");
  add(second & HWCAP2_BF16, "BF16");
#endif
#endif
  return features;
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  return cpu_name_in(info);
}

std::string cpu_name_in(std::istream& info) {
  std::string maker, kind;
  for (std::string line; std::getline(info, line);) {
    const auto value = line.find_first_not_of(" \t", line.find(':') + 1);
    if (value == std::string::npos) continue;
    if (line.starts_with("model name")) return line.substr(value);
    if (line.starts_with("CPU implementer")) maker = line.substr(value);
    if (line.starts_with("CPU part")) kind = line.substr(value);
  }
  return maker.empty() || kind.empty() ? "unknown processor" : "ARM64 processor " + maker + " " + kind;
}

std::vector<std::string> card_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code none;  // no such folder: the usual case
  for (const auto& card : std::filesystem::directory_iterator(folder, none)) {
    std::ifstream info(card.path() / "information");
    for (std::string line; std::getline(info, line);)
      if (line.starts_with("Model:")) names.push_back(line.substr(line.find_first_not_of(" \t", 6)));
  }
  return names;
}

namespace {

using nlohmann::json;

json named(const std::vector<NamedHelp>& entries) {
  json result = json::array();
  for (const auto& [name, help] : entries) result.push_back({{"name", name}, {"help", help}});
  return result;
}

}  // namespace

json to_json(const ProgramDescription& program) {
  const auto known = std::ranges::find_if(
      kPrograms, [&](const ProgramSummary& summary) { return program.name == fmt::format("nmt-{}", summary.name); });
  json options = json::array();
  for (const auto& option : program.options) {
    options.push_back({{"names", option.names},
                       {"value", option.value},
                       {"choices", option.choices},
                       {"help", option.help},
                       {"group", option.group},
                       {"default", option.default_value},
                       {"environment", option.environment},
                       {"several_times", option.several_times},
                       {"several_values", option.several_values}});
  }
  return {{"name", program.name},
          {"summary", known == kPrograms.end() ? "" : known->summary},
          {"position", known - kPrograms.begin()},
          {"description", program.description},
          {"usage", program.usage},
          {"examples", program.examples},
          {"exit_status", program.exit_status},
          {"arguments", named(program.arguments)},
          {"options", std::move(options)},
          {"environment", named(program.environment)}};
}

}  // namespace nmt
