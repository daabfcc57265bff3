#include "text/pairs/pair_formats.h"

#include <array>
#include <filesystem>

#include "base/unicode.h"
#include "text/pairs/line_pairs_readers.h"
#include "text/pairs/xml_pairs_reader.h"

namespace nmt {
namespace {

constexpr size_t kBytesAhead = 64 << 10;

/// A form whose files hold both sides.
struct PairFormat {
  bool (*fits)(const FileBeginning& file);
  std::unique_ptr<PairReader> (*make)(CorpusFile file, TextReader lines);
};

template <typename Reader>
constexpr PairFormat format_of() {
  return {Reader::fits, [](CorpusFile file, TextReader lines) -> std::unique_ptr<PairReader> {
            return std::make_unique<Reader>(std::move(file), std::move(lines));
          }};
}

/// A new format is a file and a row here; the first that fits is taken.
constexpr std::array kFormats = {format_of<JsonLinesReader>(), format_of<XmlPairsReader>(), format_of<TsvReader>()};

}  // namespace

std::unique_ptr<PairReader> open_corpus_file(const CorpusFile& file) {
  return with_option_named(file.option, [&]() -> std::unique_ptr<PairReader> {
    LineReader lines(file.path);
    FileBeginning beginning{.name = file.path.filename(),
                            .has_name = std::filesystem::is_regular_file(file.path),
                            .text = without_byte_order_mark(lines.look_ahead(kBytesAhead)),
                            .reading = file.reading,
                            .is_alone = file.is_alone};
    if (beginning.is_named(".gz") || beginning.is_named(".zst")) beginning.name.replace_extension();
    for (const auto& [fits, make] : kFormats)
      if (fits(beginning)) return make(file, TextReader(std::move(lines), TextFormat::kPlain));
    const auto format = text_format(file.path, beginning.text);
    return std::make_unique<SentenceReader>(file, TextReader(std::move(lines), format));
  });
}

}  // namespace nmt
