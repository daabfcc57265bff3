#include "models/model_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "base/error.h"
#include "base/files/file.h"
#include "config/loading/schema.h"
#include "models/formula_weights.h"
#include "models/tiny_batch.h"
#include "support.h"
#include "tensor_support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"

namespace fs = std::filesystem;

namespace nmt::model_directory_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;

std::shared_ptr<const Tokenizer> tokenizer(int64_t size) {
  const auto bytes = train_sentencepiece(test::training_lines(), {.vocab_size = size, .character_coverage = 1.0});
  return std::make_shared<SentencePieceTokenizer>(*bytes, "test");
}

/// A model directory, made once and copied for each test.
class ModelDirectory : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = new TemporaryDirectory;
    const auto config = parse_config(R"({model: {d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, norm: pre},
                                         decoding: {beam_size: 7}, run: {dir: elsewhere}})",
                                     "test")
                            .config;
    const auto both = tokenizer(60);
    const TextCodec codec({.lowercase = true, .source_language = "de", .target_language = "en"}, both, both);
    const auto model = test::formula_model(config.model, both->size(), both->size());
    fs::create_directory(*made_ / "model");
    save_model(*made_ / "model", *model, config, codec, {{"update", 12}, {"bleu", "BLEU = 1"}});
  }
  static void TearDownTestSuite() { delete made_; }

  void SetUp() override { fs::copy(*made_ / "model", directory_, fs::copy_options::recursive); }

  nlohmann::ordered_json description() const {
    return nlohmann::ordered_json::parse(read_file(directory_ / "model.json"));
  }
  void describe(const nlohmann::ordered_json& json) const {
    write_file_atomically(directory_ / "model.json", json.dump());
  }

  static TemporaryDirectory* made_;
  TemporaryDirectory folder_;
  fs::path directory_ = folder_ / "a copy";  // with a blank, in another place
};
TemporaryDirectory* ModelDirectory::made_ = nullptr;

TEST_F(ModelDirectory, HoldsAllThatTranslatingNeeds) {
  for (const auto device : test::devices()) {
    const auto loaded = load_model(directory_, device);
    EXPECT_EQ(loaded.config.model.d_model, 16);
    EXPECT_EQ(loaded.config.model.norm.name(), "pre");
    EXPECT_EQ(loaded.config.decoding.beam_size, 7);
    EXPECT_EQ(loaded.summary["update"], 12);
    EXPECT_EQ(loaded.summary["bleu"], "BLEU = 1");
    EXPECT_TRUE(loaded.codec.options().lowercase);
    EXPECT_EQ(loaded.codec.options().target_language, "en");
    EXPECT_TRUE(loaded.codec.joint());
    EXPECT_EQ(loaded.codec.decode_target(loaded.codec.encode_source("HAUS der")), "haus der");
    EXPECT_FALSE(loaded.model->is_training());

    const auto original = test::formula_model(loaded.config.model, 60, 60);
    const auto expected = named_parameters(*original), found = named_parameters(*loaded.model);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].first, expected[i].first);
      EXPECT_EQ(found[i].second.device(), device);
      EXPECT_TRUE(found[i].second.cpu().equal(expected[i].second)) << found[i].first;
    }
  }
}

TEST_F(ModelDirectory, DescribesItselfInModelJson) {
  const auto json = description();
  EXPECT_EQ(json["format_version"], 1);
  EXPECT_EQ(json["architecture"], "transformer");
  EXPECT_EQ(json["parameters"], load_model(directory_, torch::kCPU).model->parameter_count());
  EXPECT_EQ(json["source_vocabulary"], 60);
  EXPECT_EQ(json["configuration"]["model"]["d_model"], 16);
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(directory_)) files.push_back(entry.path().filename());
  EXPECT_THAT(files, testing::UnorderedElementsAre("model.json", "model.safetensors", "spm.model"));
}

TEST_F(ModelDirectory, MayHaveALexicon) {
  const auto loaded = load_model(directory_, torch::kCPU);
  const auto lexicon_of = [](const std::string& vocabularies, int64_t size) {
    std::vector<int32_t> frequent(size);
    std::iota(frequent.begin(), frequent.end(), 0);
    return Lexicon(std::vector<std::vector<int32_t>>(size, {5, 7}), frequent, 2, vocabularies);
  };
  const auto own = lexicon_of(vocabularies_of(loaded.codec), 60);
  const auto other = folder_ / "with";
  fs::create_directory(other);
  save_model(other, *loaded.model, loaded.config, loaded.codec, nlohmann::json::object(), &own);
  EXPECT_THAT(read_lexicon(other, loaded.codec)->best(9), testing::ElementsAre(5, 7));
  EXPECT_FALSE(load_model(other, torch::kCPU).lexicon) << "is read when it is asked for";

  const auto refused = [&](const fs::path& directory) {
    return message_of<Error>([&] { read_lexicon(directory, loaded.codec); });
  };
  EXPECT_THAT(refused(directory_), testing::AllOf(testing::HasSubstr("shortlist.bin is missing"),
                                                  testing::HasSubstr("set data.shortlist 50, run nmt-prepro")));
  for (const auto& foreign : {lexicon_of(std::string(64, 'a'), 60), lexicon_of(vocabularies_of(loaded.codec), 59)}) {
    foreign.write(other / kLexiconFile);
    EXPECT_THAT(refused(other), testing::HasSubstr("of other vocabularies than the model's"));
  }
  write_file_atomically(other / kLexiconFile, "NMTL");
  EXPECT_THAT(refused(other), testing::HasSubstr("shortlist.bin: cut short"));
}

TEST_F(ModelDirectory, KeepsTwoVocabulariesApart) {
  const auto config = parse_config(
                          "{data: {joint_vocabulary: false}, model: {d_model: 8, d_ff: 8, num_blocks: 1, num_heads: 1, "
                          "tie_embeddings: target}}",
                          "test")
                          .config;
  const auto source = tokenizer(60), target = tokenizer(70);
  const TextCodec codec({}, source, target);
  const auto model = test::formula_model(config.model, 60, 70);
  const auto other = folder_ / "two";
  fs::create_directory(other);
  save_model(other, *model, config, codec, nlohmann::json::object());
  const auto loaded = load_model(other, torch::kCPU);
  EXPECT_EQ(loaded.codec.source().size(), 60);
  EXPECT_EQ(loaded.model->target_vocabulary(), 70);
  EXPECT_FALSE(loaded.codec.joint());
}

TEST_F(ModelDirectory, IsRefusedWhenDamaged) {
  using Json = nlohmann::ordered_json;
  const auto edit = [&](const std::function<void(Json&)>& change) {
    return [this, change] {
      auto json = description();
      change(json);
      describe(json);
    };
  };
  const auto overwrite = [&](const char* name, const std::string& bytes) {
    return [this, name, bytes] { write_file_atomically(directory_ / name, bytes); };
  };
  const auto remove = [&](const char* name) { return [this, name] { fs::remove(directory_ / name); }; };
  const auto cut = [&](const char* name) {
    return [this, name] { fs::resize_file(directory_ / name, fs::file_size(directory_ / name) - 1); };
  };
  const auto flip = [&](const char* name) {
    return [this, name] {
      auto bytes = read_file(directory_ / name);
      bytes[bytes.size() / 2] ^= 1;
      write_file_atomically(directory_ / name, bytes);
    };
  };
  struct Case {
    const char* what;
    std::function<void()> damage;
    const char* message;  // part of it; "DIR" stands for the directory
  };
  const Case cases[] = {
      {"no description", remove("model.json"), "DIR: not a model directory (model.json is missing)"},
      {"empty description", overwrite("model.json", ""), "DIR/model.json: damaged: not JSON (at byte 1)"},
      {"cut description", [this] { fs::resize_file(directory_ / "model.json", 100); },
       "DIR/model.json: damaged: not JSON (at byte "},
      {"description nested too deep",
       overwrite("model.json", "{\"summary\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}"),
       "DIR/model.json: damaged: nested deeper than 32 levels"},
      {"description is a list", overwrite("model.json", "[1]"), "DIR/model.json: damaged: not a JSON object"},
      {"no version", edit([](Json& j) { j.erase("format_version"); }),
       "DIR/model.json: format_version is missing: not a model of this toolkit"},
      {"version is text", edit([](Json& j) { j["format_version"] = "1"; }),
       "DIR/model.json: format_version is missing: not a model of this toolkit"},
      {"newer version", edit([](Json& j) { j["format_version"] = 3; }),
       "DIR/model.json: format version 3 is newer than this program (2); update the toolkit"},
      {"no configuration", edit([](Json& j) { j.erase("configuration"); }),
       "DIR/model.json: damaged: 'configuration' is missing"},
      {"configuration is text", edit([](Json& j) { j["configuration"] = "x"; }),
       "DIR/model.json: damaged: 'configuration' is missing"},
      {"unknown option", edit([](Json& j) { j["configuration"]["model"]["d_modell"] = 1; }), "d_modell"},
      {"option of another type", edit([](Json& j) { j["configuration"]["model"]["d_model"] = "wide"; }), "d_model"},
      {"option out of range", edit([](Json& j) { j["configuration"]["model"]["num_heads"] = -2; }), "num_heads"},
      {"heads that do not divide", edit([](Json& j) { j["configuration"]["model"]["num_heads"] = 5; }), "num_heads"},
      {"unknown architecture", edit([](Json& j) { j["configuration"]["model"]["architecture"] = "rnn"; }),
       "architecture"},
      {"another architecture", edit([](Json& j) { j["architecture"] = "recurrent"; }),
       "DIR/model.json: damaged: 'architecture' is not transformer, which its configuration says"},
      {"no count", edit([](Json& j) { j.erase("parameters"); }), "DIR/model.json: damaged: 'parameters' is no count"},
      {"count is text", edit([](Json& j) { j["target_vocabulary"] = "60"; }),
       "DIR/model.json: damaged: 'target_vocabulary' is no count"},
      {"count of another tokenizer", edit([](Json& j) { j["source_vocabulary"] = 61; }),
       "DIR/model.json: 'source_vocabulary' is 61, but the tokenizer has 60 pieces"},
      {"summary is a list", edit([](Json& j) { j["summary"] = Json::array(); }),
       "DIR/model.json: damaged: 'summary' is no object"},
      {"no tokenizer", edit([](Json& j) { j.erase("tokenizer"); }), "DIR/model.json: damaged: 'tokenizer' is missing"},
      {"unknown tokenizer", edit([](Json& j) { j["tokenizer"]["type"] = "characters"; }),
       "DIR: a tokenizer of type characters"},
      {"tokenizer without files", edit([](Json& j) { j["tokenizer"].erase("files"); }), "\"files\""},
      {"no vocabulary", remove("spm.model"), "DIR/spm.model"},
      {"cut vocabulary", cut("spm.model"), "DIR/spm.model: damaged"},
      {"changed vocabulary", flip("spm.model"), "DIR/spm.model: damaged"},
      {"no weights", remove("model.safetensors"), "DIR/model.safetensors"},
      {"cut weights", cut("model.safetensors"), "DIR/model.safetensors: damaged"},
      {"empty weights", overwrite("model.safetensors", ""), "DIR/model.safetensors: damaged"},
      {"weights of a wider model", edit([](Json& j) { j["configuration"]["model"]["d_ff"] = 64; }),
       "DIR/model.safetensors: tensor encoder_0.feed_forward.inner.weight is F32 [32, 16], the configuration needs F32 "
       "[64, 16]"},
      {"weights of a far smaller model", edit([](Json& j) {
         auto& model = j["configuration"]["model"];
         model["d_model"] = model["d_ff"] = 65536;
       }),
       "DIR/model.json: describes far more weights than the "},
      {"weights of far fewer blocks", edit([](Json& j) {
         auto& model = j["configuration"]["model"];
         model["d_ff"] = 65536;
         model["num_blocks"] = 1000;
       }),
       "DIR/model.json: describes far more weights than the "},
      {"weights of a shallower model", edit([](Json& j) { j["configuration"]["model"]["num_blocks"] = 2; }),
       "DIR/model.safetensors: tensor encoder_1.self_attention.query.weight is missing"},
      {"weights of another norm", edit([](Json& j) { j["configuration"]["model"]["norm"] = "post"; }),
       "DIR/model.safetensors: tensor decoder_norm.bias belongs to no part of this model"},
      {"weights are a folder",
       [this] {
         fs::remove(directory_ / "model.safetensors");
         fs::create_directory(directory_ / "model.safetensors");
       },
       "DIR/model.safetensors"},
  };
  for (const auto& c : cases) {
    fs::remove_all(directory_);
    fs::copy(*made_ / "model", directory_, fs::copy_options::recursive);
    c.damage();
    std::string expected = c.message;
    if (expected.starts_with("DIR")) expected.replace(0, 3, directory_.string());
    const auto message = message_of<Error>([&] { load_model(directory_, torch::kCPU); });
    EXPECT_THAT(message, testing::HasSubstr(expected)) << c.what;
    EXPECT_EQ(message.find('\n'), std::string::npos) << c.what << ": one line";
  }
}

TEST_F(ModelDirectory, IsReportedWhenItIsNoFolder) {
  EXPECT_EQ(message_of<Error>([&] { load_model(folder_ / "none", torch::kCPU); }),
            (folder_ / "none").string() + ": no such model directory");
  EXPECT_EQ(message_of<Error>([&] { load_model(directory_ / "model.json", torch::kCPU); }),
            (directory_ / "model.json").string() +
                ": is a file, not a model directory; a model directory has model.json and model.safetensors in it, as "
                "`best` of a run's folder");
}

TEST_F(ModelDirectory, OfARunIsNamed) {
  const auto run = folder_ / "run";
  fs::create_directory(run);
  fs::create_directory_symlink(directory_, run / "best");
  EXPECT_EQ(message_of<Error>([&] { load_model(run, torch::kCPU); }),
            run.string() + ": is the folder of a run; name its model, " + (run / "best").string());
  EXPECT_THAT(message_of<Error>([&] { load_model("", torch::kCPU); }),
              testing::StartsWith("the name of a model directory is empty; a model directory has "));
}

}  // namespace
}  // namespace nmt::model_directory_test
