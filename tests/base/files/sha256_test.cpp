#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt::sha256_test {
namespace {

// The examples of FIPS 180-2, appendix B, and the empty message.
TEST(Sha256, GivesTheSumsOfTheStandard) {
  EXPECT_EQ(sha256_of_bytes(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of_bytes("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_of_bytes(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfPartsIsTheSumOfTheWhole) {
  Sha256 sum;
  for (const char c : std::string_view("abc")) sum.add({&c, 1});
  sum.add("");
  EXPECT_EQ(sum.hex(), sha256_of_bytes("abc"));
}

TEST(Sha256, OfAFileIsTheSumOfItsBytes) {
  const test::TemporaryDirectory folder;
  for (const size_t size : {0, 1, 1 << 20, (1 << 20) + 1, 3000000}) {
    const std::string bytes(size, '\0');
    write_file_atomically(folder / "bytes", bytes);
    EXPECT_EQ(sha256_of_file(folder / "bytes"), sha256_of_bytes(bytes)) << size;
  }
}

TEST(Sha256, NamesTheMissingFile) {
  EXPECT_EQ(test::message_of<Error>([] { sha256_of_file("/no/such"); }),
            "/no/such: cannot read (No such file or directory)");
}

}  // namespace
}  // namespace nmt::sha256_test
