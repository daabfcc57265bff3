// Initial weights keep their bits: those of every preset and of every form, for two seeds.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/linalg_qr.h>
#include <gmock/gmock.h>
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <vector>

#include "base/files/file.h"
#include "config/loading/schema.h"
#include "models/formula_weights.h"
#include "models/model_directory.h"
#include "models/recurrent/recurrent_forms.h"
#include "models/transformer/transformer_forms.h"
#include "support.h"

namespace nmt::initial_weights_test {
namespace {

constexpr std::array<uint64_t, 2> kSeeds = {1, 20260731};

// Name -> one hash a seed.
using Hashes = std::map<std::string, std::array<std::string, kSeeds.size()>>;

const Hashes& golden_hashes() {
  static const Hashes kHashes = [] {
    Hashes hashes;
    std::istringstream lines(read_file(test::source_directory() / "tests/models/golden/initial_weights.tsv"));
    for (std::string name; lines >> name;) lines >> hashes[name][0] >> hashes[name][1];
    return hashes;
  }();
  return kHashes;
}

void add(Sha256& sum, const torch::Tensor& values) {
  const auto whole = values.detach().contiguous();
  sum.add({static_cast<const char*>(whole.const_data_ptr()), whole.nbytes()});
}

std::string hash_of_weights(const ModelConfig& config, int64_t vocabulary, uint64_t seed) {
  const auto model = make_model(config, vocabulary, vocabulary);
  initialise(*model, config, seed);
  Sha256 sum;
  for (const auto& parameter : model->parameters()) add(sum, parameter);
  return sum.hex();
}

// LibTorch's QR decomposition has other bits with another number of threads.
class InitialWeights : public testing::Test {
 protected:
  InitialWeights() { at::set_num_threads(1); }
  ~InitialWeights() override { at::set_num_threads(threads_); }

 private:
  int threads_ = at::get_num_threads();
};

// What LibTorch itself makes of a seed. Normal numbers and decompositions have other bits on other kinds of processors
// or in another version of LibTorch; then the hashes of what is made of them say nothing.
std::string hash_of_normal_numbers(uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  Sha256 sum;
  add(sum, torch::empty({100, 7}).uniform_(-1, 1, generator));
  add(sum, torch::empty({100, 7}).normal_(0, 1, generator));
  return sum.hex();
}

std::string hash_of_decompositions(uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  Sha256 sum;
  add(sum, torch::empty({100, 7}).uniform_(-1, 1, generator));
  add(sum, torch::empty({100, 7}).normal_(0, 1, generator));
  for (const int64_t size : {12, 64, 125}) {
    const auto [q, r] = at::linalg_qr(torch::empty({size, size}, torch::kFloat64).normal_(0, 1, generator));
    add(sum, q);
    add(sum, r);
  }
  return sum.hex();
}

void expect_golden(const std::string& name, const std::function<std::string(uint64_t)>& hash_of_seed) {
  std::array<std::string, kSeeds.size()> hashes;
  std::ranges::transform(kSeeds, hashes.begin(), hash_of_seed);
  const auto golden = golden_hashes().find(name);
  EXPECT_TRUE(golden != golden_hashes().end() && golden->second == hashes)
      << "these are the weights of tests/models/golden/initial_weights.tsv no more; now:\n"
      << name << "\t" << hashes[0] << "\t" << hashes[1];
}

bool are_golden(const std::string& name, std::string (*hash_of_seed)(uint64_t)) {
  const auto golden = golden_hashes().find(name);
  if (golden != golden_hashes().end()) return golden->second[0] == hash_of_seed(kSeeds[0]);
  expect_golden(name, hash_of_seed);
  return true;
}

/// The configurations whose random numbers have the golden bits here; the others at least have a row.
std::map<std::string, ModelConfig> comparable(const std::map<std::string, ModelConfig>& configs) {
  const bool normal = are_golden("normal_numbers", hash_of_normal_numbers);
  const bool decomposed = are_golden("random_numbers", hash_of_decompositions);
  std::map<std::string, ModelConfig> found;
  for (const auto& [name, config] : configs) {
    EXPECT_TRUE(golden_hashes().contains(name)) << name;
    const bool decomposes =
        config.architecture == Architecture::kRecurrent && config.recurrent_init == RecurrentInit::kOrthogonal;
    if (decomposes ? decomposed : normal) found.emplace(name, config);
  }
  return found;
}

// An eighth of the sizes: what is drawn from which distribution, and in which order, is the same, in a hundredth of the
// time.
ModelConfig narrow(ModelConfig config) {
  for (auto* size : {&config.d_model, &config.d_ff, &config.embedding_size, &config.encoder_size,
                     &config.attention_size, &config.readout_size})
    *size /= 8;
  return config;
}

TEST_F(InitialWeights, OfPresetsHaveTheSameBits) {
  std::map<std::string, ModelConfig> presets;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_directory() / "configs"))
    if (entry.path().extension() == ".yaml")
      presets[entry.path().stem()] = narrow(load_config(entry.path()).config.model);
  const auto compared = comparable(presets);
  for (const auto& [name, config] : compared)
    expect_golden(name, [&](uint64_t seed) { return hash_of_weights(config, 1000, seed); });
  if (compared.empty()) GTEST_SKIP() << "LibTorch's random numbers have other bits here";
}

// The forms of the tests of models, and every option of initial weights.
std::map<std::string, ModelConfig> forms_of_tests() {
  std::map<std::string, ModelConfig> forms;
  for (const auto& [name, config] : test::transformer_forms()) forms["transformer." + name] = config;
  for (const auto& [name, options] : test::recurrent_forms()) forms["recurrent." + name] = test::recurrent_form(name);
  const std::string small = "d_model: 16, d_ff: 24, num_heads: 2, ";
  const std::string many = small + "num_blocks: 3, ";
  for (const char* positions : {"learned", "shaw", "t5", "deberta", "transformer_xl", "recurrent"}) {
    const std::string of_positions = std::string("max_positions: 40, positions: ") + positions;
    forms[std::string("depth_scaled.") + positions] =
        test::model_config(many + "deep_init: depth_scaled, activation: swiglu, " + of_positions);
    forms[std::string("deepnet.") + positions] = test::model_config(
        many + "deep_init: deepnet, encoder_blocks: 5, decoder_mixer: average, position_init: xavier, " + of_positions);
    forms[std::string("normal.") + positions] = test::model_config(
        small + "num_blocks: 1, init: normal, init_std: 0.3, embedding_init: standard_normal, position_init: " +
        "standard_normal, tie_embeddings: none, " + of_positions);
  }
  for (const char* score : {"additive", "general", "dot"})
    forms[std::string("deepnet.") + score] =
        test::model_config(many + "deep_init: deepnet, decoder_mixer: ssru, attention_score: " + score);
  for (const char* positions : {"learned", "recurrent"})
    forms[std::string("fan_in.") + positions] =
        test::model_config(small + "num_blocks: 1, init: fan_in, bias_init: fan_in, embedding_init: standard_normal, " +
                           "output_bias: true, tie_embeddings: none, max_positions: 40, positions: " + positions);
  for (const auto& name : {"bahdanau", "luong", "local_additive"}) {
    auto config = test::recurrent_form(name);
    config.init = MatrixInit::kFanIn;
    config.bias_init = BiasInit::kFanIn;
    config.recurrent_init = RecurrentInit::kFanIn;
    config.embedding_init = EmbeddingInit::kStandardNormal;
    forms[std::string("fan_in.") + name] = config;
    config.init = MatrixInit::kUniform;
    config.bias_init = BiasInit::kUniform;
    config.recurrent_init = RecurrentInit::kUniform;
    config.embedding_init = EmbeddingInit::kInit;
    forms[std::string("uniform.") + name] = config;
  }
  for (const auto& name : {"bahdanau", "luong", "coverage", "local", "location"}) {
    auto config = test::recurrent_form(name);
    config.attention_init = AttentionInit::kBahdanau;
    config.recurrent_init = RecurrentInit::kOrthogonal;
    config.embedding_init = EmbeddingInit::kInit;
    forms[std::string("bahdanau_init.") + name] = config;
    config.init = MatrixInit::kNormal;
    config.recurrent_init = RecurrentInit::kXavier;
    config.zero_padding_embedding = false;
    forms[std::string("normal.") + name] = config;
    config.attention_init = AttentionInit::kInit;
    config.recurrent_init = RecurrentInit::kNormal;
    config.embedding_init = EmbeddingInit::kNormal;
    forms[std::string("normal_recurrent.") + name] = config;
  }
  return forms;
}

TEST_F(InitialWeights, OfFormsHaveTheSameBits) {
  const auto compared = comparable(forms_of_tests());
  for (const auto& [name, config] : compared)
    expect_golden(name, [&](uint64_t seed) { return hash_of_weights(config, 50, seed); });
  if (compared.empty()) GTEST_SKIP() << "LibTorch's random numbers have other bits here";
}

// While it lives, memory that nobody has written to is NaN.
class UnwrittenMemoryIsNan {
 public:
  UnwrittenMemoryIsNan() { at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true); }
  ~UnwrittenMemoryIsNan() { at::globalContext().setDeterministicAlgorithms(false, false); }
};

std::vector<std::string> parameters_without_value(const torch::nn::Module& module) {
  std::vector<std::string> names;
  for (const auto& item : module.named_parameters())
    if (item.value().isnan().any().item<bool>()) names.push_back(item.key());
  return names;
}

TEST_F(InitialWeights, AreGivenToEveryParameter) {
  const UnwrittenMemoryIsNan guard;
  for (const auto& [name, config] : forms_of_tests()) {
    const auto model = make_model(config, 50, 50);
    EXPECT_THAT(parameters_without_value(*model), testing::Not(testing::IsEmpty())) << name;
    initialise(*model, config, 1);
    EXPECT_THAT(parameters_without_value(*model), testing::IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace nmt::initial_weights_test
