#pragma once

#include <memory>

#include "models/search/search_operations.h"

namespace nmt {

/// Throws Error with the name of the first operation that is farther from the plain one than rounding, on small input
/// of every kind of beam and every size of heads and norms; integers are compared exactly.
void check_search_operations(SearchOperations& operations, torch::Device device);

/// The operations of a card on which check_search_operations() has passed, asked once a card and kept: null where there
/// is no CUDA device of compute capability 8.0 or newer, or where they are wrong or do not run, which is a warning.
std::unique_ptr<SearchOperations> checked_search_operations(torch::Device device);

}  // namespace nmt
