#include <string>
#include <vector>

#include "config/rules/consistency.h"
#include "support.h"

namespace nmt::changed_decoding_test {

DecodingConfig sampling_model() {
  DecodingConfig decoding;
  decoding.beam_size = 1;
  decoding.sampling = true;
  decoding.temperature = 2;
  decoding.top_k = 5;
  decoding.top_p = 0.9;
  decoding.seed = 7;
  return decoding;
}

DecodingConfig followed(DecodingConfig decoding, std::vector<std::string> changed) {
  follow_changes(decoding, changed);
  Config config;
  config.decoding = decoding;
  check_consistency(config, "test");
  return decoding;
}

TEST(ChangedDecoding, SamplesAreDrawnWithoutABeam) {
  DecodingConfig decoding;
  decoding.beam_size = 5;
  decoding.sampling = true;
  EXPECT_EQ(followed(decoding, {"sampling"}).beam_size, 1);
  EXPECT_ANY_THROW(followed(decoding, {"sampling", "beam_size"}));  // was typed
}

TEST(ChangedDecoding, WhatAModelSaysOfSamplingGoesWithIt) {
  DecodingConfig decoding = sampling_model();
  decoding.sampling = false;
  const DecodingConfig usual = followed(decoding, {"sampling"});
  EXPECT_EQ(usual.temperature, 1);
  EXPECT_EQ(usual.top_k, 0);
  EXPECT_EQ(usual.top_p, 1);
  EXPECT_EQ(usual.seed, DecodingConfig().seed);
  EXPECT_ANY_THROW(followed(decoding, {"sampling", "seed"}));
}

TEST(ChangedDecoding, NothingElseIsTouched) {
  const DecodingConfig drawn = followed(sampling_model(), {"top_k"});
  EXPECT_EQ(drawn.temperature, 2);
  EXPECT_EQ(drawn.seed, 7);
  DecodingConfig diverse;
  diverse.beam_size = 4;
  diverse.diversity_groups = 1;
  diverse.diversity_strength = 0.2;
  EXPECT_EQ(followed(diverse, {"diversity_groups"}).diversity_strength, DecodingConfig().diversity_strength);
  EXPECT_ANY_THROW(followed(diverse, {}));  // a model that contradicts itself stays as it is
  DecodingConfig candidates;
  candidates.shortlist_frequent = 7;
  EXPECT_EQ(followed(candidates, {"shortlist"}).shortlist_frequent, DecodingConfig().shortlist_frequent);
}

}  // namespace nmt::changed_decoding_test
