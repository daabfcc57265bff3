#pragma once

#include <string>

#include "interop/plain/plain_model.h"

namespace nmt::interop {

/// What a model is, in lines of text: architecture, sizes, vocabulary, parameters by part, training, formats it fits.
std::string describe(const PlainModel& model);

}  // namespace nmt::interop
