#pragma once

#include <functional>

namespace nmt {

/// Seconds since a moment that stays the same; never backwards.
using Clock = std::function<double()>;
double steady_seconds();

}  // namespace nmt
