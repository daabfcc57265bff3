#pragma once

#include <set>
#include <vector>

#include "text/pairs/corpus_files.h"
#include "text/pairs/xml_pair_form.h"

namespace nmt {

/// TMX 1.4 (and its forerunners): in each <tu> the <tuv> of the two languages, in any order. A language of another
/// region counts (de-AT for de) where the unit has none of the very code. What stands in <bpt>, <ept>, <it>, <ph> and
/// <ut> is the code of another format and no text.
class TmxUnits final : public XmlPairForm {
 public:
  /// A language that is not known: the header's srclang, or the unit's first; of the target the next other one.
  explicit TmxUnits(const ReadingOptions& reading) : reading_(reading) {}
  void start(std::string_view element, const XmlAttributes& attributes) override;
  void end(std::string_view element) override;
  void text(std::string_view text) override;
  std::string_view name() const override { return "TMX"; }
  std::string_view what_is_left_out() const override { return "units without one of the two languages"; }
  std::string why_none() const override;

 private:
  struct Variant {
    std::string language, text;
  };
  const Variant* best(const std::string& language) const;
  void add_pair();

  const ReadingOptions reading_;
  std::string source_language_;  // of the header
  std::vector<Variant> variants_;
  std::set<std::string> languages_;  // some of those that were seen
  bool in_segment_ = false;
  int64_t code_depth_ = 0;  // open elements within a code, itself counted
};

}  // namespace nmt
