#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "data/batches.h"
#include "data/preparation/prepared_corpus_writer.h"
#include "data/prepared_corpus.h"
#include "support.h"

namespace nmt::piece_links_test {
namespace {

using Ids = std::vector<int32_t>;

class PieceLinksTest : public ::testing::Test {
 protected:
  PieceLinksTest() {
    PreparedCorpusWriter writer(folder_ / "train.bin");
    const auto add = [&](const Ids& source, const Ids& target) {
      writer.add({.source = source, .target = target, .source_text = "", .target_text = "", .corpus = 0});
    };
    add({4, 5}, {6});
    add({7}, {8, 9, 10});
    add({11, 12, 13}, {14, 15});
    writer.finish();
    write_piece_links(path_, {1, 1, 4}, {{1, 0}, {0, 0}, {2, 0}, {1, 1}});
  }
  PreparedCorpus corpus(SourceForm form = {}) const { return PreparedCorpus(folder_ / "train.bin", form); }
  PieceLinks read() const { return PieceLinks(path_, sha256_of_file(path_), corpus()); }
  std::string refusal() const {
    return test::message_of<Error>([this] { read(); });
  }
  static std::vector<std::vector<int64_t>> links_of(const Batch& batch) {
    std::vector<std::vector<int64_t>> links;
    for (const auto& [row, target, source] : batch.links) links.push_back({row, target, source});
    return links;
  }

  test::TemporaryDirectory folder_;
  std::filesystem::path path_ = folder_ / kPieceLinksFile;
};

TEST_F(PieceLinksTest, AreReadAsTheyWereWritten) {
  const auto links = read();
  EXPECT_EQ(links.of(0).size(), 1U);
  EXPECT_EQ(links.of(0)[0], (PieceLink{1, 0}));
  EXPECT_TRUE(links.of(1).empty());
  EXPECT_EQ(std::vector(links.of(2).begin(), links.of(2).end()), (std::vector<PieceLink>{{0, 0}, {2, 0}, {1, 1}}));
}

TEST_F(PieceLinksTest, DamagedFilesAreRefused) {
  const std::string whole = read_file(path_), other_sum(64, '0');
  EXPECT_NE(test::message_of<Error>([&] { PieceLinks(path_, other_sum, corpus()); }).find("checksum"),
            std::string::npos);
  for (size_t size = 0; size < whole.size(); ++size) {
    write_file_atomically(path_, whole.substr(0, size));
    EXPECT_NE(refusal().find("run nmt-prepro again"), std::string::npos) << size;
  }
  write_piece_links(path_, {1, 1, 4}, {{2, 0}, {0, 0}, {2, 0}, {1, 1}});
  EXPECT_NE(refusal().find("pair 0 is shorter than its links"), std::string::npos) << refusal();
  write_piece_links(path_, {3, 1, 4}, {{1, 0}, {0, 0}, {2, 0}, {1, 1}});
  EXPECT_NE(refusal().find("damaged in its lists"), std::string::npos) << refusal();
  write_piece_links(path_, {1, 1}, {{1, 0}});
  EXPECT_NE(refusal().find("damaged"), std::string::npos) << "of other pairs";
}

TEST_F(PieceLinksTest, GoWithTheirPairsIntoBatches) {
  const auto links = read();
  const auto pairs = corpus();
  const std::vector<int64_t> rows = {2, 1, 0};
  const auto batch = make_batch(EpochView(pairs).with_links(&links), rows);
  EXPECT_EQ(links_of(batch), (std::vector<std::vector<int64_t>>{{0, 0, 0}, {0, 0, 2}, {0, 1, 1}, {2, 0, 1}}));
  EXPECT_TRUE(make_batch(EpochView(pairs), rows).links.empty());
}

TEST_F(PieceLinksTest, FollowTheFormOfTheSource) {
  const auto links = read();
  const std::vector<int64_t> rows = {2};
  const auto both = corpus(SourceMarkers::kBoth);
  EXPECT_EQ(links_of(make_batch(EpochView(both).with_links(&links), rows)),
            (std::vector<std::vector<int64_t>>{{0, 0, 1}, {0, 0, 3}, {0, 1, 2}}));
  const auto reversed = corpus({SourceMarkers::kEnd, /*reversed=*/true});
  EXPECT_EQ(links_of(make_batch(EpochView(reversed).with_links(&links), rows)),
            (std::vector<std::vector<int64_t>>{{0, 0, 2}, {0, 0, 0}, {0, 1, 1}}));
}

/// Cuts sentences as it is told. Pieces 12, 15 and 20 have two bytes, 21 has three, the others have one.
class GivenPieces final : public SubwordSampler {
 public:
  explicit GivenPieces(std::map<Ids, Ids> cuts) : SubwordSampler(lengths()), cuts_(std::move(cuts)) {}
  Ids sample(std::span<const int32_t> plain, CounterRandom&) const override {
    return cuts_.at(Ids(plain.begin(), plain.end()));
  }

 private:
  static std::vector<int64_t> lengths() {
    std::vector<int64_t> all(30, 1);
    all[12] = all[15] = all[20] = 2;
    all[21] = 3;
    return all;
  }
  std::map<Ids, Ids> cuts_;
};

// Of "a bc d" | "e fg" with the links d-e, a-e and bc-fg.
TEST_F(PieceLinksTest, GoToAllPiecesThatHaveSomeOfTheText) {
  const auto links = read();
  const auto pairs = corpus();
  const std::vector<int64_t> rows = {2};
  const Ids source = {11, 12, 13}, target = {14, 15};
  const auto with = [&](const std::optional<Ids>& of_source, const std::optional<Ids>& of_target) {
    PairSampling sampling;
    if (of_source) sampling.source = std::make_shared<GivenPieces>(std::map<Ids, Ids>{{source, *of_source}});
    if (of_target) sampling.target = std::make_shared<GivenPieces>(std::map<Ids, Ids>{{target, *of_target}});
    return links_of(make_batch(EpochView(pairs, sampling, 0).with_links(&links), rows));
  };
  using Links = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(with(source, target), (Links{{0, 0, 0}, {0, 0, 2}, {0, 1, 1}})) << "the same pieces";
  EXPECT_EQ(with(Ids{11, 16, 17, 13}, {}), (Links{{0, 0, 0}, {0, 0, 3}, {0, 1, 1}, {0, 1, 2}})) << "bc cut in two";
  EXPECT_EQ(with({}, Ids{14, 18, 19}), (Links{{0, 0, 0}, {0, 0, 2}, {0, 1, 1}, {0, 2, 1}})) << "fg cut in two";
  EXPECT_EQ(with(Ids{20, 20}, {}), (Links{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}})) << "ab cd";
  EXPECT_EQ(with({}, Ids{21}), (Links{{0, 0, 0}, {0, 0, 2}, {0, 0, 1}})) << "efg";
}

}  // namespace
}  // namespace nmt::piece_links_test
