#include "base/files/mapped_file.h"

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt::mapped_file_test {
namespace {

using test::message_of;

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, ShowsTheBytes) {
  const test::TemporaryDirectory folder;
  for (const auto& bytes : {std::string("a\0b\n", 4), std::string(4096, 'x'), std::string(10001, 'y')}) {
    write_file_atomically(folder / "bytes", bytes);
    EXPECT_EQ(text_of(MappedFile(folder / "bytes")), bytes);
  }
}

TEST(MappedFile, OfNothingIsEmpty) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "empty", "");
  EXPECT_TRUE(MappedFile(folder / "empty").bytes().empty());
}

TEST(MappedFile, KeepsTheOldBytesWhenTheFileIsReplaced) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "bytes", "old");
  const MappedFile file(folder / "bytes");
  write_file_atomically(folder / "bytes", "new bytes");
  EXPECT_EQ(text_of(file), "old");
}

TEST(MappedFile, KeepsWhatIsWrittenToACopyToItself) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "bytes", "as it was");
  const MappedFile file(folder / "bytes", MappedFile::Access::kCopyOnWrite);
  const_cast<std::byte&>(file.bytes()[0]) = std::byte{'X'};
  EXPECT_EQ(text_of(file), "Xs it was");
  EXPECT_EQ(read_file(folder / "bytes"), "as it was");
  file.release_pages();
  EXPECT_EQ(text_of(file), "as it was") << "read again";
}

TEST(MappedFile, SaysWhatItCannotOpen) {
  const test::TemporaryDirectory folder;
  EXPECT_EQ(message_of<Error>([&] { MappedFile(folder / "none"); }),
            (folder / "none").string() + ": cannot read (No such file or directory)");
  EXPECT_EQ(message_of<Error>([&] { MappedFile{folder.path()}; }),
            folder.path().string() + ": is a folder; name a file");
  EXPECT_EQ(message_of<Error>([] { MappedFile("/dev/null"); }), "/dev/null: is not a regular file; name one");
}

}  // namespace
}  // namespace nmt::mapped_file_test
