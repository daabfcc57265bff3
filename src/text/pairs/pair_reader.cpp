#include "text/pairs/pair_reader.h"

#include <fmt/format.h>

#include "base/unicode.h"

namespace nmt {

std::string CorpusFiles::name() const {
  const std::string name = source.filename().string();
  return target.empty() || target == source ? name : name + " + " + target.filename().string();
}

std::string_view FileBeginning::first_line() const {
  const std::string_view begun = strip(text);
  return strip(begun.substr(0, begun.find('\n')));
}

std::optional<std::string> PairReader::next_text() {
  const auto text = with_option_named(file_.option, [&] { return lines_.next(); });
  if (!text) return std::nullopt;
  return checked(*text);
}

std::string PairReader::checked(std::string_view text) {
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw Error(bad_line(fmt::format("byte {} is NUL: this is no text; convert it (iconv, from UTF-16, say) or unpack "
                                     "it (tar)",
                                     nul + 1))
                    .what());
  const auto offset = find_invalid_utf8(text);
  if (!offset) return std::string(text);
  if (file_.reading.utf8 == Utf8Policy::kStop) {
    refuse(fmt::format("byte {} (0x{:02X}) is not UTF-8; correct or convert the file (iconv){}", *offset + 1,
                       static_cast<unsigned char>(text[*offset]),
                       file_.option.starts_with("data.") ? ", or set data.repair_utf8: true" : ""));
  }
  ++repaired_;
  return repair_utf8(text);
}

void PairReader::refuse(const std::string& why) const {
  if (reads_line_by_line()) throw bad_line(why);
  throw Error(bad_line(why).what());
}

BadLine PairReader::bad_line(const std::string& why) const {
  return {file_.option, fmt::format("{}:{}", file_.path.string(), lines_.line_number()), why};
}

ReadingOptions reading_options(const DataConfig& data) {
  return {.source_language = data.source_language,
          .target_language = data.target_language,
          .utf8 = data.repair_utf8 ? Utf8Policy::kRepair : Utf8Policy::kStop,
          .tsv_columns = data.tsv_columns};
}

}  // namespace nmt
