#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/error.h"
#include "text/pairs/text_pair.h"
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

}  // namespace nmt
