#include "convert/marian/marian_vocabulary.h"
#include "fuzz_target.h"

NMT_FUZZ_TARGET(marian_vocabulary, input) {
  static const nmt::fuzz::Folder folder;
  for (const char* name : {"vocab.json", "vocab.yml", "vocab.txt"}) {
    const auto path = folder.put(name, input);
    nmt::fuzz::takes([&] {
      for (const auto& [token, id] : nmt::convert::read_vocabulary(path, 50))
        nmt::fuzz::require(id >= 0 && id < 50, "ids are rows");
    });
  }
}
