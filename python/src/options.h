#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "nmt/translator.h"

namespace nmt::python {

/// The options of nmt.Translator.translate by their names in Python; None is as if it were not there. Throws TypeError.
TranslateOptions translate_options(const nanobind::dict& options);

/// Each a str or an nmt.Request. Throws TypeError ("texts[3]: ...").
std::vector<Request> requests_of(const nanobind::list& texts);

}  // namespace nmt::python
