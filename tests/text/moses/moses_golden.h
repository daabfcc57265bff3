#pragma once

#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "support.h"

namespace nmt::test {

/// What golden/make_moses_golden.py wrote.
inline nlohmann::json moses_golden() {
  return nlohmann::json::parse(read_file(source_directory() / "tests/text/golden/moses.json"));
}

}  // namespace nmt::test
