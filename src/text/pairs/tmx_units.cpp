#include "text/pairs/tmx_units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "text/language_code.h"

namespace nmt {
namespace {

constexpr size_t kLanguagesNamed = 10;

bool is_code(std::string_view element) {
  constexpr std::array<std::string_view, 5> kCodes = {"bpt", "ept", "it", "ph", "ut"};
  return std::ranges::find(kCodes, element) != kCodes.end();
}

}  // namespace

void TmxUnits::start(std::string_view element, const XmlAttributes& attributes) {
  if (in_segment_) {
    if (code_depth_ > 0 || is_code(element)) ++code_depth_;
  } else if (element == "header") {
    if (const char* language = attributes.find("srclang"); language && std::string_view(language) != "*all*")
      source_language_ = language;
  } else if (element == "tu") {
    variants_.clear();
    begin_unit();
  } else if (element == "tuv") {
    const char* language = attributes.find("xml:lang");
    if (!language) language = attributes.find("lang");  // before TMX 1.4
    if (!language) throw Error("<tuv> has no xml:lang");
    add("", variants_.emplace_back(Variant{.language = language, .text = {}}).text);
    if (languages_.size() < kLanguagesNamed) languages_.insert(language);
  } else if (element == "seg") {
    if (variants_.empty()) throw Error("<seg> stands in no <tuv>");
    in_segment_ = true;
  }
}

void TmxUnits::text(std::string_view text) {
  if (in_segment_ && code_depth_ == 0) add(text, variants_.back().text);
}

void TmxUnits::end(std::string_view element) {
  if (code_depth_ > 0) {
    --code_depth_;
  } else if (element == "seg") {
    in_segment_ = false;
  } else if (element == "tu") {
    add_pair();
    variants_.clear();
  }
}

const TmxUnits::Variant* TmxUnits::best(const std::string& language) const {
  for (const auto least : {LanguageMatch::kSame, LanguageMatch::kOtherRegion})
    for (const auto& variant : variants_)
      if (match_languages(variant.language, language) >= least) return &variant;
  return nullptr;
}

void TmxUnits::add_pair() {
  const Variant *source = nullptr, *target = nullptr;
  if (!reading_.source_language.empty()) {
    source = best(reading_.source_language);
  } else if (!source_language_.empty()) {
    source = best(source_language_);
  } else if (!variants_.empty()) {
    source = &variants_.front();
  }
  if (!reading_.target_language.empty()) {
    target = best(reading_.target_language);
  } else if (source) {
    const auto other = std::ranges::find_if(variants_, [&](const Variant& variant) {
      return match_languages(variant.language, source->language) == LanguageMatch::kNone;
    });
    if (other != variants_.end()) target = &*other;
  }
  if (!source || !target || source == target) {
    ++left_out;
    return;
  }
  found.push_back({.source = on_one_line(source->text), .target = on_one_line(target->text)});
}

std::string TmxUnits::why_none() const {
  return fmt::format(
      "no unit has the languages {} and {}, its languages are {}; set data.source_language and "
      "data.target_language",
      reading_.source_language, reading_.target_language, fmt::join(languages_, ", "));
}

}  // namespace nmt
