#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <new>

#include "bindings.h"
#include "nmt/error.h"
#include "nmt/version.h"
#include "running_works.h"

namespace nb = nanobind;

namespace {

void raise(const char* name, const char* message) {
  PyErr_SetString(nb::module_::import_("nmt._errors").attr(name).ptr(), message);
}

void translate_exception(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const nmt::UserError& error) {
    raise("Error", error.what());
  } catch (const nmt::Error& error) {
    raise("MachineError", error.what());
  }
}

// Functions of `atexit` are called from the last to the first. Those that were registered after this module's import
// may join a thread whose work only stop_all() ends. So it is registered once more when the main thread has ended, if
// this Python can tell.
void stop_works_first_at_exit() {
  const nb::object atexit = nb::module_::import_("atexit");
  const nb::object stop = nb::cpp_function([] { nmt::python::RunningWorks::instance().stop_all(); });
  atexit.attr("register")(stop);
  const nb::object threading = nb::module_::import_("threading");
  if (!nb::hasattr(threading, "_register_atexit")) return;
  try {
    threading.attr("_register_atexit")(nb::cpp_function([atexit, stop] {
      atexit.attr("unregister")(stop);
      atexit.attr("register")(stop);
    }));
  } catch (const nb::python_error&) {
    // Python ends already, and an exit function imports this module: stop_all() is the last one as it is.
  }
}

}  // namespace

NB_MODULE(_nmt, module) {
  nb::register_exception_translator(translate_exception);
  module.def("version", &nmt::version);
  module.def("build_information", &nmt::build_information);
  stop_works_first_at_exit();
  nmt::python::bind_translator(module);
  nmt::python::bind_scorer(module);
  nmt::python::bind_training(module);
}
