#pragma once

#include <c10/core/ScalarType.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "nn/kernels/products.h"

namespace nmt::test {

/// Forces a set while it lives.
struct ForcedTrainingSet {
  explicit ForcedTrainingSet(const char* name) { kernels::force_training_kernels(name); }
  ~ForcedTrainingSet() { kernels::force_training_kernels(nullptr); }
};

/// Calls body(type) with each set of training kernels that this processor can run in turn: on one where LibTorch is the
/// faster, none would be used.
template <typename Body>
void with_each_training_set(const Body& body) {
  for (const char* name : {"baseline", "avx2", "avx512", "avx512_bf16"})
    for (const auto& [type, of_torch] :
         {std::pair(kernels::Type::kFloat, at::kFloat), std::pair(kernels::Type::kBfloat16, at::kBFloat16)}) {
      if (!kernels::training_kernels_by_name(name, type)) continue;
      SCOPED_TRACE(std::string(name) + ", " + c10::toString(of_torch));
      const ForcedTrainingSet forced(name);
      body(of_torch);
    }
}

}  // namespace nmt::test
