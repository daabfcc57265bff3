#include <cmath>

#include "fuzz_target.h"
#include "text/words.h"

NMT_FUZZ_TARGET(word_vectors, input) {
  static const nmt::WordTokenizer words(
      "<PAD>\t9\n<UNK>\t9\n<S>\t9\n</S>\t9\nthe\t9\n\xE2\x96\x81"
      "cat\t8\ncat\t7\na\t6\n",
      "words", {});
  static const nmt::fuzz::Folder folder;
  nmt::fuzz::takes([&] {
    const auto vectors = nmt::read_word_vectors(folder.put("x.vec", input), words, 3);
    nmt::fuzz::require(vectors.values.size() == 3 * vectors.ids.size(), "a vector has its size");
    for (const float value : vectors.values) nmt::fuzz::require(std::isfinite(value), "vectors are finite");
  });
}
