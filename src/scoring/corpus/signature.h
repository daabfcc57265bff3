#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nmt::scoring {

/// The version of sacreBLEU whose figures, text and signatures this library reproduces.
inline constexpr std::string_view kSacrebleuVersion = "2.6.0";

/// What every signature says besides the options of its metric (Post 2018, "A Call for Clarity in Reporting BLEU
/// Scores").
struct SignatureFacts {
  int64_t references = 1;                 ///< per segment; kVariableReferences if segments differ
  std::optional<int64_t> bootstrap = {};  ///< number of bootstrap resamples, if any were drawn
  std::optional<int64_t> trials = {};     ///< number of approximate-randomisation trials, if any
  std::optional<std::string> seed = {};   ///< as sacreBLEU writes it: "12345", "none"
};
inline constexpr int64_t kVariableReferences = -1;

/// An ordered list of key:value pairs, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0".
class Signature {
 public:
  struct Field {
    std::string key, short_key, value;
  };
  Signature(const SignatureFacts& facts, std::vector<Field> metric_fields);
  const std::vector<Field>& fields() const { return fields_; }
  std::string text() const;        ///< long names
  std::string short_text() const;  ///< "#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0"

 private:
  std::vector<Field> fields_;
};

}  // namespace nmt::scoring
