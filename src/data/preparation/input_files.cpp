#include "data/preparation/input_files.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "config/text_sets.h"
#include "text/language_code.h"

namespace nmt {

std::vector<InputFile> list_input_files(const Config& config) {
  const DataConfig& data = config.data;
  std::vector<InputFile> inputs;
  const auto add = [&](const char* option, const std::string& path) {
    if (path.empty()) return;
    try {
      open_for_reading(path, UnwrittenPipe::kReturn);
    } catch (const Error& error) {
      throw Error(fmt::format("{} {}", option, error.what()));
    }
    if (!std::filesystem::is_regular_file(path)) {
      throw Error(fmt::format("{} {}: a pipe or device; name a file, it is read more than once", option, path));
    }
    const auto time = std::chrono::file_clock::to_sys(std::filesystem::last_write_time(path)).time_since_epoch();
    inputs.push_back({.option = option,
                      .path = path,
                      .size = static_cast<int64_t>(std::filesystem::file_size(path)),
                      .modified = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count(),
                      .sha256 = ""});
  };
  for (const auto& path : data.train1) add("data.train1", path);
  for (const auto& path : data.train2) add("data.train2", path);
  for (const auto& path : data.train_tsv) add("data.train_tsv", path);
  for (const auto& sets : {validation_sets(data), test_sets(data)})
    for (const auto& set : sets) {
      add(set.source_option.c_str(), set.text.source);
      add(set.target_option.c_str(), set.text.target);
    }
  add("data.spm_model1", data.spm_model1);
  add("data.spm_model2", data.spm_model2);
  add("data.vocabulary1", data.vocabulary1);
  add("data.vocabulary2", data.vocabulary2);
  return inputs;
}

std::vector<std::string> input_warnings(const DataConfig& data) {
  std::vector<std::string> warnings;
  for (const auto& [option, code] : {std::pair("data.source_language", data.source_language),
                                     std::pair("data.target_language", data.target_language)})
    if (!may_be_iso_639(code))
      warnings.push_back(fmt::format(
          "{}: '{}' is no code of ISO 639, such as de; it is taken as a name that means no language", option, code));
  return warnings;
}

}  // namespace nmt
