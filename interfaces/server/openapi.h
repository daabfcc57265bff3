#pragma once

#include <string>

namespace nmt {

/// GET /spec: interfaces/server/openapi.json, built in by CMake.
const std::string& openapi_json();

}  // namespace nmt
