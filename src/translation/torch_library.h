#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace nmt {

/// A function of libnmt_torch.so by its name. The library is opened at the first call and stays open; it is of the same
/// build: objects and exceptions go to and fro. otherwise: what the user can do without it, the end of the sentence.
/// Throws MachineError where it cannot be opened or belongs to another version.
void* torch_symbol(const char* name, std::string_view otherwise);

/// The same with its type. linked: the function where the program is linked with LibTorch itself, a weak symbol; it is
/// taken then.
template <typename Function>
Function* torch_function(Function* linked, const char* name, std::string_view otherwise = {}) {
  return linked ? linked : reinterpret_cast<Function*>(torch_symbol(name, otherwise));
}

/// Whether the library can be opened.
bool has_torch_library();

/// Has `find` called before the library is opened, once: it may load the LibTorch that is to be taken. It returns what
/// the user should do where the library cannot be opened all the same; what it throws leaves torch_symbol(), which
/// asks it again the next time.
void before_torch_library(std::function<std::string()> find);

}  // namespace nmt
