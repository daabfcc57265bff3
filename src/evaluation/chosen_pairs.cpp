#include "evaluation/chosen_pairs.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/process/log.h"
#include "text/codec/codec.h"

namespace nmt {
namespace {

/// The lines of these numbers.
std::vector<std::string> lines_of(std::vector<std::string>& lines, const std::vector<size_t>& numbers) {
  std::vector<std::string> chosen;
  for (const size_t number : numbers) chosen.push_back(std::move(lines[number]));
  return chosen;
}

}  // namespace

PairChoice pair_choice(const Config& config) {
  return {.only_within_maxlen = config.evaluation.only_within_maxlen,
          .maxlen1 = config.data.maxlen1,
          .maxlen2 = config.data.maxlen2,
          .whole_batches = config.evaluation.whole_batches,
          .batch_size = config.decoding.batch_size};
}

TestSet chosen_pairs(TestSet test_set, const TextCodec& codec, const PairChoice& choice) {
  const auto all = test_set.sources.size();
  std::vector<size_t> numbers;
  for (size_t i = 0; i < all; ++i) {
    if (choice.only_within_maxlen) {
      const int64_t source =
          source_length(std::ssize(codec.encode_source(test_set.sources[i])), codec.options().source_markers);
      const int64_t target = std::ssize(codec.encode_target(test_set.references.front()[i])) + 1;
      if (source > choice.maxlen1 || target > choice.maxlen2) continue;
    }
    numbers.push_back(i);
  }
  if (numbers.empty())
    throw Error(fmt::format("evaluation.only_within_maxlen: no pair of {} is within data.maxlen1 {} and maxlen2 {}",
                            test_set.source_file.string(), choice.maxlen1, choice.maxlen2));
  if (choice.whole_batches) {
    const auto batch = static_cast<size_t>(choice.batch_size);
    if (numbers.size() < batch)
      throw Error(
          fmt::format("evaluation.whole_batches: {} pairs do not fill one batch of {}; lower "
                      "decoding.batch_size",
                      numbers.size(), batch));
    numbers.resize(numbers.size() / batch * batch);
  }
  test_set.left_out += static_cast<int64_t>(all - numbers.size());
  if (numbers.size() == all) return test_set;
  test_set.sources = lines_of(test_set.sources, numbers);
  for (auto& references : test_set.references) references = lines_of(references, numbers);
  return test_set;
}

std::vector<TestSet> chosen_pairs(std::vector<TestSet> test_sets, const TextCodec& codec, const PairChoice& choice,
                                  Logger& log) {
  for (auto& test_set : test_sets) {
    test_set = chosen_pairs(std::move(test_set), codec, choice);
    if (test_set.left_out > 0)
      log.warn("{}: {} of {} pairs are evaluated (evaluation.only_within_maxlen, evaluation.whole_batches)",
               test_set.source_file.string(), with_commas(std::ssize(test_set.sources)),
               with_commas(std::ssize(test_set.sources) + test_set.left_out));
  }
  return test_sets;
}

}  // namespace nmt
