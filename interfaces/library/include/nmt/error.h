#pragma once

#include <stdexcept>
#include <string>

#include "nmt/export.h"

NMT_API_BEGIN

/// All that the library throws, but what callbacks of the caller throw: that comes out as it went in. what() is one
/// line of UTF-8: what is wrong, where (file:line or option), what to do. Where something is thrown, nothing was
/// changed that the function does not say.
class NMT_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

/// What the caller or its user can fix: a wrong option, a folder that is no model, a line of a file.
class NMT_EXPORT UserError : public Error {
 public:
  using Error::Error;
  ~UserError() override;
};

/// What the machine failed at: disk full, out of memory, a lost device.
class NMT_EXPORT MachineError : public Error {
 public:
  using Error::Error;
  ~MachineError() override;
};

/// A StopToken ended the work.
class NMT_EXPORT Stopped : public Error {
 public:
  using Error::Error;
  ~Stopped() override;
};

NMT_API_END
