#include "text/pairs/wmt_documents.h"

#include <fmt/format.h>

#include <charconv>

#include "text/language_code.h"

namespace nmt {

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
  const bool fits = !language || wanted.empty() || match_languages(language, wanted) != LanguageMatch::kNone;
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

}  // namespace nmt
