#include "text/corpus/cleaning.h"

#include <gmock/gmock.h>

namespace nmt::cleaning_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const HeldOutText kNothing;

/// The verdict on one pair by fresh rules.
Verdict verdict(const CleaningOptions& options, std::string_view source, std::string_view target,
                CleaningRules::Lengths lengths, const HeldOutText& held_out = kNothing) {
  CleaningCounts counts;
  const Verdict found = CleaningRules(options, held_out).judge({source, target}, lengths, counts).verdict;
  EXPECT_EQ(counts.read, 1);
  EXPECT_EQ(counts.of(found), 1);
  return found;
}

TEST(CleaningRules, LengthsCountTheEndSymbol) {
  const CleaningOptions options{.maxlen1 = 10, .maxlen2 = 5};
  EXPECT_EQ(verdict(options, "s", "t", {9, 4}), Verdict::kKept);
  EXPECT_EQ(verdict(options, "s", "t", {10, 4}), Verdict::kSourceTooLong);
  EXPECT_EQ(verdict(options, "s", "t", {9, 5}), Verdict::kTargetTooLong);
  EXPECT_EQ(verdict(options, "s", "t", {10, 5}), Verdict::kSourceTooLong);
  EXPECT_EQ(verdict({.source_markers = 0, .maxlen1 = 10}, "s", "t", {10, 9}), Verdict::kKept);
  EXPECT_EQ(verdict({.source_markers = 2, .maxlen1 = 10}, "s", "t", {9, 9}), Verdict::kSourceTooLong);
}

TEST(CleaningRules, RatioIsOfTheLongerToTheShorterSide) {
  const CleaningOptions options{.max_length_ratio = 2};
  EXPECT_EQ(verdict(options, "s", "t", {8, 4}), Verdict::kKept);
  EXPECT_EQ(verdict(options, "s", "t", {4, 8}), Verdict::kKept);
  EXPECT_EQ(verdict(options, "s", "t", {9, 4}), Verdict::kLengthRatio);
  EXPECT_EQ(verdict(options, "s", "t", {4, 9}), Verdict::kLengthRatio);
  EXPECT_EQ(verdict({}, "s", "t", {1, 90}), Verdict::kKept) << "off by default";
}

TEST(CleaningRules, APrefixCountsForTheLengthAndNotForTheRatio) {
  const CleaningOptions options{.maxlen1 = 20, .max_length_ratio = 1.5};
  EXPECT_EQ(verdict(options, "s", "t", {15, 6, 9}), Verdict::kKept);
  EXPECT_EQ(verdict(options, "s", "t", {15, 10, 9}), Verdict::kLengthRatio) << "6 pieces of its own";
  EXPECT_EQ(verdict(options, "s", "t", {20, 11, 9}), Verdict::kSourceTooLong);
}

TEST(CleaningRules, EmptyIsASideWithoutTextOrWithoutPieces) {
  const CleaningOptions keep{.drop_empty = false};
  for (const auto& [source, target] : {std::pair("", "t"), {"s", ""}, {"", ""}}) {
    EXPECT_EQ(verdict({}, source, target, {1, 1}), Verdict::kEmpty);
    EXPECT_EQ(verdict(keep, source, target, {1, 1}), Verdict::kKept);
  }
  EXPECT_EQ(verdict({}, "\xE2\x80\x8B", "t", {0, 1}), Verdict::kEmpty);  // a zero-width space, which NFKC removes
  EXPECT_EQ(verdict(keep, "\xE2\x80\x8B", "t", {0, 1}), Verdict::kKept);
  EXPECT_EQ(verdict({.drop_empty = false, .max_length_ratio = 3}, "", "", {0, 0}), Verdict::kKept);
  EXPECT_EQ(verdict({.drop_empty = false, .max_length_ratio = 3}, "", "t", {0, 1}), Verdict::kLengthRatio);
}

TEST(CleaningRules, CountsDuplicatesAndDropsThemOnlyWhenAsked) {
  for (const bool drop : {false, true}) {
    CleaningRules rules({.drop_duplicates = drop}, kNothing);
    CleaningCounts counts;
    EXPECT_EQ(rules.judge({"a", "b"}, {1, 1}, counts).verdict, Verdict::kKept);
    EXPECT_EQ(rules.judge({"b", "a"}, {1, 1}, counts).verdict, Verdict::kKept) << "the reverse is another pair";
    EXPECT_EQ(rules.judge({"a", "c"}, {1, 1}, counts).verdict, Verdict::kKept) << "another translation";
    EXPECT_EQ(rules.judge({"ab", ""}, {1, 1}, counts).verdict, Verdict::kEmpty);
    EXPECT_EQ(rules.judge({"", "ab"}, {1, 1}, counts).verdict, Verdict::kEmpty);
    EXPECT_EQ(rules.judge({"a", "b"}, {1, 1}, counts).verdict, drop ? Verdict::kDuplicate : Verdict::kKept);
    EXPECT_EQ(counts.duplicates, 1);
    EXPECT_EQ(counts.kept(), drop ? 3 : 4);
  }
}

TEST(CleaningRules, OverlapNeedsBothSidesInHeldOutText) {
  HeldOutText held_out;
  held_out.add("s1", "t1");
  held_out.add("s2", "t2");
  const CleaningOptions drop{.drop_test_overlap = true};
  EXPECT_EQ(verdict(drop, "s1", "t1", {1, 1}, held_out), Verdict::kTestOverlap);
  EXPECT_EQ(verdict(drop, "s1", "t2", {1, 1}, held_out), Verdict::kTestOverlap);
  EXPECT_EQ(verdict(drop, "s1", "other", {1, 1}, held_out), Verdict::kKept);
  EXPECT_EQ(verdict(drop, "t1", "s1", {1, 1}, held_out), Verdict::kKept);
  CleaningCounts counts;
  EXPECT_EQ(CleaningRules({}, held_out).judge({"s1", "t1"}, {1, 1}, counts).verdict, Verdict::kKept);
  EXPECT_EQ(counts.test_overlap, 1);
}

TEST(CleaningRules, WhatIsDroppedForItsLengthIsNeitherDuplicateNorOverlap) {
  HeldOutText held_out;
  held_out.add("a", "b");
  for (const bool drop : {false, true}) {
    CleaningRules rules({.drop_duplicates = drop, .maxlen1 = 10}, held_out);
    CleaningCounts counts;
    EXPECT_EQ(rules.judge({"a", "b"}, {10, 1}, counts).verdict, Verdict::kSourceTooLong);
    EXPECT_EQ(rules.judge({"a", "b"}, {10, 1}, counts).verdict, drop ? Verdict::kDuplicate : Verdict::kSourceTooLong);
    EXPECT_EQ(counts.duplicates, counts.of(Verdict::kDuplicate));
    EXPECT_EQ(counts.test_overlap, 0);
  }
}

TEST(CleaningRules, EveryPairIsCountedOnce) {
  CleaningRules rules({.drop_duplicates = true, .maxlen1 = 3, .max_length_ratio = 2}, kNothing);
  CleaningCounts counts;
  const std::tuple<const char*, const char*, CleaningRules::Lengths> pairs[] = {
      {"a", "b", {1, 1}}, {"", "b", {0, 1}}, {"a", "b", {1, 1}}, {"long", "b", {9, 9}}, {"c", "d", {1, 3}}};
  for (const auto& [source, target, lengths] : pairs) rules.judge({source, target}, lengths, counts);
  EXPECT_EQ(counts.read, 5);
  for (const Verdict v :
       {Verdict::kKept, Verdict::kEmpty, Verdict::kDuplicate, Verdict::kSourceTooLong, Verdict::kLengthRatio}) {
    EXPECT_EQ(counts.of(v), 1) << static_cast<int>(v);
  }
}

TEST(CleaningTable, ShowsEveryReasonAndTheSum) {
  CleaningCounts first;
  first.read = 1200;
  first.verdicts = {1100, 10, 20, 30, 15, 16, 9};  // in Verdict's order
  first.duplicates = 25;
  first.test_overlap = 30;
  first.repaired_lines = 2;
  CleaningCounts second;
  second.read = 5;
  second.verdicts = {5};
  CleaningCounts valid;
  valid.read = 7;
  const std::vector<CleaningRow> rows = {{"größe.de", first, true}, {"b.de", second, true}, {"valid.de", valid, false}};
  const CleaningOptions all{.drop_duplicates = true, .drop_test_overlap = true, .max_length_ratio = 3};
  EXPECT_EQ(
      cleaning_table(rows, all),
      "corpus                  pairs read   kept  empty  source too long  target too long  length ratio  duplicate  in "
      "test set  lines repaired\n"
      "größe.de                     1,200  1,100     10               15               16             9         20     "
      "      30               2\n"
      "b.de                             5      5      0                0                0             0          0     "
      "       0               0\n"
      "training text together       1,205  1,105     10               15               16             9         20     "
      "      30               2\n"
      "valid.de                         7      7      -                -                -             -          -     "
      "       -               0\n");
}

TEST(CleaningTable, MarksWhatIsOffOrOnlyCounted) {
  CleaningCounts counts;
  counts.read = 3;
  counts.verdicts = {3};
  counts.duplicates = 2;
  const auto table = cleaning_table({{"a", counts, true}}, {.drop_empty = false});
  EXPECT_EQ(
      table,
      "corpus  pairs read  kept  empty  source too long  target too long  length ratio  duplicate  in test set  lines "
      "repaired\n"
      "a                3     3    off                0                0           off        (2)            0         "
      "      0\n"
      "(n): found and kept; data.drop_duplicates and data.drop_test_overlap drop them\n");
  EXPECT_THAT(cleaning_table({{"a", {}, true}}, {}), Not(HasSubstr("(n)")));
}

}  // namespace
}  // namespace nmt::cleaning_test
