#include "log.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

namespace nb = nanobind;

namespace nmt::python {

LogSink log_to_python(Work& work) {
  return [&work](LogLevel level, const std::string& line) {
    work.call([level, &line] {
      const char* const name = level == LogLevel::kError ? "error" : level == LogLevel::kWarning ? "warning" : "info";
      nb::module_::import_("logging").attr("getLogger")("nmt").attr(name)("%s", line);
    });
  };
}

}  // namespace nmt::python
