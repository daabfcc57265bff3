#include "convert/formats/zip_members.h"
#include "fuzz_target.h"

NMT_FUZZ_TARGET(zip, input) {
  nmt::convert::ZipMembers members;
  if (!nmt::fuzz::takes([&] { members = nmt::convert::read_zip(std::as_bytes(std::span(input)), "x.zip"); })) return;
  size_t total = 0;
  for (const auto& [name, data] : members) {
    total += data.size();
    nmt::fuzz::look_at(data);
  }
  nmt::fuzz::require(total <= 2 * input.size(), "members are no bomb");
}
