// Corpora of sentence pairs: two files, TSV, JSON lines, zip archives.
#include "base/unicode.h"
#include "fuzz_target.h"
#include "text/pairs/corpus_reader.h"

namespace {

using namespace nmt;

void read(const CorpusFiles& files, const ReadingOptions& reading) {
  fuzz::takes([&] {
    CorpusReader reader(files, reading);
    TextPair pair;
    while (reader.next(pair)) {
      fuzz::require(!find_invalid_utf8(pair.source) && !find_invalid_utf8(pair.target), "pairs are UTF-8");
      fuzz::require((pair.source + pair.target).find('\n') == std::string::npos, "a text is one line");
    }
    fuzz::require(reader.count() > 0 && !reader.description().empty(), "a corpus has pairs");
    reader.notes();
  });
}

}  // namespace

// One format each time, told by the text, as a run for every one of them would be a slow one.
NMT_FUZZ_TARGET(pairs, input) {
  static const fuzz::Folder folder;
  ReadingOptions reading{.source_language = "de",
                         .target_language = "en",
                         .utf8 = input.size() % 2 == 0 ? Utf8Policy::kStop : Utf8Policy::kRepair};
  if (input.size() % 3 == 0) reading.tsv_columns = {3, 1};
  if (input.find("\n%%\n") != input.npos) {
    const auto sides = fuzz::parts_of(input, 2);
    read({.source = folder.put(input.starts_with('<') ? "de.xml" : "de", sides[0]),
          .target = folder.put("en", sides[1]),
          .source_option = "data.train1",
          .target_option = "data.train2"},
         reading);
    return;
  }
  const char* name = input.starts_with('{') || input.starts_with('[') ? "x.jsonl" : "x.txt";
  read({.source = folder.put(name, input), .target = {}, .source_option = "data.train_tsv", .target_option = ""},
       reading);
}
