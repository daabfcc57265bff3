// XML that holds both sides: TMX and test sets of WMT.
#include "base/unicode.h"
#include "fuzz_target.h"
#include "text/pairs/corpus_reader.h"

NMT_FUZZ_TARGET(xml_pairs, input) {
  static const nmt::fuzz::Folder folder;
  const auto file = folder.put("x.tmx", input);
  nmt::ReadingOptions reading;
  if (input.size() % 2 == 0) reading = {.source_language = "de", .target_language = "en-GB"};
  if (input.size() % 3 == 0) reading.utf8 = nmt::Utf8Policy::kRepair;
  nmt::fuzz::takes([&] {
    nmt::CorpusReader reader({file, file, "data.train1", "data.train2"}, reading);
    nmt::TextPair pair;
    while (reader.next(pair))
      for (const auto& text : {pair.source, pair.target}) {
        nmt::fuzz::require(!nmt::find_invalid_utf8(text), "pairs are UTF-8");
        nmt::fuzz::require(text.find_first_of(std::string_view("\n\0", 2)) == text.npos,
                           "a text is one line without NUL");
        nmt::fuzz::require(nmt::strip(text) == text, "no white space stands at its ends");
      }
    nmt::fuzz::require(!reader.description().empty(), "a form has a name");
    reader.notes();
  });
}
