#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "data/preparation/prepared_corpus_writer.h"
#include "data/prepared_corpus.h"
#include "support.h"

namespace nmt::test {

/// Numbers of pieces of a pair.
struct PairLengths {
  int source, target;
};

/// A corpus whose pair i has source ids 100 * i, 100 * i + 1, ... and target ids the same plus 50.
inline std::shared_ptr<const PreparedCorpus> corpus_of(const std::filesystem::path& path,
                                                       const std::vector<PairLengths>& lengths) {
  PreparedCorpusWriter writer(path);
  for (size_t i = 0; i < lengths.size(); ++i) {
    std::vector<int32_t> source, target;
    for (int k = 0; k < lengths[i].source; ++k) source.push_back(static_cast<int32_t>(100 * i + 10) + k);
    for (int k = 0; k < lengths[i].target; ++k) target.push_back(static_cast<int32_t>(100 * i + 60) + k);
    writer.add({.source = source,
                .target = target,
                .source_text = fmt::format("source {}", i),
                .target_text = fmt::format("target {}", i),
                .corpus = static_cast<int32_t>(i % 3)});
  }
  writer.finish();
  return std::make_shared<const PreparedCorpus>(path);
}

}  // namespace nmt::test
