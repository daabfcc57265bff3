#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convert/marian/marian_folder.h"

namespace nmt::convert {

/// Marian's options as it keeps them in YAML: the special:model.yml of a model, a decoder.yml.
class MarianOptions {
 public:
  /// Throws Error ("NAME: ...") for what is no map.
  MarianOptions(const std::string& yaml, std::string name);

  bool has(const char* key) const;
  std::string text(const char* key, const std::string& absent) const;
  bool flag(const char* key, bool absent) const;
  double real(const char* key, double absent) const;
  /// Throws Error where it is missing or no whole number in this range.
  int64_t number(const char* key, int64_t min = 1, int64_t max = 1 << 24) const;
  /// Empty where it is missing; throws Error for what is no list of texts.
  std::vector<std::string> list(const char* key) const;
  /// Throws Error: the option has a value that no model of this toolkit has.
  [[noreturn]] void refuse(const std::string& key, const std::string& value) const;
  const std::string& name() const { return name_; }

 private:
  template <typename T>
  T value(const char* key, const T& absent) const;

  std::string name_;
  YAML::Node options_;
};

/// Marian's own form as OPUS-MT publishes it: decoder.yml, the .npz and vocabularies that it names, source.spm,
/// target.spm. Throws Error naming what cannot be represented, or is missing or damaged.
MarianFolder open_marian_npz(const std::filesystem::path& directory);

}  // namespace nmt::convert
