// A program that is started with the device in LD_PRELOAD is told by variables of its environment what it does.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "simulated_device/simulated_device.h"

namespace nmt::simulated {
namespace {

/// NMT_SIMULATED_ORDER: late, or seeded:N. NMT_SIMULATED_MEMORY: bytes. NMT_SIMULATED_REPORT: a file that gets the
/// counts.
const bool read = [] {
  if (const char* order = std::getenv("NMT_SIMULATED_ORDER")) {
    const std::string text = order;
    if (text.starts_with("seeded:"))
      set_order(Order::kSeeded, std::strtoull(order + 7, nullptr, 10));
    else
      set_order(text == "late" ? Order::kLate : Order::kAtOnce);
  }
  if (const char* bytes = std::getenv("NMT_SIMULATED_MEMORY")) set_memory_limit(std::strtoll(bytes, nullptr, 10));
  if (std::getenv("NMT_SIMULATED_REPORT"))
    std::atexit([] {
      std::FILE* file = std::fopen(std::getenv("NMT_SIMULATED_REPORT"), "w");
      if (!file) return;
      std::fprintf(file, "{\"launches\": %lld, \"late\": %lld, \"synchronisations\": %zu, \"peak_bytes\": %lld}\n",
                   static_cast<long long>(counts().launches), static_cast<long long>(counts().late),
                   counts().synchronisations.size(), static_cast<long long>(peak_bytes()));
      std::fclose(file);
    });
  return true;
}();

}  // namespace
}  // namespace nmt::simulated
