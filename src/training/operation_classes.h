#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// What a call in a trace does, by its name ("aten::mm", "AddmmBackward0", "nmt::attention", ...): matrix products,
/// attention, normalisation, recurrent cells, softmax and loss, embeddings, dropout, reductions, copies, element-wise,
/// or "other" (the work around operations: autograd's engine, views, allocation).
std::string_view operation_class(std::string_view name);

/// What all calls of one class cost together.
struct ClassCost {
  std::string_view name;
  int64_t calls = 0;
  int64_t own = 0;  ///< nanoseconds, without the calls inside
};

/// What all calls of one name cost together.
struct OperationCost {
  std::string name;
  int64_t calls = 0;
  int64_t own = 0;  ///< nanoseconds, without the calls inside
};

/// Costs by class, the most expensive first. Sums to the costs of all operations.
std::vector<ClassCost> class_costs(std::span<const OperationCost> costs);

}  // namespace nmt
