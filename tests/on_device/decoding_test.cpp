// Searches on a device that is not the host find what they find on the CPU, and a step waits for the device once: for
// its tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "models/formula_weights.h"
#include "models/model_checks.h"
#include "nn/device/recorded_graph.h"
#include "on_device/device_under_test.h"
#include "on_device/tiny_presets.h"
#include "search/list_search.h"

namespace nmt::on_device_decoding_test {
namespace {

using test::formula_model;
using test::kPresetVocabulary;
using test::Order;
using test::set_usual_order;
using ::testing::Each;
using ::testing::HasSubstr;

/// Counts the steps of a search.
class CountedModel final : public TranslationModel {
 public:
  explicit CountedModel(std::shared_ptr<TranslationModel> inner) : inner_(register_module("inner", std::move(inner))) {}
  torch::Tensor forward(const TensorBatch& batch, ForwardContext& pass) override {
    return inner_->forward(batch, pass);
  }
  torch::Tensor output_weight() const override { return inner_->output_weight(); }
  torch::Tensor output_bias() const override { return inner_->output_bias(); }
  torch::Tensor encoder_output(const torch::Tensor& source, const torch::Tensor& lengths) override {
    return inner_->encoder_output(source, lengths);
  }
  std::unique_ptr<DecoderState> start(const torch::Tensor& source, const torch::Tensor& lengths) override {
    return inner_->start(source, lengths);
  }
  torch::Tensor step(DecoderState& state, const torch::Tensor& tokens, StepLogits which) override {
    ++steps;
    return inner_->step(state, tokens, which);
  }
  DecodingCapabilities capabilities() const override { return inner_->capabilities(); }
  int64_t target_vocabulary() const override { return inner_->target_vocabulary(); }
  LengthLimits limits() const override { return inner_->limits(); }
  void finish_gradients() override { inner_->finish_gradients(); }
  void set_compute_type(at::ScalarType type) override { inner_->set_compute_type(type); }
  at::ScalarType compute_type() const override { return inner_->compute_type(); }
  void set_cache_form(CacheForm form) override { inner_->set_cache_form(form); }

  int64_t steps = 0;

 private:
  std::shared_ptr<TranslationModel> inner_;
};

constexpr const char* kTransformer = "d_model: 16, d_ff: 24, num_blocks: 2, num_heads: 2, dropout_rate: 0";
constexpr const char* kRecurrent =
    "architecture: recurrent, d_model: 16, num_blocks: 1, dropout_rate: 0, attention_score: additive, tie_embeddings: "
    "none";

struct Case {
  const char* name;
  SearchOptions options;
  std::function<void(SearchInput&)> change = {};
  int64_t waits = 1;  ///< that a step may make
};

std::vector<Case> cases() {
  const SearchOptions greedy{{.beam_size = 1}}, beam{{.beam_size = 4}, 3};
  auto sampling = greedy;
  sampling.sampling = true;
  sampling.temperature = 0.8;
  sampling.top_k = 6;
  sampling.seed = 3;
  sampling.n_best = 3;
  auto diverse = beam;
  diverse.diversity_groups = 2;
  auto ruled = beam;
  ruled.no_repeat_ngram_size = 2;
  ruled.repetition_penalty = 1.3;
  ruled.ban_unknown = true;
  ruled.min_length = 3;
  ruled.banned = {{7}, {8, 9}};
  return {
      {"greedy", greedy},
      {"beam", beam},
      {"sampling", sampling},
      {"diverse", diverse},
      {"rules", ruled},
      {"prefix", beam,
       [](SearchInput& input) {
         input.prefix = {5, 6};
       },
       2},
      {"phrases", beam,
       [](SearchInput& input) {
         input.must_appear = {{9, 4}, {11}};
       },
       2},
      {"candidates", beam, [](SearchInput& input) { input.candidates = {4, 5, 6, 7, 11, 13}; }, 4},
  };
}

std::vector<SearchInput> inputs(const Case& one, size_t members) {
  std::vector<SearchInput> all;
  for (const auto& [source, target] : test::preset_pairs(4, 8)) {
    SearchInput input;
    for (size_t i = 0; i < members; ++i) input.sources.emplace_back(source.begin(), source.end());
    input.number = std::ssize(all);
    if (one.change) one.change(input);
    all.push_back(input);
  }
  return all;
}

void expect_same(const std::vector<std::vector<Hypothesis>>& here, const std::vector<std::vector<Hypothesis>>& there) {
  ASSERT_EQ(here.size(), there.size());
  for (size_t i = 0; i < here.size(); ++i) {
    ASSERT_EQ(here[i].size(), there[i].size()) << i;
    for (size_t k = 0; k < here[i].size(); ++k) {
      EXPECT_EQ(here[i][k].ids, there[i][k].ids) << i << " " << k;
      EXPECT_NEAR(here[i][k].log_probability, there[i][k].log_probability, 1e-4) << i << " " << k;
    }
  }
}

#ifndef NMT_TESTS_OF_CUDA
/// The simulated device's counterpart of CUDA graphs.
class SimulatedRecorder final : public GraphRecorder {
 public:
  void record(int64_t number, const std::function<void()>& work) override {
    auto& graph = graphs_[number];
    graph.begin();
    try {
      work();
    } catch (...) {
      graph.end();
      throw;
    }
    graph.end();
  }
  void replay(int64_t number) override { graphs_.at(number).replay(); }

 private:
  std::map<int64_t, simulated::Graph> graphs_;
};
#endif

class OnDeviceDecoding : public test::DeviceTest {
 protected:
  OnDeviceDecoding() { set_usual_order(Order::kLate); }
  ~OnDeviceDecoding() override { set_graph_recorder(torch::kPrivateUse1, nullptr); }

  std::shared_ptr<CountedModel> model(const char* options, torch::Device device) const {
    auto counted = std::make_shared<CountedModel>(
        formula_model(test::model_config(options), kPresetVocabulary, kPresetVocabulary, device));
    counted->eval();
    return counted;
  }

  void expect_searches_as_on_the_cpu(const std::vector<const char*>& members, CacheForm form) {
    const torch::NoGradGuard no_grad;
    std::vector<std::shared_ptr<CountedModel>> kept;
    const auto models = [&](torch::Device device) {
      std::vector<SearchModel> all;
      for (const char* options : members) {
        kept.push_back(model(options, device));
        if (!device.is_cpu() && form == CacheForm::kStatic) kept.back()->set_cache_form(form);
        all.push_back({.model = kept.back().get()});
      }
      return all;
    };
    const auto here = models(torch::kCPU), there = models(device_);
    for (const auto& one : cases()) {
      SCOPED_TRACE(one.name);
      const auto wanted = inputs(one, members.size());
      const auto expected = search(here, wanted, one.options);
      kept.back()->steps = 0;
#ifndef NMT_TESTS_OF_CUDA
      simulated::reset_counts();
#endif
      const auto found = search(there, wanted, one.options);
      expect_same(expected, found);
#ifndef NMT_TESTS_OF_CUDA
      const auto& waits = simulated::counts().synchronisations;
      EXPECT_LE(std::ssize(waits), kept.back()->steps * one.waits)
          << testing::PrintToString(std::set<std::string>(waits.begin(), waits.end()));
      EXPECT_THAT(waits, Each(HasSubstr("a copy to the host"))) << "nothing but results";
#endif
    }
  }
};

TEST_F(OnDeviceDecoding, Transformer) { expect_searches_as_on_the_cpu({kTransformer}, CacheForm::kCpu); }

TEST_F(OnDeviceDecoding, TransformerInStaticSteps) {
  expect_searches_as_on_the_cpu({kTransformer}, CacheForm::kStatic);
}

TEST_F(OnDeviceDecoding, TransformerInRecordedSteps) {
#ifndef NMT_TESTS_OF_CUDA
  set_graph_recorder(torch::kPrivateUse1, [](torch::Device) { return std::make_unique<SimulatedRecorder>(); });
#endif
  for (const char* more : {"", ", positions: learned, norm: pre"}) {
    SCOPED_TRACE(more);
    expect_searches_as_on_the_cpu({(std::string(kTransformer) + more).c_str()}, CacheForm::kStatic);
#ifndef NMT_TESTS_OF_CUDA
    EXPECT_GT(simulated::counts().replays, 0);
#endif
  }
}

TEST_F(OnDeviceDecoding, Recurrent) { expect_searches_as_on_the_cpu({kRecurrent}, CacheForm::kCpu); }

TEST_F(OnDeviceDecoding, Ensemble) { expect_searches_as_on_the_cpu({kTransformer, kRecurrent}, CacheForm::kCpu); }

TEST_F(OnDeviceDecoding, EveryPresetStepsAsItsFullPass) {
  for (const auto& name : test::presets()) {
    SCOPED_TRACE(name);
    const auto config = test::tiny_preset(name);
    const auto model = formula_model(config.model, kPresetVocabulary, kPresetVocabulary, device_);
    test::expect_steps_of_the_full_pass(*model, test::preset_pairs(3, 4), device_, 2e-4);
    const torch::NoGradGuard no_grad;
    const auto batch = to_tensors(test::batch_of(test::preset_pairs(3, 4)), torch::kCPU);
    const auto on_device = to_tensors(test::batch_of(test::preset_pairs(3, 4)), device_);
    const auto host = formula_model(config.model, kPresetVocabulary, kPresetVocabulary);
    test::expect_close(test::real_rows(test::full_logits(*model, on_device).cpu(), batch),
                       test::real_rows(test::full_logits(*host, batch), batch), 1e-4);
  }
}

}  // namespace
}  // namespace nmt::on_device_decoding_test
