// Corpora as text, IWSLT tags and sgm/xml segments.
#include "fuzz_target.h"
#include "text/corpus/text_reader.h"

NMT_FUZZ_TARGET(text_reader, input) {
  static const nmt::fuzz::Folder folder;
  for (const char* name : {"corpus.txt", "train.tags.de-en.de", "test.xml", "test.sgm.gz"}) {
    const auto path = folder.put(name, input);
    nmt::fuzz::takes([&] {
      nmt::LineReader lines(path);
      const auto format = nmt::text_format(path, lines.look_ahead(1 << 10));
      nmt::TextReader reader(std::move(lines), format);
      while (const auto sentence = reader.next())
        nmt::fuzz::require(sentence->find('\n') == sentence->npos, "a sentence is one line");
      nmt::fuzz::require(!nmt::name_of(reader.format()).empty(), "a format has a name");
    });
  }
  for (const auto format : {nmt::TextFormat::kPlain, nmt::TextFormat::kTags, nmt::TextFormat::kSegments})
    nmt::fuzz::takes([&] {
      nmt::TextReader reader(nmt::LineReader(folder.path() / "corpus.txt"), format);
      int64_t count = 0;
      while (reader.next()) ++count;
      nmt::fuzz::require(count == reader.count(), "all sentences are counted");
    });
}
