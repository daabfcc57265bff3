#include <gmock/gmock.h>

#include <fstream>
#include <stdexcept>

#include "data/preparation/encoder.h"
#include "support.h"

namespace nmt::pair_pipeline_test {
namespace {

using testing::HasSubstr;

/// A corpus of `pairs` pairs "s17<TAB>t17"; the line of a bad pair is not UTF-8.
class RunPairs : public testing::Test {
 protected:
  CorpusReader corpus(int pairs, int bad = -1) const {
    std::ofstream file(folder_ / "pairs.tsv");
    for (int i = 0; i < pairs; ++i) file << 's' << i << (i == bad ? "\xFF" : "") << "\tt" << i << '\n';
    file.close();
    return {{.source = folder_ / "pairs.tsv", .target = "", .source_option = "data.train_tsv", .target_option = ""},
            {}};
  }

  /// What was taken, and the message of the error that ended it.
  struct Outcome {
    std::vector<std::string> taken;
    std::string error;
  };
  static Outcome run(
      CorpusReader reader, int threads, int bad_transform = -1,
      const std::function<bool()>& should_stop = [] { return false; }) {
    Outcome outcome;
    const std::string bad = "s" + std::to_string(bad_transform);
    try {
      run_pairs(reader, threads,
                {.transform =
                     [&](EncodedPair& pair, int) {
                       if (pair.text.source == bad) throw std::runtime_error("cannot transform " + bad);
                       pair.text.source += "!";
                     },
                 .take = [&](EncodedPair& pair) { outcome.taken.push_back(pair.text.source + pair.text.target); },
                 .should_stop = should_stop});
    } catch (const std::exception& error) {
      outcome.error = error.what();
    }
    return outcome;
  }

  test::TemporaryDirectory folder_;
};

TEST_F(RunPairs, HandsOutAllInOrder) {
  for (const int threads : {1, 2, 5}) {
    const auto [taken, error] = run(corpus(10000), threads);
    EXPECT_EQ(error, "");
    ASSERT_EQ(taken.size(), 10000u) << threads;
    for (int i = 0; i < 10000; ++i) ASSERT_EQ(taken[i], "s" + std::to_string(i) + "!t" + std::to_string(i));
  }
}

TEST_F(RunPairs, TheFirstBadPairOfTheTextIsReported) {
  for (const int threads : {1, 3}) {
    // Both in one block: reading meets line 901 before pair 890 is transformed.
    EXPECT_EQ(run(corpus(10000, 900), threads, 890).error, "cannot transform s890");
    EXPECT_THAT(run(corpus(10000, 900), threads, 910).error, HasSubstr("pairs.tsv:901: byte 5 (0xFF)"));
    // In different blocks.
    EXPECT_EQ(run(corpus(10000, 9000), threads, 1500).error, "cannot transform s1500");
    EXPECT_THAT(run(corpus(10000, 1500), threads, 9000).error, HasSubstr("pairs.tsv:1501:"));
    // All before the bad line are taken.
    EXPECT_EQ(run(corpus(10000, 1500), threads).taken.size(), 1500u);
  }
}

TEST_F(RunPairs, StopsSoonAfterItIsAsked) {
  for (const int threads : {1, 3}) {
    int asked = 0;
    const auto outcome = run(corpus(20000), threads, -1, [&] { return ++asked == 3; });
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.taken.size(), 3 * 1024u);
  }
}

TEST_F(RunPairs, LongLinesMakeSmallBlocks) {
  {
    std::ofstream file(folder_ / "pairs.tsv");
    for (int i = 0; i < 20; ++i) file << std::string(400'000, 'a') << "\tb\n";
  }
  CorpusReader reader({.source = folder_ / "pairs.tsv", .target = "", .source_option = "o", .target_option = ""}, {});
  int blocks = 0;
  run_pairs(reader, 1,
            {.transform = [](EncodedPair&, int) {},
             .take = [](EncodedPair&) {},
             .should_stop =
                 [&] {
                   ++blocks;
                   return false;
                 }});
  EXPECT_EQ(blocks, 7) << "three lines reach 1 MiB";
}

}  // namespace
}  // namespace nmt::pair_pipeline_test
