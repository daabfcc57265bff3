#include "data/prepared_corpus.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/files/file.h"
#include "data/corpora.h"
#include "data/preparation/prepared_corpus_writer.h"

namespace nmt::prepared_corpus_test {
namespace {

using test::corpus_of;
using test::message_of;
using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(PreparedCorpus, HoldsWhatWasWritten) {
  const TemporaryDirectory folder;
  PreparedCorpusWriter writer(folder / "train.bin");
  const std::vector<int32_t> first = {7, 8, 9}, second = {4}, none;
  writer.add({first, second, "drei Wörter hier", "one", 0});
  writer.add({none, none, "", "", 1});
  writer.add({second, first, "eins", "three", 5});
  EXPECT_EQ(writer.size(), 3);
  EXPECT_EQ(writer.source_tokens(), 4);
  EXPECT_EQ(writer.target_tokens(), 4);
  const std::string sum = writer.finish();
  EXPECT_EQ(sum, sha256_of_file(folder / "train.bin"));

  const PreparedCorpus corpus(folder / "train.bin");
  ASSERT_EQ(corpus.size(), 3);
  EXPECT_THAT(corpus.source(0), ElementsAre(7, 8, 9));
  EXPECT_THAT(corpus.target(0), ElementsAre(4));
  EXPECT_EQ(corpus.source_text(0), "drei Wörter hier");
  EXPECT_EQ(corpus.target_text(0), "one");
  EXPECT_THAT(corpus.source(1), IsEmpty());
  EXPECT_THAT(corpus.target(1), IsEmpty());
  EXPECT_EQ(corpus.source_text(1), "");
  EXPECT_THAT(corpus.source(2), ElementsAre(4));
  EXPECT_THAT(corpus.target(2), ElementsAre(7, 8, 9));
  EXPECT_EQ(corpus.target_text(2), "three");
  EXPECT_EQ(corpus.corpus(0), 0);
  EXPECT_EQ(corpus.corpus(2), 5);
}

TEST(PreparedCorpus, MayBeEmpty) {
  const TemporaryDirectory folder;
  EXPECT_EQ(corpus_of(folder / "x.bin", {})->size(), 0);
}

TEST(PreparedCorpusWriter, LeavesNothingBehindWithoutFinish) {
  const TemporaryDirectory folder;
  {
    PreparedCorpusWriter writer(folder / "x.bin");
    writer.add({{}, {}, "text", "text", 0});
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  corpus_of(folder / "x.bin", {{1, 1}});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(PreparedCorpusWriter, SaysWhereItCannotWrite) {
  EXPECT_THAT(message_of<MachineError>([] { PreparedCorpusWriter("/proc/none/x.bin"); }),
              HasSubstr("/proc/none/x.bin"));
}

/// A damaged copy of a good file: what PreparedCorpus says to it.
class DamagedCorpus : public testing::Test {
 protected:
  DamagedCorpus() {
    corpus_of(path_, {{3, 2}, {1, 4}, {0, 1}});
    good_ = read_file(path_);
  }
  std::string message(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    const auto text = message_of<Error>([&] { PreparedCorpus corpus(path_); });
    EXPECT_EQ(text.substr(0, path_.string().size() + 2), path_.string() + ": ");
    return text.substr(std::min(text.size(), path_.string().size() + 2));
  }
  template <typename T>
  std::string with(size_t offset, T value) const {
    std::string bytes = good_;
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return bytes;
  }
  TemporaryDirectory folder_;
  std::filesystem::path path_ = folder_ / "train.bin";
  std::string good_;
};

TEST_F(DamagedCorpus, ForeignOrOlderFile) {
  EXPECT_EQ(message(""), "not a file of nmt-prepro; run nmt-prepro again with --overwrite");
  EXPECT_EQ(message("Ein Haus.\n"), "not a file of nmt-prepro; run nmt-prepro again with --overwrite");
  EXPECT_EQ(message(with(8, uint32_t{0})),
            "of format version 0, where 1 is read; run nmt-prepro again with --overwrite");
  EXPECT_EQ(message(with(8, uint32_t{2})),
            "of format version 2, where 1 is read; run nmt-prepro again with --overwrite");
}

TEST_F(DamagedCorpus, EveryTruncationIsSeen) {
  for (size_t size = 0; size < good_.size(); size += size < 120 ? 1 : 13) {
    std::ofstream(path_, std::ios::binary) << good_.substr(0, size);
    EXPECT_THROW(PreparedCorpus corpus(path_), Error) << size;
  }
  EXPECT_THAT(message(good_.substr(0, good_.size() - 8)),
              HasSubstr(fmt::format("cut short at {} bytes", good_.size() - 8)));
  EXPECT_THAT(message(good_ + "12345678"),
              HasSubstr(fmt::format("of {} bytes, where {} are right", good_.size() + 8, good_.size())));
}

TEST_F(DamagedCorpus, OffsetsAreChecked) {
  namespace format = prepared_corpus_format;
  const size_t ends = sizeof(format::Header);  // of the sources: 3, 4, 4
  EXPECT_EQ(message(with(ends, uint64_t{5})), "damaged in its offsets; run nmt-prepro again with --overwrite");
  EXPECT_EQ(message(with(ends, ~uint64_t{0})), "damaged in its offsets; run nmt-prepro again with --overwrite");
  EXPECT_EQ(message(with(ends + 16, uint64_t{3})), "damaged in its offsets; run nmt-prepro again with --overwrite");
  EXPECT_EQ(message(with(ends + 16, uint64_t{1000000})),
            "damaged in its offsets; run nmt-prepro again with --overwrite");
}

// Whatever a header says: an Error, or every pair can be read.
TEST_F(DamagedCorpus, NoHeaderLeadsOutsideTheFile) {
  for (size_t offset = 12; offset + 8 <= sizeof(prepared_corpus_format::Header) + 4 * 3 * 8; offset += 4) {
    for (const uint64_t value :
         {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{1} << 32, ~uint64_t{0}, ~uint64_t{7}}) {
      std::ofstream(path_, std::ios::binary) << with(offset, value);
      try {
        const PreparedCorpus corpus(path_);
        int64_t sum = 0;
        for (int64_t i = 0; i < corpus.size(); ++i) {
          for (const int32_t id : corpus.source(i)) sum += id;
          for (const int32_t id : corpus.target(i)) sum += id;
          for (const char c : corpus.source_text(i)) sum += c;
          for (const char c : corpus.target_text(i)) sum += c;
        }
        EXPECT_GT(sum, 0);
      } catch (const Error&) {
      }
    }
  }
}

TEST_F(DamagedCorpus, EveryByteIsVerified) {
  const std::string sum = sha256_of_file(path_);
  const auto verify = [&](int64_t source, int64_t target) { PreparedCorpus(path_).verify(sum, source, target); };
  EXPECT_NO_THROW(verify(111, 261));  // the highest ids are 110 and 260
  EXPECT_EQ(message_of<Error>([&] { verify(110, 261); }),
            path_.string() +
                ": holds the id 110 of a source piece, where the vocabulary has 110; run nmt-prepro again with "
                "--overwrite");
  EXPECT_THAT(message_of<Error>([&] { verify(111, 260); }), HasSubstr("the id 260 of a target piece"));
  for (size_t offset = sizeof(prepared_corpus_format::Header); offset < good_.size(); ++offset) {
    std::string bytes = good_;
    bytes[offset] ^= 1;
    std::ofstream(path_, std::ios::binary) << bytes;
    EXPECT_THROW(verify(1000, 1000), Error) << offset;
  }
}

// In more than one look at a large file.
TEST_F(DamagedCorpus, IdsOutsideTheVocabularyAreFoundWhereverTheyAre) {
  constexpr int kPieces = 300'000;  // more than a mebibyte
  for (const int place : {0, kPieces / 2, kPieces - 1})
    for (const int32_t id : {-1, 1 << 30}) {
      std::vector<int32_t> ids(kPieces, 5);
      ids[place] = id;
      PreparedCorpusWriter writer(path_);
      writer.add({ids, {}, "", "", 0});
      const auto sum = writer.finish();
      EXPECT_THAT(message_of<Error>([&] { PreparedCorpus(path_).verify(sum, 6, 6); }),
                  HasSubstr(fmt::format("holds the id {} of a source piece", id)));
    }
}

TEST_F(DamagedCorpus, MissingFileIsNamed) {
  EXPECT_THAT(message_of<Error>([&] { PreparedCorpus corpus(folder_ / "none.bin"); }), HasSubstr("none.bin"));
}

}  // namespace
}  // namespace nmt::prepared_corpus_test
