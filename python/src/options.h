#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <vector>

#include "nmt/translator.h"

namespace nmt::python {

/// The options of nmt.Translator.translate by their names in Python; None is as if it were not there. Throws TypeError.
TranslateOptions translate_options(const nanobind::dict& options);
/// "beam_size=8" and the like, of the section `decoding`.
void set_options(DecodingOptions& options, const std::vector<std::string>& settings);

/// Each a str or an nmt.Request; `first` is the number that the caller counts the first by. Throws TypeError
/// ("texts[3]: ...").
std::vector<Request> requests_of(const nanobind::list& texts, std::size_t first);

}  // namespace nmt::python
