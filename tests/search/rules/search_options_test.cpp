#include "search/search_options.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "support.h"

namespace nmt::search_options_test {
namespace {

TEST(SearchOptions, AreRefusedByName) {
  const std::vector<std::pair<SearchOptions, std::string>> cases = {
      {{{.beam_size = 0}}, "beam size 0: use 1 (greedy) or more"},
      {{{.beam_size = 2}, 3}, "n-best 3: use 1 to 2, the beam size"},
      {{{}, 0}, "n-best 0: use 1 to 4, the beam size"},
      {{{.length_penalty = -1}}, "length penalty -1: use 0 (none) or more"},
      {{{.length_penalty = NAN}}, "length penalty nan: use 0 (none) or more"},
      {{{.max_length_ratio = -0.5}}, "maximum length ratio -0.5: use 0 or more"},
      {{{.max_length_offset = -1}}, "maximum length offset -1: use 0 or more"},
      {{{.max_length = -1}}, "maximum length -1: use 1 or more, or 0 for none"},
      {{{.max_length_ratio = 0, .max_length_offset = 0}},
       "maximum length: ratio and offset are both 0, which leaves no room for a translation"},
      {{{.min_length = 5, .max_length = 5}},
       "minimum length 5: leaves no room for the end symbol within the maximum length 5"},
      {{{.min_length = -1}}, "minimum length -1: use 0 (none) or more"},
      {{{.coverage_penalty = -1}}, "coverage penalty -1: use 0 (none) or more"},
      {{{.beam_size = 4, .diversity_groups = 3}}, "diversity groups 3: use 1 or a number that divides the beam size 4"},
      {{{.diversity_groups = 0}}, "diversity groups 0: use 1 or a number that divides the beam size 4"},
      {{{.diversity_strength = -0.1}}, "diversity strength -0.1: use 0 or more"},
      {{{.beam_size = 4, .sampling = true}}, "sampling: draws its tokens, it has no beam of 4; use 1"},
      {{{.beam_size = 1, .sampling = true}, 0}, "n-best 0: use 1 sample or more"},
      {{{.beam_size = 1, .coverage_penalty = 0.2, .sampling = true}},
       "coverage penalty: ranks hypotheses, but samples come as they are drawn; use one of them"},
      {{{.beam_size = 1, .sampling = true, .temperature = 0}}, "temperature 0: use more than 0"},
      {{{.beam_size = 1, .sampling = true, .top_k = -1}}, "top-k -1: use 1 or more tokens, or 0 for all"},
      {{{.beam_size = 1, .sampling = true, .top_p = 0}}, "top-p 0: use more than 0 and at most 1 (all)"},
      {{{.beam_size = 1, .sampling = true, .top_p = 1.1}}, "top-p 1.1: use more than 0 and at most 1 (all)"},
      {{{.no_repeat_ngram_size = -2}}, "n-gram size -2: use 0 (off) or more"},
      {{{.repetition_penalty = 0}}, "repetition penalty 0: use more than 0; 1 is none"},
      {{{.alignment_layer = -1}}, "alignment layer -1: use 1 or more, or 0"},
  };
  for (const auto& [options, message] : cases) {
    EXPECT_EQ(test::message_of<Error>([&] { options.validate(); }), message);
  }
}

TEST(SearchOptions, TakeMoreSamplesThanABeamHasHypotheses) {
  EXPECT_NO_THROW((SearchOptions{{.beam_size = 1, .sampling = true}, 7}.validate()));
}

TEST(SearchOptions, MinimumRaisesTheLimitAndMaximumEndsIt) {
  const SearchOptions options{{.max_length_ratio = 1, .max_length_offset = 0, .min_length = 5, .max_length = 9}};
  EXPECT_EQ(options.length_limit(2), 6) << "five tokens and </s>, though 1 * (2 + 1) would be 3";
  EXPECT_EQ(options.length_limit(7), 8);
  EXPECT_EQ(options.length_limit(50), 9);
}

}  // namespace
}  // namespace nmt::search_options_test
