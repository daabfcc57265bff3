#include "base/process/clock.h"

#include <chrono>

namespace nmt {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace nmt
