#include "convert/marian/marian_npz.h"
#include "fuzz_target.h"

NMT_FUZZ_TARGET(marian_options, input) {
  nmt::fuzz::takes([&] {
    const nmt::convert::MarianOptions options(std::string(input), "decoder.yml");
    for (const char* key : {"a", "models", "dim-emb", "type"}) {
      nmt::fuzz::takes([&] { options.text(key, ""); });
      nmt::fuzz::takes([&] { options.flag(key, false); });
      nmt::fuzz::takes([&] { options.real(key, 0); });
      nmt::fuzz::takes([&] { options.number(key); });
      nmt::fuzz::takes([&] { options.list(key); });
      if (options.has(key)) nmt::fuzz::takes([&] { options.refuse(key, "a value"); });
    }
  });
}
