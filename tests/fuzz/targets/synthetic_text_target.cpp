// FILE.json of nmt-translate --synthesize.
#include "data/synthetic_text.h"
#include "fuzz_target.h"

NMT_FUZZ_TARGET(synthetic_text, input) {
  static const nmt::fuzz::Folder folder;
  const auto file = folder.path() / "bt.tsv";
  folder.put("bt.tsv.json", input);
  nmt::fuzz::takes([&] {
    const auto text = nmt::SyntheticText::read(file);
    if (!text) return;
    text->write(file);
    nmt::fuzz::require(nmt::SyntheticText::read(file)->symbols == text->symbols, "it is read again");
  });
}
