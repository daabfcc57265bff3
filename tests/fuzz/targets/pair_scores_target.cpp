// forward.scores and its like, of a train.bin with two pairs.
#include "data/pair_scores.h"
#include "fuzz_target.h"

NMT_FUZZ_TARGET(pair_scores, input) {
  static const nmt::fuzz::Folder folder;
  folder.put("forward.scores", input);
  nmt::fuzz::takes([&] {
    const auto scores =
        nmt::read_pair_scores(folder.path(), {.name = "train", .pairs = 2, .sha256 = "0"}, nmt::PairScore::kForward);
    nmt::fuzz::require(scores.size() == 2, "there is a score for each pair");
    for (const float score : scores)
      nmt::fuzz::require(score >= nmt::kWorstScore && score <= 0, "scores are logarithms of probabilities");
  });
}
