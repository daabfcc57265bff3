// shortlist.bin. The input is taken as it is, and with the right checksum at its end.
#include "base/files/file.h"
#include "data/lexicon.h"
#include "fuzz_target.h"

namespace {

void read(const std::filesystem::path& path) {
  nmt::fuzz::takes([&] {
    const auto lexicon = nmt::Lexicon::read(path);
    for (int32_t piece = 0; piece < lexicon.source_vocabulary(); ++piece)
      for (const int32_t id : lexicon.best(piece))
        nmt::fuzz::require(id >= 0 && id < lexicon.target_vocabulary(), "translations are of the vocabulary");
    lexicon.write(path);
    nmt::fuzz::require(nmt::Lexicon::read(path).frequent().size() == lexicon.frequent().size(), "it is read again");
  });
}

}  // namespace

NMT_FUZZ_TARGET(lexicon, input) {
  static const nmt::fuzz::Folder folder;
  read(folder.put("shortlist.bin", input));
  read(folder.put("shortlist.bin", std::string(input) + nmt::sha256_of_bytes(input)));
}
