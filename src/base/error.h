#pragma once

#include <stdexcept>

namespace nmt {

/// What the user can mend: a wrong option, file or line. what() is one line: what, where (file:line or option), what to
/// do. Programs end with exit code 2.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What the machine failed at: disk full, out of memory, a lost device. what() is one line. Programs end with exit
/// code 1.
class MachineError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace nmt
