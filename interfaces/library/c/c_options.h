#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "library/c/c_objects.h"

namespace nmt::api {

/// Hands the options of a call to the fields that they are of, and knows at its end which ones nobody wanted.
class OptionReader {
 public:
  /// Borrows the options; NULL: there are none.
  explicit OptionReader(const nmt_options* options) : options_(options) {}

  /// Each puts the value into its place where there is one. Throws UserError ("beam_size: 'x' is no whole number").
  void read(const char* name, std::string& place);
  void read(const char* name, bool& place);
  void read(const char* name, int& place);
  void read(const char* name, int64_t& place);
  void read(const char* name, uint64_t& place);
  void read(const char* name, double& place);
  void read(const char* name, std::vector<std::string>& place);  ///< a list: all values
  void read(const char* name, std::vector<double>& place);       ///< "1,2"
  template <typename Value>
  void read(const char* name, std::optional<Value>& place) {
    if (!has(name)) return known_.emplace_back(name), void();
    Value value{};
    read(name, value);
    place = value;
  }
  bool has(const char* name) const;
  /// Throws UserError for an option that was not read.
  void finish() const;

 private:
  const std::vector<std::string>* values(const char* name);

  const nmt_options* options_;
  std::vector<std::string> known_;
};

/// The options of nmt_translator_new(). The models of "model" come after the first one.
void read_translator(OptionReader& reader, TranslatorOptions& options);
/// The options of nmt_translator_translate() and its like.
TranslateOptions translate_options(OptionReader& reader, const nmt_stop* stop);

}  // namespace nmt::api
