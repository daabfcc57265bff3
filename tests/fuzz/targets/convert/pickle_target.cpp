#include "convert/formats/pickle.h"
#include "fuzz_target.h"

NMT_FUZZ_TARGET(pickle, input) {
  nmt::fuzz::takes([&] {
    const nmt::convert::Pickle pickle(std::as_bytes(std::span(input)), "x.bin");
    nmt::fuzz::require(pickle.size() <= input.size(), "a pickle takes no more than there is");
    const auto& items = pickle.value().items;
    for (const auto* item : items) nmt::fuzz::require(item != nullptr, "all items are there");
  });
}
