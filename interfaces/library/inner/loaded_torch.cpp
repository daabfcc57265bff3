#include "library/inner/loaded_torch.h"

#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <string>
#include <string_view>

#include "base/error.h"

namespace nmt::api {
namespace {

/// "2.12.0" of "... TORCH_VERSION=2.12.0, USE_CUDA=..."; empty where it does not say.
std::string version_in(std::string_view settings) {
  constexpr std::string_view kName = "TORCH_VERSION=";
  const size_t at = settings.find(kName);
  if (at == std::string_view::npos) return "";
  const auto rest = settings.substr(at + kName.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

}  // namespace

void require_matching_torch() {
  static const std::string loaded = version_in(at::show_config());
  const std::string own = fmt::format("{}.{}.", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR);  // patches have one ABI
  if (loaded.empty() || loaded.starts_with(own)) return;
  throw nmt::Error(
      fmt::format("this process has loaded LibTorch {}, but libnmt was built with {}: load libnmt before the library "
                  "that brings the other one along, or build libnmt with that one",
                  loaded, TORCH_VERSION));
}

}  // namespace nmt::api
