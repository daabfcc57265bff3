#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nmt {

/// What a page about the cleaning of a corpus shows.
struct CleaningPage {
  struct Example {
    std::string corpus = {};
    int64_t number = 0;  ///< of the pair in the corpus, from 1
    double score = 0;
    std::string source = {}, target = {};
  };
  struct Verdict {
    std::string name = {};
    int64_t pairs = 0;
    std::vector<Example> examples = {};
  };
  /// How the scores of a rule are spread over all pairs.
  struct Histogram {
    std::string rule = {};
    double threshold = 0;                  ///< higher scores drop a pair
    double usual = 1;                      ///< the last class begins here
    std::array<int64_t, 21> classes = {};  ///< pairs; all but the last are equally wide
    void add(double score);
  };
  std::vector<Verdict> verdicts = {};  ///< "kept" is the first
  std::vector<Histogram> histograms = {};
};

/// The page, which needs nothing beside it. Long texts are cut.
std::string cleaning_page(const CleaningPage& page);

}  // namespace nmt
