#pragma once

#include <filesystem>

#include "fuzz_target.h"
#include "interop/formats/weight_file.h"

namespace nmt::fuzz {

/// Opens a file of weights and reads each of its tensors.
inline void read_weights(const std::filesystem::path& path) {
  takes([&] {
    interop::WeightFile file(path);
    const auto arrays = file.arrays();
    for (const auto& [name, stored] : arrays) {
      interop::Array array;
      if (!takes([&] { array = file.read(name, stored.shape); })) continue;
      require(std::ssize(array.values) == interop::element_count(stored.shape), "a tensor has all of its numbers");
      file.transpose(name);
      if (array.shape.size() != 2) continue;
      takes([&] { file.read(name, {array.shape[1], array.shape[0]}); });
    }
  });
}

}  // namespace nmt::fuzz
