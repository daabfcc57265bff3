#pragma once

#include <span>
#include <string>
#include <vector>

namespace nmt {

/// One comparison of nmt-eval --self-test.
struct SelfCheck {
  std::string name;
  std::string difference;  ///< one line; empty = as expected
};

/// Worked numbers on this machine, with this program as it is installed: attention by hand, position vectors, BLEU and
/// chrF of two sentences, and each kernel set that the processor can run, in each precision, against plain functions of
/// LibTorch in double precision; on a GPU, attention and products there.
std::vector<SelfCheck> self_test();

/// "ok      NAME" or "differs NAME: DIFFERENCE", a line each.
std::string self_test_text(std::span<const SelfCheck> checks);

/// The first number that is further from the expected one than `tolerance` times its size (1 where it is smaller);
/// numbers that are none always are. Empty where there is none.
std::string first_difference(std::span<const double> found, std::span<const double> expected, double tolerance);

}  // namespace nmt
