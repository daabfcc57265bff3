#pragma once

#include <map>
#include <optional>

#include "text/pairs/corpus_files.h"
#include "text/pairs/xml_pair_form.h"

namespace nmt {

/// A test set of WMT since 2021: in each <doc> segments of <src> and of one or several <ref>, joined by their ids, in
/// the order of these. The references are those of the file's first <ref> in the target language, told by its
/// translator; <hyp> are outputs of systems and not read, nor is a <doc testsuite=...>. As sacreBLEU 2.6.0 reads them
/// (sacrebleu/dataset/wmt_xml.py), but that a segment without this reference is left out where another one has it.
class WmtDocuments final : public XmlPairForm {
 public:
  explicit WmtDocuments(const ReadingOptions& reading) : reading_(reading) {}
  void start(std::string_view element, const XmlAttributes& attributes) override;
  void end(std::string_view element) override;
  void text(std::string_view text) override;
  std::string_view name() const override { return "WMT XML"; }
  std::string_view what_is_left_out() const override { return "segments of test suites, or without the reference"; }
  std::string why_none() const override { return "no <src> segment has a <ref> in the target language"; }

 private:
  using Segments = std::map<int64_t, std::string>;  // by id

  void start_segment(const XmlAttributes& attributes);
  Segments* side_of(std::string_view element, const XmlAttributes& attributes);
  void add_pairs();

  const ReadingOptions reading_;
  std::optional<std::string> translator_;  // of the references; none: no <ref> was seen
  bool in_document_ = false, in_test_suite_ = false;
  Segments source_, reference_;
  Segments* side_ = nullptr;     // of the open <src> or <ref>; null in others
  std::string side_element_;     // the open one of src, ref and hyp
  std::string* open_ = nullptr;  // the text of the open segment
};

}  // namespace nmt
