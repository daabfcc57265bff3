#include "server/models/service_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>

#include "base/error.h"
#include "support.h"

namespace nmt::service_config_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ServiceConfigTest : public testing::Test {
 protected:
  ServiceConfig read(const std::string& yaml) {
    std::ofstream(folder_ / "service.yaml") << yaml;
    return read_service_config(folder_ / "service.yaml");
  }
  std::string refusal(const std::string& yaml) {
    try {
      read(yaml);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  test::TemporaryDirectory folder_;
};

TEST_F(ServiceConfigTest, ReadsModels) {
  const auto config = read(R"(
memory: 1.5 GB
pivots: [en, de]
aliases: {no: nb}
models:
  - directory: de-en
  - directory: [one, /two]
    weights: [2, 0.5]
    source: en
    target: nb
    prefix: ">>nb<< "
    decoding: {beam_size: 2, precision: int8}
)");
  EXPECT_EQ(config.memory, 1'500'000'000);
  EXPECT_THAT(config.pivots, ElementsAre("en", "de"));
  EXPECT_EQ(config.aliases.at("no"), "nb");
  ASSERT_EQ(config.models.size(), 2u);
  EXPECT_THAT(config.models[0].directories, ElementsAre(folder_ / "de-en")) << "beside the file";
  EXPECT_EQ(config.models[0].source, "");
  EXPECT_EQ(config.models[0].changed(Config()).decoding.beam_size, Config().decoding.beam_size);
  const auto& second = config.models[1];
  EXPECT_THAT(second.directories, ElementsAre(folder_ / "one", "/two"));
  EXPECT_THAT(second.weights, ElementsAre(2, 0.5));
  EXPECT_EQ(second.source + second.target, "ennb");
  EXPECT_EQ(second.source_prefix, ">>nb<< ");
  EXPECT_EQ(second.changed(Config()).decoding.beam_size, 2);
}

TEST_F(ServiceConfigTest, ReadsMemoryAsNmtTrainDoes) {
  for (const auto& [text, bytes] : {std::pair{"1 KB", int64_t{1000}},
                                    {"512 MiB", int64_t{512} << 20},
                                    {"1 TB", int64_t{1'000'000'000'000}},
                                    {"7B", 7},
                                    {"4000000000", 4'000'000'000},
                                    {"0", 0}})
    EXPECT_EQ(read(std::string("models: [{directory: a}]\nmemory: ") + text).memory, bytes) << text;
}

TEST_F(ServiceConfigTest, KnowsThePlaces) {
  const auto config = read("models:\n- directory: a\n- directory: b\nmemory: 1 GB\npivots: [en]\naliases:\n  no: nb\n");
  const auto at = [&](const std::string& line) { return (folder_ / "service.yaml").string() + ":" + line + ": "; };
  EXPECT_EQ(config.models[1].place, at("3"));
  EXPECT_EQ(config.place("memory"), at("4: memory"));
  EXPECT_EQ(config.place("pivots en"), at("5: pivots"));
  EXPECT_EQ(config.place("aliases no"), at("7: aliases"));
  EXPECT_EQ(config.place("aliases nn"), "");
}

TEST_F(ServiceConfigTest, SaysWhereAGlossaryWasReadFrom) {
  std::ofstream(folder_ / "terms") << "Ja\tYes\n";
  const auto config = read("models:\n- {directory: a, glossary: terms}\n- directory: b\n");
  EXPECT_TRUE(config.models[0].glossary);
  EXPECT_EQ(config.models[0].glossary_file, folder_ / "terms") << "beside the file";
  EXPECT_FALSE(config.models[1].glossary);
  EXPECT_EQ(config.models[1].glossary_file, "");
}

TEST_F(ServiceConfigTest, ReadsTheAdapterOfAModel) {
  const auto config = read("models:\n- {directory: a, adapter: law.safetensors, target: en-law}\n- directory: a\n");
  EXPECT_EQ(config.models[0].adapter, folder_ / "law.safetensors") << "beside the file";
  EXPECT_EQ(config.models[1].adapter, "");
}

TEST_F(ServiceConfigTest, SaysWhatIsWrongAndWhere) {
  for (const auto& [yaml, says] : {
           std::pair{"", "names and values were expected"},
           {"models: []", ":1: models: a list of models was expected"},
           {"memory: 1\n", "models: a list of models was expected"},
           {"models: [{directory: a}]\nmodel: 1", ":2: model: no such setting of a service"},
           {"models: [{directory: a}]\nmemory: lots",
            ":2: memory 'lots': give a number and a unit (B, kB, MB, GB, TB, KiB"},
           {"models: [{directory: a}]\nmemory: -1 GB", ":2: memory '-1 GB': give a number"},
           {"models: [{directory: a}]\nmemory: 4.5", ":2: memory '4.5': give a number and a unit"},
           {"models: [{directory: a}]\nmemory: -4", ":2: memory '-4': give a number and a unit"},
           {"models: [{directory: a}]\nmemory: 1e300 GB", ":2: memory '1e300 GB': "},
           {"models:\n- source: de", ":2: a model without a directory"},
           {"models:\n- directory: a\n  beam_size: 2", ":3: beam_size: no such setting of a model"},
           {"models:\n- directory: a\n  decoding: {beam: 2}", ":3: beam: no such option of decoding"},
           {"models:\n- directory: a\n  decoding: {beam_size: 0}", ":3: decoding.beam_size: "},
           {"models:\n- directory: [a, b]\n  adapter: c", ":3: adapter: is of one model, and this is an ensemble"},
           {"models:\n- directory: a\n  weights: [1, 2]", ":3: weights: 2 for 1 folders"},
           {"models:\n- directory: a\n  weights: [0]", ":3: weights: must be more than 0"},
           {"models:\n- directory: a\n  weights: [2]", ":3: weights: are of an ensemble"},
           {"models:\n- directory: a\n  source: 5", ":3: source: 5 is no code of a language"},
           {"models: [{directory: a}]\naliases: {no: 5}", ":2: aliases: 5 is no code of a language"},
           {"models: [{directory: a}]\naliases:\n  no: nb\n  NO: nn", ":4: aliases: NO stands twice"},
           {"models: [{directory: a}]\naliases: {[a]: de}", ":2: aliases: a text was expected"},
           {"models: [{directory: a}]\naliases: {'': de}", ":2: aliases: a text was expected"},
           {"models: [{directory: a}]\naliases: {auto: de}", ":2: aliases: auto is what clients write"},
           {"models: [{directory: a}]\naliases: {Auto: de}", ":2: aliases: Auto is what clients write"},
           {"models:\n- directory: a\n  prefix: ''", ":3: prefix: a text was expected"},
           {"models:\n- directory: a\n  directory: b", ":3: directory stands twice"},
           {"models: [{directory: a}]\naliases: [no]", ":2: aliases: "},
           {"models: [", "not YAML"},
       })
    EXPECT_THAT(refusal(yaml), testing::AllOf(HasSubstr("service.yaml"), HasSubstr(says))) << yaml;
  EXPECT_THROW(read_service_config(folder_ / "nowhere.yaml"), Error);
}

}  // namespace
}  // namespace nmt::service_config_test
