#pragma once

#include <string>
#include <utility>
#include <vector>

#include "evaluation/evaluation.h"

namespace nmt::test {

/// Two sentences of four words and one of two, of which the last word of the first is wrong.
inline TestSet small_set() {
  return {.source_file = "s",
          .reference_files = {"r"},
          .sources = {"a b c d", "b b c d", "a a"},
          .references = {{"a b c d", "b b c d", "a a"}}};
}

inline SystemOutput small_output(const std::string& name, std::vector<std::string> hypotheses) {
  SystemOutput output;
  output.name = name;
  output.hypotheses = std::move(hypotheses);
  output.seconds = 2;
  output.target_tokens = 13;
  return output;
}

}  // namespace nmt::test
