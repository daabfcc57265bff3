#include "config/loading/old_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace nmt {
namespace {

// The user's own: the preset has those of IWSLT 2016.
constexpr std::array<std::string_view, 7> kPathsOfText{"dir", "train1", "train2", "eval1", "eval2", "test1", "test2"};

bool is_path_of_text(std::string_view section, std::string_view name) {
  return section == "data" && std::find(kPathsOfText.begin(), kPathsOfText.end(), name) != kPathsOfText.end();
}

// Names that only one of the programs has. No option stands at the top level, so one of them is enough.
constexpr std::array<std::string_view, 20> kNamesOf2019{
    "vocab_size", "train1",       "train2",  "eval1",   "eval2",   "eval3", "vocab", "eval_batch_size",
    "evaldir",    "warmup_steps", "maxlen1", "maxlen2", "d_model", "d_ff",  "ckpt",  "test_batch_size",
    "testdir",    "smoothing",    "test1",   "test2"};
constexpr std::array<std::string_view, 8> kNamesOf2017{"source_train", "target_train", "source_test",  "target_test",
                                                       "maxlen",       "min_cnt",      "hidden_units", "sinusoid"};

const Setting* first_of(const std::vector<Setting>& settings, std::span<const std::string_view> names) {
  const auto found = std::find_if(settings.begin(), settings.end(), [&](const Setting& setting) {
    return setting.line > 0 && setting.section.empty() &&
           std::find(names.begin(), names.end(), setting.name) != names.end();
  });
  return found == settings.end() ? nullptr : &*found;
}

}  // namespace

OldProgramSettings settings_of_old_program(const std::vector<Setting>& settings) {
  const Setting* of_2019 = first_of(settings, kNamesOf2019);
  const Setting* of_2017 = first_of(settings, kNamesOf2017);
  OldProgramSettings result;
  if (!of_2019 && !of_2017) return result;
  if (of_2019 && of_2017) {
    result.notice =
        fmt::format("{}: {} is a name of Kyubyong's program of 2017 and {} of that of 2019: neither's model is implied",
                    of_2017->where(), of_2017->name, of_2019->name);
    return result;
  }
  const Setting& sign = of_2019 ? *of_2019 : *of_2017;
  const int year = of_2019 ? 2019 : 2017;
  result.program = of_2019 ? OldProgram::k2019 : OldProgram::k2017;
  const auto preset = read_settings(of_2019 ? kyubyong2019_preset() : kyubyong2017_preset(),
                                    fmt::format("configs/kyubyong{}_iwslt16.yaml", year));
  // Built one by one: assigning to a YAML::Node, as erasing does, changes all its copies.
  for (const auto& [section, name, value, source, line] : preset)
    if (!is_path_of_text(section, name)) result.settings.push_back({section, name, value, sign.source, sign.line});
  result.notice = fmt::format(
      "{}: {} is a name of Kyubyong's program of {}: what is not set is as in configs/kyubyong{}_iwslt16.yaml",
      sign.where(), sign.name, year, year);
  return result;
}

}  // namespace nmt
