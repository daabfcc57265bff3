#include "translation/torch_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/process/program_description.h"

namespace nmt {
namespace {

constexpr const char* kTorchLibrary = "libnmt_torch.so";

std::function<std::string()>& torch_finder() {
  static auto* const finder = new std::function<std::string()>;  // never destroyed: it may be another language's
  return *finder;
}

void* open_torch_library(std::string_view otherwise) {
  std::string advice = "install the whole package";
  if (const auto& find = torch_finder()) advice = find();
  void* const library = ::dlopen(kTorchLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw MachineError(fmt::format("{}: this needs LibTorch, by a library that cannot be loaded ({}); {}{}",
                                   kTorchLibrary, ::dlerror(), advice, otherwise));
  const auto its_version = reinterpret_cast<const char* (*)()>(::dlsym(library, "nmt_torch_version"));
  if (!its_version || its_version() != version())
    throw MachineError(fmt::format("{}: is of another version than this program; install both again", kTorchLibrary));
  return library;
}

}  // namespace

void* torch_symbol(const char* name, std::string_view otherwise) {
  static void* const library = open_torch_library(otherwise);
  if (void* const symbol = ::dlsym(library, name)) return symbol;
  throw MachineError(fmt::format("{}: is of another build than this program; install both again", kTorchLibrary));
}

bool has_torch_library() {
  try {
    torch_symbol("nmt_torch_version", "");
    return true;
  } catch (const MachineError&) {
    return false;
  }
}

void before_torch_library(std::function<std::string()> find) { torch_finder() = std::move(find); }

}  // namespace nmt
