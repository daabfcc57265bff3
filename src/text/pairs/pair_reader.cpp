#include "text/pairs/pair_reader.h"

#include <fmt/format.h>

#include "base/unicode.h"

namespace nmt {

std::string PairReader::checked(std::string_view text, const TextReader& reader, const std::string& option) {
  const auto offset = find_invalid_utf8(text);
  if (!offset) return std::string(text);
  if (policy_ == Utf8Policy::kStop) {
    throw Error(fmt::format(
        "{} {}:{}: byte {} (0x{:02X}) is not UTF-8; mend or convert the file (iconv), or set "
        "data.repair_utf8: true",
        option, reader.path().string(), reader.line_number(), *offset + 1, static_cast<unsigned char>(text[*offset])));
  }
  ++repaired_;
  return repair_utf8(text);
}

TextReader open_lines(const CorpusFiles& files) {
  return with_option_named(files.source_option, [&] {
    detect_format(files.source);  // refuses what is no text
    return TextReader(files.source, TextFormat::kPlain);
  });
}

}  // namespace nmt
