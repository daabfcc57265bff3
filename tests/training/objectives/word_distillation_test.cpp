#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "models/formula_weights.h"
#include "models/loss.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "support.h"
#include "tensor_support.h"
#include "text/words.h"
#include "training/loop/objectives.h"
#include "training/teacher.h"

namespace nmt::word_distillation_test {
namespace {

using test::expect_close;
using test::formula_model;
using test::message_of;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kVocabulary = 24;

// Of three lengths on both sides: there is padding.
TensorBatch some_pairs() {
  return to_tensors(test::batch_of({{{4, 5, 6, 7}, {8, 9}}, {{10, 11}, {12, 13, 14, 15}}, {{16}, {17}}}), torch::kCPU);
}

std::shared_ptr<TranslationModel> model_of(const std::string& options) {
  return formula_model(test::model_config("num_blocks: 1, num_heads: 2, " + options), kVocabulary, kVocabulary);
}
std::shared_ptr<TranslationModel> teacher() { return model_of("d_model: 24, d_ff: 16, norm: pre, dropout_rate: 0.4"); }

TrainingConfig config_of(const std::string& objective, double weight = 0.4) {
  TrainingConfig config;
  config.objective.assign(objective);
  config.smoothing = 0.1;
  config.word_dropout2 = 0.3;
  config.teacher_weight = weight;
  return config;
}

ForwardContext pass_of_training() { return ForwardContext(3, 1, 0); }

std::vector<torch::Tensor> gradients_of(TranslationModel& model, const torch::Tensor& loss) {
  for (auto& [name, parameter] : named_parameters(model)) parameter.mutable_grad().reset();
  loss.backward();
  std::vector<torch::Tensor> gradients;
  for (const auto& [name, parameter] : named_parameters(model)) gradients.push_back(parameter.grad().clone());
  return gradients;
}

/// Log-probabilities [tokens, vocabulary] of the real target tokens.
torch::Tensor logs_of(TranslationModel& model, const TensorBatch& batch, ForwardContext& pass) {
  const auto real = batch.target_out.flatten().nonzero().squeeze(-1);
  return torch::log_softmax(model.logits(model.forward(batch, pass)).flatten(0, 1).index_select(0, real), -1);
}

// Kim and Rush 2016, sec. 3.1, by whole matrices. The teacher reads the words that the student does not see.
TEST(WordDistillation, FollowsThePaper) {
  const auto batch = some_pairs();
  const auto student = model_of("d_model: 16, d_ff: 32, dropout_rate: 0.3"), its_teacher = teacher();
  auto pass = pass_of_training(), again = pass_of_training();
  auto dropped = batch;
  dropped.target_in = drop_tokens(batch.target_in, 0.3, SpecialIds::kUnknown, pass);
  ASSERT_FALSE(dropped.target_in.equal(batch.target_in));
  const auto p = logs_of(*student, dropped, pass);
  ForwardContext no_dropout;
  const auto t = logs_of(*its_teacher, batch, no_dropout).detach().exp();
  const auto labels = batch.target_out.flatten().masked_select(batch.target_out.flatten() > 0).unsqueeze(-1);
  const auto of_labels = -(0.9 * p.gather(-1, labels).sum() + 0.1 * p.mean(-1).sum());
  const auto expected = 0.6 * of_labels - 0.4 * (t * p).sum();
  const auto expected_gradients = gradients_of(*student, expected);

  const auto sums = make_objective(config_of("distillation"), its_teacher)->loss(*student, batch, again);
  EXPECT_NEAR(sums.loss.item<double>(), expected.item<double>(), 1e-5 * expected.item<double>());
  EXPECT_NEAR(sums.label_loss.item<double>(), -p.gather(-1, labels).sum().item<double>(), 1e-4);
  const auto gradients = gradients_of(*student, sums.loss);
  for (size_t i = 0; i < gradients.size(); ++i)
    expect_close(gradients[i], expected_gradients[i],
                 2e-5 * std::max(1.0, expected_gradients[i].abs().max().item<double>()), std::to_string(i));
  for (const auto& item : named_parameters(*its_teacher)) EXPECT_FALSE(item.second.grad().defined()) << item.first;
}

TEST(WordDistillation, WithoutWeightHasTheBitsOfCrossEntropy) {
  const auto batch = some_pairs();
  const auto student = model_of("d_model: 16, d_ff: 32, dropout_rate: 0.3");
  auto pass = pass_of_training(), again = pass_of_training();
  const auto plain = make_objective(config_of("cross_entropy"))->loss(*student, batch, pass).loss;
  const auto expected = gradients_of(*student, plain);
  const auto found = make_objective(config_of("distillation", 0), teacher())->loss(*student, batch, again).loss;
  EXPECT_TRUE(found.equal(plain));
  const auto gradients = gradients_of(*student, found);
  for (size_t i = 0; i < gradients.size(); ++i) EXPECT_TRUE(gradients[i].equal(expected[i])) << i;
}

TEST(WordDistillation, InBfloat16StaysNearFloat) {
  const auto batch = some_pairs();
  const auto student = model_of("d_model: 16, d_ff: 32, dropout_rate: 0.2"), its_teacher = teacher();
  auto pass = pass_of_training(), again = pass_of_training();
  const auto objective = make_objective(config_of("distillation"), its_teacher);
  const double exact = objective->loss(*student, batch, pass).loss.item<double>();
  student->set_compute_type(torch::kBFloat16);
  its_teacher->set_compute_type(torch::kBFloat16);
  EXPECT_NEAR(objective->loss(*student, batch, again).loss.item<double>() / exact, 1, 0.02);
}

TextCodec codec_of(const std::vector<std::string>& words, TextCodec::Options options = {}) {
  std::string vocabulary = "<PAD>\t9\n<UNK>\t9\n<S>\t9\n</S>\t9\n";
  for (const auto& word : words) vocabulary += word + "\t1\n";
  const auto tokenizer = std::make_shared<WordTokenizer>(vocabulary, "vocabulary", WordLimits());
  return {options, tokenizer, tokenizer};
}

TEST(Teacher, IsAModelOfTheSamePieces) {
  const test::TemporaryDirectory folder;
  const auto directory = folder / "teacher";
  std::filesystem::create_directory(directory);
  Config config;
  config.model = test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, dropout_rate: 0.3");
  const auto model = formula_model(config.model, 6, 6);
  save_model(directory, *model, config, codec_of({"a", "b"}), nlohmann::json::object());

  auto training = config_of("distillation");
  training.teacher = directory.string();
  const auto load = [&](const TextCodec& codec) { return load_teacher(training, codec, torch::kCPU); };
  const auto loaded = load(codec_of({"a", "b"}));
  EXPECT_FALSE(loaded->is_training());
  EXPECT_TRUE(loaded->output_weight().equal(model->output_weight()));
  EXPECT_EQ(message_of<Error>([&] {
              load(codec_of({"a", "c"}));
            }),
            "training.teacher " + directory.string() +
                ": source: entry 5 of the vocabulary is 'b' there and 'c' here, target: entry 5 of the vocabulary is "
                "'b' there and 'c' here; prepare the data with the teacher's vocabulary (data.spm_model1), or name a "
                "teacher of theirs");
  EXPECT_THAT(message_of<Error>([&] {
                load(codec_of({"a", "b"}, {.lowercase = true}));
              }),
              HasSubstr("data.lowercase is false there and true here"));
  training.teacher = (folder / "none").string();
  EXPECT_THAT(message_of<Error>([&] {
                load(codec_of({"a", "b"}));
              }),
              StartsWith("training.teacher " + training.teacher));
  training.objective.assign("cross_entropy");
  EXPECT_EQ(load(codec_of({"a", "c"})), nullptr);
}

}  // namespace
}  // namespace nmt::word_distillation_test
