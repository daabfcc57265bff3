#pragma once

#include <nanobind/nanobind.h>

namespace nmt::python {

// The parts of the module nmt._nmt, which is private: python/nmt/*.py is what users see.
void bind_translator(nanobind::module_& module);
void bind_scorer(nanobind::module_& module);
void bind_training(nanobind::module_& module);

}  // namespace nmt::python
