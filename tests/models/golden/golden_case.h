#pragma once

#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "config/loading/schema.h"
#include "models/formula_weights.h"
#include "models/tiny_batch.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::test {

constexpr const char* kGoldenCases[] = {
    "kyubyong2019",      "kyubyong2017",        "vaswani2017",
    "pre_norm",          "prenorm_small",       "learned_positions_small",
    "bahdanau_gru",      "luong_lstm",          "bahdanau2015",
    "rnn_cosine",        "rnn_plain",           "rnn_multi30k",
    "luong2015_general", "rnn_attention_small",
};

/// One file of make_golden.py or make_recurrent_golden.py, independent programs.
struct GoldenCase {
  explicit GoldenCase(const std::string& name) {
    const auto path = source_directory() / "tests/models/golden" / (name + ".json");
    json = nlohmann::json::parse(read_file(path));
    config = parse_config(json["configuration"].dump(), path.string()).config;
  }

  std::shared_ptr<TranslationModel> model(torch::Device device) const {
    return formula_model(config.model, json["source_vocabulary"], json["target_vocabulary"], device);
  }

  const nlohmann::json& update(size_t number) const { return json["updates"][number - 1]; }
  Batch batch(size_t number) const { return batch_of(update(number)["pairs"].get<std::vector<Pair>>()); }

  /// Compares the stored elements of tensors of these names; all names must agree.
  void expect_tensors(const nlohmann::json& expected, const std::vector<std::pair<std::string, torch::Tensor>>& actual,
                      double tolerance, const std::string& what) const {
    ASSERT_EQ(expected.size(), actual.size()) << what;
    for (const auto& [name, tensor] : actual) {
      ASSERT_TRUE(expected.contains(name)) << what << " " << name;
      const auto values = torch::tensor(expected[name].get<std::vector<double>>(), torch::kFloat64);
      const int64_t stride = tensor.numel() > json["whole"].get<int64_t>() ? json["stride"].get<int64_t>() : 1;
      const auto stored = tensor.detach().cpu().to(torch::kFloat64).flatten().slice(0, 0, std::nullopt, stride);
      expect_close(stored, values, tolerance, what + " " + name);
    }
  }

  nlohmann::json json;
  Config config;
};

}  // namespace nmt::test
