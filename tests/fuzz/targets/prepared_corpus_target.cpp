// {train,valid,test}.bin of nmt-prepro.
#include <array>

#include "base/files/file.h"
#include "data/prepared_corpus.h"
#include "fuzz_target.h"

NMT_FUZZ_TARGET(prepared_corpus, input) {
  static const nmt::fuzz::Folder folder;
  nmt::fuzz::takes([&] {
    const nmt::PreparedCorpus corpus(folder.put("train.bin", input));
    for (int64_t pair = 0; pair < corpus.size(); ++pair) {
      nmt::fuzz::look_at(corpus.source(pair));
      nmt::fuzz::look_at(corpus.target(pair));
      nmt::fuzz::look_at(corpus.source_text(pair));
      nmt::fuzz::look_at(corpus.target_text(pair));
      nmt::fuzz::look_at(std::array{corpus.corpus(pair)});
    }
    nmt::fuzz::takes([&] { corpus.verify(std::string(64, '0'), 100, 100); });
    corpus.verify(nmt::sha256_of_bytes(input), 100, 100);
    for (int64_t pair = 0; pair < corpus.size(); ++pair)
      for (const int32_t id : corpus.source(pair)) nmt::fuzz::require(id >= 0 && id < 100, "ids are of the vocabulary");
  });
}
