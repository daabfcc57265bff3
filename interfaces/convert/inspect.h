#pragma once

#include <string>

#include "convert/plain/plain_model.h"

namespace nmt::convert {

/// What a model is, in lines of text: architecture, sizes, vocabulary, parameters by part, training, formats it fits.
std::string describe(const PlainModel& model);

}  // namespace nmt::convert
