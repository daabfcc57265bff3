#include <nanobind/nanobind.h>

#include <exception>

#include "bindings.h"
#include "nmt/error.h"
#include "nmt/version.h"
#include "text_caster.h"

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

}  // namespace

NB_MODULE(_nmt, module) {
  nb::set_leak_warnings(false);  // objects of daemon threads are never given back
  nb::register_exception_translator(translate_exception);
  module.def("version", &nmt::version);
  module.def("build_information", &nmt::build_information);
  nmt::python::bind_translator(module);
  nmt::python::bind_scorer(module);
  nmt::python::bind_training(module);
}
