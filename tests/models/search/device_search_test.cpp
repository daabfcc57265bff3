// The search whose state stays on the device, by its plain operations on the CPU, against search() with the same model.
#include "models/search/device_search.h"

#include <gtest/gtest.h>

#include <map>
#include <stop_token>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "models/formula_weights.h"
#include "models/search/device_model.h"
#include "models/transformer/transformer_forms.h"
#include "search/list_search.h"
#include "search/reference_search.h"
#include "support.h"

namespace nmt::device_search_test {
namespace {

using Results = std::vector<std::vector<Hypothesis>>;

constexpr int64_t kVocabulary = 37;  // no multiple of 16
constexpr const char* kSmall = "d_model: 16, d_ff: 24, num_blocks: 2, num_heads: 2, output_bias: true";

std::vector<SearchInput> inputs(int64_t count) {
  CounterRandom random({7, 78});
  std::vector<SearchInput> all(count);
  for (auto& input : all) {
    std::vector<int32_t> source(random.below(15));
    for (auto& id : source) id = static_cast<int32_t>(4 + random.below(kVocabulary - 4));
    input.sources = {source};
  }
  return all;
}

class DeviceSearchOf {
 public:
  explicit DeviceSearchOf(const std::string& options)
      : model_(test::formula_model(test::model_config(options), kVocabulary, kVocabulary)),
        only_{.model = model_.get()},
        own_(only_, weights_of(*model_), plain_search_operations()) {}

  TranslationModel& model() { return *model_; }
  Results by_itself(std::span<const SearchInput> sentences, const SearchOptions& options, int64_t batch_size) {
    const c10::NoGradGuard no_gradients;
    ListQueue<SearchInput, std::vector<Hypothesis>> queue(sentences);
    DeviceModel searched({&only_, 1}, own_);
    EXPECT_TRUE(searched.search_by_itself(queue, batch_size, options));
    Results results;
    for (auto& found : queue.results()) results.push_back(std::move(found.value()));
    return results;
  }
  Results as_always(std::span<const SearchInput> sentences, const SearchOptions& options) {
    const c10::NoGradGuard no_gradients;
    return search({&only_, 1}, sentences, options);
  }
  DeviceSearch& own() { return own_; }

 private:
  // By formula no sentence would end.
  static std::shared_ptr<const SearchWeights> weights_of(TranslationModel& model) {
    const c10::NoGradGuard no_gradients;
    if (auto* bias = model.named_parameters().find("output_bias")) bias->index_fill_(0, torch::tensor({3}), 2.0);
    return search_weights(model, 64);
  }

  std::shared_ptr<TranslationModel> model_;
  SearchModel only_;
  DeviceSearch own_;
};

void expect_same(const Results& found, const Results& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(i);
    test::expect_equal(found[i], expected[i], 1e-4);
    for (size_t k = 0; k < found[i].size(); ++k)
      EXPECT_EQ(found[i][k].token_log_probabilities.size(), expected[i][k].token_log_probabilities.size());
  }
}

SearchOptions bounded(SearchOptions options) {
  options.max_length_ratio = 1;
  options.max_length_offset = 6;
  return options;
}

std::map<std::string, SearchOptions> options_of_searches() {
  const auto simple = LengthPenalty::kSimple;
  return {
      {"greedy", bounded({{.beam_size = 1}})},
      {"usual", bounded({{.beam_size = 4}})},
      {"five", bounded({{.beam_size = 5}, 5})},
      {"without_penalty", bounded({{.beam_size = 4, .length_penalty = 0}, 2})},
      {"simple", bounded({{.beam_size = 4, .length_penalty = 1.5, .length_penalty_form = simple}, 4})},
      {"optimal", bounded({{.beam_size = 3, .length_penalty = 1, .stopping = Stopping::kOptimal}, 2})},
      {"first", bounded({{.beam_size = 5, .stopping = Stopping::kFirst}, 3})},
      {"eight", bounded({{.beam_size = 8, .stopping = Stopping::kOptimal}, 8})},
      {"short", bounded({{.beam_size = 4, .max_length = 2}, 4})},
  };
}

// Batches of a few sentences, which others take the places of, and of so many that the last ones are moved together.
TEST(DeviceSearch, FindsWhatTheSearchFinds) {
  DeviceSearchOf model(kSmall);
  const auto sentences = inputs(30);
  int64_t finished = 0, cut = 0;
  for (const auto& [name, options] : options_of_searches()) {
    SCOPED_TRACE(name);
    const auto expected = model.as_always(sentences, options);
    for (const auto& found : expected) (found.front().finished ? finished : cut) += 1;
    for (const int64_t batch_size : {3, 20}) expect_same(model.by_itself(sentences, options, batch_size), expected);
  }
  EXPECT_GT(finished, 20);
  EXPECT_GT(cut, 20);
}

TEST(DeviceSearch, FindsWhatTheReferenceFinds) {
  DeviceSearchOf model(kSmall);
  const auto sentences = inputs(6);
  for (const auto& name : {"usual", "five", "first"}) {
    const auto options = options_of_searches().at(name);
    const auto found = model.by_itself(sentences, options, 4);
    for (size_t i = 0; i < sentences.size(); ++i)
      test::expect_equal(found[i], test::reference_beam_search(test::logits_of(model.model()), sentences[i], options),
                         1e-4);
  }
}

TEST(DeviceSearch, KnowsTheFormsOfATransformer) {
  for (const std::string form : {"norm: pre",
                                 "norm: pre, norm_form: rms, positions: learned, max_positions: 40, "
                                 "tie_embeddings: none",
                                 "sinusoid: half_split, attention_bias: false, tie_embeddings: "
                                 "target, encoder_blocks: 1, decoder_blocks: 3"}) {
    SCOPED_TRACE(form);
    DeviceSearchOf model(kSmall + (", " + form));
    const auto sentences = inputs(12);
    const auto options = bounded({{.beam_size = 4}, 3});
    expect_same(model.by_itself(sentences, options, 5), model.as_always(sentences, options));
  }
}

TEST(DeviceSearch, LeavesOtherFormsToTheSearch) {
  const std::map<std::string, bool> known = {{"vaswani", true}, {"half_split", true}};
  for (const auto& [name, config] : test::transformer_forms()) {
    const auto model = test::formula_model(config, kVocabulary, kVocabulary);
    EXPECT_EQ(search_weights(*model, 64) != nullptr, known.contains(name)) << name;
  }
  for (const std::string other : {"attention_output_projection: false", "qkv_activation: relu", "key_value_heads: 1",
                                  "norm: pre, final_norm: false", "deep_init: deepnet", "positions: none"}) {
    const auto model = test::formula_model(test::model_config(kSmall + (", " + other)), kVocabulary, kVocabulary);
    EXPECT_EQ(search_weights(*model, 64), nullptr) << other;
  }
}

TEST(DeviceSearch, LeavesOtherRulesToTheSearch) {
  EXPECT_TRUE(DeviceSearch::supports({}));
  const std::vector<SearchOptions> others = {
      {{.beam_size = 9}},
      {{.beam_size = 1, .sampling = true}},
      {{.diversity_groups = 2}},
      {{.coverage_penalty = 0.1}},
      {{.min_length = 1}},
      {{.no_repeat_ngram_size = 2}},
      {{.repetition_penalty = 2}},
      {{.ban_unknown = true}},
      {{}, 1, {{4}}},
      {{}, 1, {}, true},
      {{}, 1, {}, false, {nullptr}},
  };
  for (size_t i = 0; i < others.size(); ++i) EXPECT_FALSE(DeviceSearch::supports(others[i])) << i;
}

// Among others, in the batch of others; the last one is too long.
TEST(DeviceSearch, LeavesSentencesThatAskForMoreToTheSearch) {
  DeviceSearchOf model(kSmall);
  auto sentences = inputs(12);
  sentences[1].prefix = {5, 6};
  sentences[2].must_appear = {{9}};
  sentences[4].banned = {{4}, {5}, {6}};
  sentences[5].no_repeat_ngram_size = 1;
  sentences[6].distinct = true;
  sentences[8].attention = true;
  sentences[9].n_best = 1;
  sentences[11].sources.front().assign(200, 8);
  const auto options = bounded({{.beam_size = 3}, 2});
  const auto found = model.by_itself(sentences, options, 5);
  expect_same(found, model.as_always(sentences, options));
  EXPECT_FALSE(found[8].front().attention.empty());
  EXPECT_EQ(found[9].size(), 1);
}

/// A queue that has nothing for a while, and then the rest.
class PausingQueue final : public SearchQueue {
 public:
  PausingQueue(std::span<const SearchInput> inputs, int64_t at_first)
      : inputs_(inputs), left_(at_first), found(inputs.size()) {}
  std::vector<Handle> take(int64_t count) override {
    std::vector<Handle> taken;
    if (++asked_ == 3) left_ = std::ssize(inputs_);
    for (; std::ssize(taken) < count && left_ > 0 && next_ < inputs_.size(); ++next_, --left_)
      taken.emplace_back(inputs_[next_], std::stop_token(),
                         [this, place = next_](auto result) { found[place] = std::move(result.value()); });
    return taken;
  }
  bool wait() override { return next_ < inputs_.size(); }

 private:
  std::span<const SearchInput> inputs_;
  size_t next_ = 0;
  int64_t left_;
  int asked_ = 0;

 public:
  Results found;
};

// The first ones are moved together when the short ones are done, and others take the places that these had.
TEST(DeviceSearch, SentencesJoinThoseThatWereMoved) {
  const c10::NoGradGuard no_gradients;
  DeviceSearchOf model(kSmall);
  auto sentences = inputs(32);
  for (size_t i = 0; i < sentences.size(); ++i) sentences[i].sources.front().resize(i % 2 == 0 ? 1 : 30, 7);
  const auto options = bounded({{.beam_size = 4, .length_penalty = 0, .stopping = Stopping::kOptimal}, 4});
  PausingQueue queue(sentences, 20);
  model.own().search(queue, 20, options, [](SearchQueue&) { FAIL(); });
  expect_same(queue.found, model.as_always(sentences, options));
}

/// Sentences of which one is cancelled when the search asks whether to stop.
class CancellingQueue final : public SearchQueue {
 public:
  explicit CancellingQueue(std::span<const SearchInput> inputs) : inputs_(inputs), found(inputs.size()) {}
  std::vector<Handle> take(int64_t count) override {
    std::vector<Handle> taken;
    for (; std::ssize(taken) < count && next_ < inputs_.size(); ++next_)
      taken.emplace_back(inputs_[next_], next_ == 1 ? stop_.get_token() : std::stop_token(),
                         [this, place = next_](auto result) { found[place] = std::move(result); });
    return taken;
  }
  bool stopped() override {
    if (++asked_ == 2) stop_.request_stop();
    return false;
  }

 private:
  std::span<const SearchInput> inputs_;
  std::stop_source stop_;
  size_t next_ = 0;
  int asked_ = 0;

 public:
  std::vector<std::optional<std::vector<Hypothesis>>> found;
};

TEST(DeviceSearch, DropsWhatIsCancelled) {
  const c10::NoGradGuard no_gradients;
  DeviceSearchOf model(kSmall);
  auto sentences = inputs(3);
  for (auto& sentence : sentences) sentence.sources.front().assign(12, 9);
  const auto options = bounded({{.beam_size = 2, .stopping = Stopping::kOptimal}});
  CancellingQueue queue(sentences);
  model.own().search(queue, 3, options, [](SearchQueue&) { FAIL(); });
  EXPECT_FALSE(queue.found[1]);
  const auto expected = model.as_always(sentences, options);
  for (const size_t i : {0, 2}) test::expect_equal(queue.found[i].value(), expected[i], 1e-4);
}

TEST(DeviceSearch, SaysWhereWeightsAreDamaged) {
  const c10::NoGradGuard no_gradients;
  DeviceSearchOf model(kSmall);
  model.model().named_parameters()["decoder_1.feed_forward.outer.bias"].fill_(std::nanf(""));
  const auto sentences = inputs(3);
  const auto expected = test::message_of<Error>([&] { model.as_always(sentences, {}); });
  EXPECT_EQ(test::message_of<Error>([&] { model.by_itself(sentences, {}, 3); }), expected);
}

}  // namespace
}  // namespace nmt::device_search_test
