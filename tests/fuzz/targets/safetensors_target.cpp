#include <algorithm>

#include "base/files/safetensors_index.h"
#include "fuzz_target.h"
#include "read_weights.h"

namespace {
using namespace nmt;
using fuzz::require;
}  // namespace

NMT_FUZZ_TARGET(safetensors, input) {
  const auto bytes = std::as_bytes(std::span(input));
  SafetensorsIndex index;
  if (!fuzz::takes([&] { index = read_safetensors_index(bytes, "x.safetensors"); })) return;
  std::string again = safetensors_header(index.tensors, index.metadata);
  for (const auto& entry : index.tensors)
    again.append(reinterpret_cast<const char*>(entry.data.data()), entry.data.size());
  const auto second = read_safetensors_index(std::as_bytes(std::span(again)), "again");
  require(second.metadata == index.metadata, "metadata stay");
  require(std::ranges::equal(index.tensors, second.tensors,
                             [](const auto& a, const auto& b) {
                               return a.name == b.name && a.type == b.type && a.shape == b.shape &&
                                      std::ranges::equal(a.data, b.data);
                             }),
          "tensors that are written are read again");
  static const fuzz::Folder folder;
  fuzz::read_weights(folder.put("x.safetensors", input));
}
