#include <nanobind/nanobind.h>

#include <exception>
#include <functional>
#include <string>

#include "bindings.h"
#include "library/inner/guard.h"
#include "nmt/error.h"
#include "nmt/version.h"
#include "text_caster.h"
#include "translation/torch_library.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

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

/// Has a function of Python's called before LibTorch is loaded: before_torch_library(). What it raises comes out of the
/// call that needs LibTorch.
void before_libtorch(const nb::callable& find) {
  const nb::handle function = find.inc_ref();  // for good
  nmt::before_torch_library(nmt::shielded(std::function<std::string()>([function] {
    const nb::gil_scoped_acquire held;
    return nb::cast<std::string>(function());
  })));
}

}  // namespace

NB_MODULE(_nmt, module) {
  nb::set_leak_warnings(false);  // objects of daemon threads are never given back
  nb::register_exception_translator(translate_exception);
  module.def("version", &nmt::version);
  module.def("build_information", &nmt::build_information);
  module.def("before_libtorch", &before_libtorch, "find"_a);
  nmt::python::bind_translator(module);
  nmt::python::bind_scorer(module);
  nmt::python::bind_training(module);
}
