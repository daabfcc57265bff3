#pragma once

#include "config/loading/schema.h"
#include "nmt/configuration.h"

namespace nmt::api {

/// File and settings, read and checked. Throws nmt::Error.
nmt::LoadedConfig loaded(const Configuration& configuration);

}  // namespace nmt::api
