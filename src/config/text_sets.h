#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace nmt {

/// One of the configured validation or test sets, however it was given.
struct ConfiguredSet {
  std::string split;                         ///< of the prepared data: "valid", "valid.dev2", "test", ...
  TextSet text;                              ///< its name is empty where it is the only one (data.eval1 and eval2)
  std::string source_option, target_option;  ///< "data.eval1", or "data.eval"
};

/// Those of data.eval, or data.eval1 and eval2; the first one decides what is best. None: empty.
std::vector<ConfiguredSet> validation_sets(const DataConfig& data);
/// Those of data.test, or data.test1 and test2.
std::vector<ConfiguredSet> test_sets(const DataConfig& data);

}  // namespace nmt
