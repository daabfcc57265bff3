#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files/strict_json.h"

namespace nmt {

/// Which side of a pair a model wrote.
enum class SyntheticSide {
  kSource,  ///< back-translation (Sennrich et al. 2016)
  kTarget   ///< forward translation, distillation (Kim and Rush 2016)
};

/// What is known of pairs of which a model wrote one side: FILE.json beside FILE. nmt-translate --synthesize writes it,
/// nmt-prepro reads it and carries it on in its own manifest.
struct SyntheticText {
  SyntheticSide side = SyntheticSide::kSource;
  std::vector<std::string> symbols = {};  ///< that stand in the source beside words: a tag, the blank of noise
  std::string sha256 = {};                ///< of FILE
  nlohmann::json made = {};               ///< models, options, seed, input: for a reader

  nlohmann::json to_json() const;
  void write(const std::filesystem::path& file) const;  ///< throws as write_file_atomically()
  /// nullopt where there is no FILE.json, or one of something else. Throws Error where it is damaged.
  static std::optional<SyntheticText> read(const std::filesystem::path& file);
};

/// FILE.json
std::filesystem::path synthetic_text_file(const std::filesystem::path& file);

}  // namespace nmt
