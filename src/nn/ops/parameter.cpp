#include "nn/ops/parameter.h"

#include <optional>
#include <utility>

namespace nmt {
namespace {

thread_local std::optional<int64_t> elements_left;

}  // namespace

torch::Tensor empty_parameter(at::IntArrayRef sizes) {
  if (elements_left) {
    int64_t elements = 1;
    for (const int64_t size : sizes)
      if (__builtin_mul_overflow(elements, size, &elements) || elements > *elements_left)
        throw ParameterLimit::Exceeded();
    *elements_left -= elements;
    return torch::zeros({1}).expand(sizes);
  }
  return torch::empty(sizes);
}

ParameterLimit::ParameterLimit(int64_t elements) { elements_left = elements; }

ParameterLimit::~ParameterLimit() { elements_left.reset(); }

}  // namespace nmt
