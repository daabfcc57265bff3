#include "text/pairs/xml_pairs_reader.h"

#include <fmt/format.h>

#include "base/process/log.h"
#include "base/unicode.h"
#include "text/pairs/tmx_units.h"
#include "text/pairs/wmt_documents.h"

namespace nmt {
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
