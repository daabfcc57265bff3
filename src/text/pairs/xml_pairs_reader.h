#pragma once

#include <memory>

#include "text/pairs/pair_reader.h"
#include "text/pairs/xml_pair_form.h"

namespace nmt {

/// One XML file that holds both sides: TMX, or a test set of WMT since 2021, told by its outermost element.
class XmlPairsReader final : public PairReader, XmlHandler {
 public:
  XmlPairsReader(CorpusFile file, TextReader lines) : PairReader(std::move(file), std::move(lines)), parser_(*this) {}
  /// A file whose outermost element is <tmx> or <dataset>, or that is named *.tmx.
  static bool fits(const FileBeginning& file);
  /// Also throws Error for what is no such XML, and at the end of a file without any pair of the two languages.
  bool next(TextPair& pair) override;
  std::string description() const override;
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
