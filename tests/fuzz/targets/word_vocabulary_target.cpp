#include "fuzz_target.h"
#include "text/words.h"

NMT_FUZZ_TARGET(word_vocabulary, input) {
  static const nmt::fuzz::Folder folder;
  nmt::fuzz::takes([&] {
    const auto words = nmt::WordTokenizer::load(folder.put("x.tsv", input), {.min_count = 2, .max_size = 20});
    nmt::fuzz::require(words->size() > 4 && words->size() <= 20, "a vocabulary keeps its limits");
    const auto ids = words->encode(input);
    for (const int32_t id : ids) nmt::fuzz::require(id >= 0 && id < words->size(), "ids are of the vocabulary");
    words->decode(ids);
    nmt::fuzz::require(words->serialized() == input, "the file's bytes stay");
    nmt::fuzz::require(!nmt::fuzz::takes([&] { words->piece(static_cast<int32_t>(words->size())); }), "ids end");
  });
}
