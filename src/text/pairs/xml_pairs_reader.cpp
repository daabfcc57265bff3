#include "text/pairs/xml_pairs_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/process/log.h"
#include "base/unicode.h"

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
    add("", variants_.emplace_back(Variant{.language = LanguageCode(language), .text = {}}).text);
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

const TmxUnits::Variant* TmxUnits::best(const std::string& code) const {
  const LanguageCode language(code);
  using enum LanguageMatch;
  for (const auto least : {kSame, kOtherRegion, kOtherScript})
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

void WmtDocuments::start(std::string_view element, const XmlAttributes& attributes) {
  if (element == "doc") {
    if (in_document_) throw Error("<doc> within a <doc>");
    in_document_ = true;
    in_test_suite_ = attributes.find("testsuite") != nullptr;
    source_.clear();
    reference_.clear();
    begin_unit();
  } else if (element == "src" || element == "ref" || element == "hyp") {
    if (!in_document_ || !side_element_.empty())
      throw Error(fmt::format("<{}> has to stand in a <doc> itself", element));
    side_element_ = element;
    side_ = side_of(element, attributes);
  } else if (element == "seg" && side_) {
    start_segment(attributes);
  }
}

WmtDocuments::Segments* WmtDocuments::side_of(std::string_view element, const XmlAttributes& attributes) {
  if (element == "hyp") return nullptr;
  const bool is_source = element == "src";
  const auto& wanted = reading_.language(is_source ? TextSide::kSource : TextSide::kTarget);
  const char* language = attributes.find("lang");
  const bool fits = !language || wanted.empty() ||
                    match_languages(LanguageCode(language), LanguageCode(wanted)) != LanguageMatch::kNone;
  if (is_source) {
    if (!fits && !in_test_suite_)
      throw Error(fmt::format("<src> is {}, the source language is {}; set data.source_language", language, wanted));
    return &source_;
  }
  const char* translator = attributes.find("translator");
  const std::string name = translator ? translator : "";
  if (fits && !translator_ && !in_test_suite_) translator_ = name;
  return fits && translator_ == name ? &reference_ : nullptr;
}

void WmtDocuments::start_segment(const XmlAttributes& attributes) {
  if (open_) throw Error("<seg> within a <seg>");
  const char* id = attributes.find("id");
  const std::string_view text = id ? id : "";
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(fmt::format("<seg id=\"{}\">: the id is no whole number", text));
  const auto [segment, is_new] = side_->try_emplace(number);
  if (!is_new) throw Error(fmt::format("<seg id=\"{}\"> stands twice in a <{}>", number, side_element_));
  add("", segment->second);
  open_ = &segment->second;
}

void WmtDocuments::text(std::string_view text) {
  if (open_) add(text, *open_);
}

void WmtDocuments::end(std::string_view element) {
  if (element == "seg") {
    open_ = nullptr;
  } else if (element == side_element_) {
    side_element_.clear();
    side_ = nullptr;
  } else if (element == "doc") {
    add_pairs();
    in_document_ = false;
  }
}

void WmtDocuments::add_pairs() {
  for (const auto& [id, text] : source_) {
    const auto reference = reference_.find(id);
    TextPair pair{.source = on_one_line(text),
                  .target = reference == reference_.end() ? "" : on_one_line(reference->second)};
    if (in_test_suite_ || pair.target.empty()) {
      ++left_out;
    } else {
      found.push_back(std::move(pair));
    }
  }
}

namespace {

constexpr size_t kBlockBytes = 64 << 10;  // a tag that is not complete is scanned once more with each block

/// The name of the outermost element of an XML text, or "".
std::string_view root_element(std::string_view text) {
  for (text = strip(text); text.starts_with("<?") || text.starts_with("<!"); text = strip(text)) {
    const size_t end = text.starts_with("<!--") ? text.find("-->") : text.find('>');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(text.find('>', end) + 1);
  }
  if (!text.starts_with('<')) return {};
  return text.substr(1, text.find_first_of(" \t\r\n/>") - 1);
}

}  // namespace

std::string on_one_line(std::string_view text) {
  std::string line;
  bool space = false;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    if (is_python_space(next_code_point(text, i))) {
      space = true;
      continue;
    }
    if (space && !line.empty()) line += ' ';
    space = false;
    line += text.substr(begin, i - begin);
  }
  return line;
}

bool XmlPairsReader::fits(const FileBeginning& file) {
  const auto root = root_element(file.text);
  return file.is_named(".tmx") || root == "tmx" || root == "dataset";
}

void XmlPairsReader::start(std::string_view element, const XmlAttributes& attributes) {
  if (!form_ && element == "tmx") form_ = std::make_unique<TmxUnits>(file_.reading);
  if (!form_ && element == "dataset") form_ = std::make_unique<WmtDocuments>(file_.reading);
  if (!form_) throw Error(fmt::format("the outermost element is <{}>, not <tmx>", element));
  form_->start(element, attributes);
}

void XmlPairsReader::end(std::string_view element) { form_->end(element); }

void XmlPairsReader::text(std::string_view text) { form_->text(text); }

bool XmlPairsReader::next(TextPair& pair) {
  while (!form_ || form_->found.empty()) {
    if (ended_) {
      if (count_ == 0 && form_->left_out > 0)
        throw Error(fmt::format("{} {}: {}", file_.option, file_.path.string(), form_->why_none()));
      return false;
    }
    read_block();
  }
  pair = std::move(form_->found.front());
  form_->found.pop_front();
  ++count_;
  return true;
}

void XmlPairsReader::read_block() {
  std::string block;
  while (!ended_ && block.size() < kBlockBytes) {
    const auto line = next_text();
    ended_ = !line;
    if (line) block += *line + '\n';
  }
  try {
    parser_.read(block);
    if (ended_) parser_.finish();
  } catch (const Error& error) {
    throw Error(fmt::format("{} {}:{}", file_.option, file_.path.string(), error.what()));
  }
}

std::string XmlPairsReader::description() const {
  return fmt::format("{} ({})", file_.path.string(), form_ ? form_->name() : "XML");
}

std::vector<ReaderNote> XmlPairsReader::notes() const {
  if (!form_ || form_->left_out == 0) return {};
  return {{.text = fmt::format("{}: left out are {} {}", file_.path.string(), with_commas(form_->left_out),
                               form_->what_is_left_out()),
           .is_warning = true}};
}

}  // namespace nmt
