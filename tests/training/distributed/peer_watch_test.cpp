#include <gtest/gtest.h>

#include "training/distributed/process_group.h"

namespace nmt::peer_watch_test {
namespace {

constexpr double kTimeout = 10;

// A watch at rank `rank` of three that hears from all but `silent` every second until `end`; then what it says.
std::optional<std::string> after_silence(int64_t rank, int64_t silent, double end) {
  PeerWatch watch(rank, 3, kTimeout, 0);
  std::optional<std::string> line;
  for (double now = 0; now <= end && !line; now += 0.5) {
    for (int64_t peer = 0; peer < 3; ++peer)
      if (peer != silent) watch.heard(peer, LifeSign::kAtWork, now);
    line = watch.lost(now);
  }
  return line;
}

TEST(PeerWatch, NamesTheOneThatIsSilent) {
  EXPECT_FALSE(after_silence(0, 2, 10));
  EXPECT_EQ(
      after_silence(0, 2, 11),
      "rank 2 has not answered for 10 s (run.process_timeout): it is dead, stopped or cut off; started again, the "
      "run resumes from its last checkpoint");
  EXPECT_FALSE(after_silence(0, -1, 100)) << "nobody is silent";
}

TEST(PeerWatch, OneSpeaksFirst) {
  EXPECT_FALSE(after_silence(1, 2, 11)) << "rank 0 speaks";
  EXPECT_TRUE(after_silence(1, 2, 12)) << "rank 0 has not ended it";
  EXPECT_TRUE(after_silence(1, 0, 11)) << "rank 1 is the first of the others";
}

TEST(PeerWatch, AFailedOneMaySpeakForItself) {
  for (const auto& [sign, text] : {std::pair(LifeSign::kFailed, "has ended with an error"),
                                   std::pair(LifeSign::kHung, "made no progress in an update for 10 s")}) {
    PeerWatch watch(0, 2, kTimeout, 0);
    watch.heard(1, LifeSign::kAtWork, 0);
    watch.heard(1, sign, 1);
    EXPECT_FALSE(watch.lost(2));
    watch.heard(1, sign, 5);  // said again: it counts from the first time
    EXPECT_FALSE(watch.lost(5));
    const auto line = watch.lost(6.5);
    ASSERT_TRUE(line) << text;
    EXPECT_NE(line->find(std::string("rank 1 ") + text), std::string::npos) << *line;
  }
}

TEST(PeerWatch, OneThatIsDoneMayBeSilent) {
  PeerWatch watch(0, 2, kTimeout, 0);
  EXPECT_FALSE(watch.all_done());
  watch.heard(1, LifeSign::kDone, 1);
  for (double now = 1; now < 100; ++now) EXPECT_FALSE(watch.lost(now));
  EXPECT_TRUE(watch.all_done());
}

TEST(PeerWatch, AProcessThatWasStoppedItselfBlamesNobody) {
  PeerWatch watch(0, 2, kTimeout, 0);
  watch.heard(1, LifeSign::kAtWork, 4);
  EXPECT_FALSE(watch.lost(4));
  EXPECT_FALSE(watch.lost(100)) << "it did not look for 96 seconds";
  EXPECT_FALSE(watch.lost(104));
  EXPECT_FALSE(watch.lost(108));
  EXPECT_TRUE(watch.lost(111)) << "from then on the other one is silent";
}

TEST(PeerWatch, SpeaksOftenEnough) {
  EXPECT_EQ(PeerWatch(0, 2, 45, 0).interval(), 1);
  EXPECT_EQ(PeerWatch(0, 2, 2, 0).interval(), 0.2);
}

TEST(OwnProgress, HangsOnlyWhereProgressIsExpected) {
  OwnProgress progress;
  progress.show(0);
  EXPECT_FALSE(progress.hung(100, kTimeout)) << "a validation may take long";
  progress.expect(true, 100);
  EXPECT_FALSE(progress.hung(109, kTimeout));
  EXPECT_TRUE(progress.hung(111, kTimeout));
  progress.show(111);
  EXPECT_FALSE(progress.hung(120, kTimeout));
  progress.wait(true, 120);
  EXPECT_FALSE(progress.hung(200, kTimeout)) << "it waits for the others";
  progress.wait(false, 200);
  EXPECT_FALSE(progress.hung(209, kTimeout));
  EXPECT_TRUE(progress.hung(211, kTimeout));
  progress.expect(false, 211);
  EXPECT_FALSE(progress.hung(300, kTimeout));
}

}  // namespace
}  // namespace nmt::peer_watch_test
