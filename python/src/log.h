#pragma once

#include "nmt/log.h"
#include "work.h"

namespace nmt::python {

/// Says what the work says to Python's logger "nmt", in the thread that began the work. The sink must not outlive it.
LogSink log_to_python(Work& work);

}  // namespace nmt::python
