#include "convert/formats/zip.h"
#include "fuzz_target.h"

NMT_FUZZ_TARGET(zip, input) {
  const auto bytes = std::as_bytes(std::span(input));
  nmt::convert::ZipMembers stored, all;
  const bool taken = nmt::fuzz::takes([&] { stored = nmt::convert::read_zip(bytes, "x.zip"); });
  std::deque<std::vector<std::byte>> unpacked;
  if (!nmt::fuzz::takes([&] { all = nmt::convert::read_zip(bytes, "x.zip", unpacked); })) {
    nmt::fuzz::require(!taken, "what is stored is read");
    return;
  }
  size_t total = 0;
  for (const auto& [name, data] : all) {
    total += data.size();
    nmt::fuzz::look_at(data);
  }
  nmt::fuzz::require(total <= 3 * input.size(), "members are no bomb");
  nmt::fuzz::require(!taken || stored.size() == all.size(), "both readers read the same");
}
