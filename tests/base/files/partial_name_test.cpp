#include "base/files/partial_name.h"

#include <sys/stat.h>

#include <cerrno>
#include <set>

#include "support.h"

namespace nmt::partial_name_test {
namespace {

TEST(PartialName, IsAnotherEachTimeAndNamesItsPlace) {
  std::set<std::filesystem::path> names;
  for (int i = 0; i < 100; ++i) names.insert(partial_name("/a/b.txt"));
  EXPECT_EQ(names.size(), 100u);
  for (const auto& name : names) EXPECT_EQ(place_of_partial(name), "/a/b.txt") << name;
}

TEST(PartialName, KnowsOthersApart) {
  for (const char* name : {"/a/b.partial", "/a/b.abcde.partial", "/a/b.ABCDEF.partial", "/a/b.abcde1.partial",
                           "/a/.abcdef.partial", "/a/babcdef.partial", "/a/b.abcdef.partial2", ".partial", ""})
    EXPECT_EQ(place_of_partial(name), std::nullopt) << name;
}

TEST(PartialName, APathInAFolderInTheMakingIsShownAsItWillBe) {
  EXPECT_EQ(path_in_place("/runs/best.abc234.partial/new/model.json"), "/runs/best/model.json");
  EXPECT_EQ(path_in_place("a/b.partial/new/c"), "a/b.partial/new/c") << "somebody's own name";
  EXPECT_EQ(path_in_place("/runs/new/x"), "/runs/new/x");
}

TEST(PartialName, TakesNothingThatStandsThere) {
  const test::TemporaryDirectory folder;
  const auto first = make_partial_folder(folder / "x"), second = make_partial_folder(folder / "x");
  EXPECT_NE(first, second);
  struct stat status;
  ASSERT_EQ(::stat(first.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  const auto file = make_partial_file(folder / "x", 0600);
  EXPECT_GE(file.descriptor.number(), 0);
  EXPECT_TRUE(std::filesystem::is_regular_file(file.path));
  EXPECT_EQ(make_partial_folder(folder / "none/x"), "");
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(make_partial_file(folder / "none/x", 0600).descriptor.number(), -1);
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace nmt::partial_name_test
