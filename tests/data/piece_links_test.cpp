#include <gtest/gtest.h>

#include <optional>
#include <string>
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

}  // namespace
}  // namespace nmt::piece_links_test
