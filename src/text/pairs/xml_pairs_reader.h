#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/language_code.h"
#include "text/pairs/pair_reader.h"
#include "text/pairs/xml_parser.h"

namespace nmt {

/// The pairs of an XML file, gathered while it is parsed.
class XmlPairForm : public XmlHandler {
 public:
  virtual std::string_view name() const = 0;              ///< "TMX"
  virtual std::string_view what_is_left_out() const = 0;  ///< "units without de or en"
  virtual std::string why_none() const = 0;               ///< where all was left out: what the file has instead

  std::deque<TextPair> found;  ///< and not handed out yet
  int64_t left_out = 0;

 protected:
  /// Appends text of a unit or document to `to`. Throws Error beyond 16 MiB of them.
  void add(std::string_view text, std::string& to) {
    bytes_ += text.size() + 16;  // many empty ones take memory, too
    if (bytes_ > kBytes) throw Error("more than 16 MiB of text in a <tu> or <doc>");
    to += text;
  }
  void begin_unit() { bytes_ = 0; }

 private:
  static constexpr size_t kBytes = 16 << 20;
  size_t bytes_ = 0;
};

/// A text of XML as one line: each run of white space is a space, none at the ends.
std::string on_one_line(std::string_view text);

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
    LanguageCode language;
    std::string text;
  };
  const Variant* best(const std::string& code) const;
  void add_pair();

  const ReadingOptions reading_;
  std::string source_language_;  // of the header
  std::vector<Variant> variants_;
  std::set<std::string> languages_;  // some of those that were seen
  bool in_segment_ = false;
  int64_t code_depth_ = 0;  // open elements within a code, itself counted
};

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

/// One XML file that holds both sides: TMX, or a test set of WMT since 2021, told by its outermost element.
class XmlPairsReader final : public PairReader, XmlHandler {
 public:
  XmlPairsReader(CorpusFile file, TextReader lines) : PairReader(std::move(file), std::move(lines)), parser_(*this) {}
  /// A file whose outermost element is <tmx> or <dataset>, or that is named *.tmx.
  static bool fits(const FileBeginning& file);
  /// Also throws Error for what is no such XML, and at the end of a file without any pair of the two languages.
  bool next(TextPair& pair) override;
  std::string description() const override;
  bool reads_line_by_line() const override { return false; }
  std::vector<ReaderNote> notes() const override;

 private:
  void start(std::string_view element, const XmlAttributes& attributes) override;
  void end(std::string_view element) override;
  void text(std::string_view text) override;
  void read_block();

  XmlParser parser_;
  std::unique_ptr<XmlPairForm> form_;  // none before the outermost element
  bool ended_ = false;
  int64_t count_ = 0;
};

}  // namespace nmt
