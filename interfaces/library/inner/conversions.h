#pragma once

#include <memory>
#include <string>

#include "base/process/log.h"
#include "config/loading/schema.h"
#include "nmt/configuration.h"
#include "nmt/log.h"

namespace nmt::api {

/// File and settings, read and checked. Throws nmt::Error.
nmt::LoadedConfig loaded(const Configuration& configuration);

/// A logger that gives its lines to the caller's sink; none: it says nothing.
std::shared_ptr<nmt::Logger> logger_to(const LogSink& sink);

}  // namespace nmt::api
