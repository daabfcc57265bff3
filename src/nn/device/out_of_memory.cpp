#include "nn/device/out_of_memory.h"

#include <c10/util/Exception.h>

#include <new>
#include <string_view>

namespace nmt {

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) || dynamic_cast<const c10::OutOfMemoryError*>(&error)) return true;
  const std::string_view what = error.what();
  // oneDNN's, of which LibTorch has no header. What it cannot compute at all fails at "a primitive descriptor".
  if (what == "could not create a primitive" || what == "could not execute a primitive" ||
      what == "could not create a memory object")
    return true;
  return what.find("can't allocate memory") != what.npos || what.find("out of memory") != what.npos;
}

}  // namespace nmt
