#pragma once

#include "config/config.h"
#include "text/pairs/pair_reader.h"

namespace nmt {

/// How every text that the data section names is read.
ReadingOptions reading_options(const DataConfig& data);

}  // namespace nmt
