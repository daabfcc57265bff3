#include <gtest/gtest.h>

#include "config/loading/schema.h"
#include "config/option_listing.h"

namespace nmt::json_test {
namespace {

TEST(ConfigJson, IsReadBackAsYaml) {
  Config config;
  config.model.encoder_blocks = 3;
  config.data.train1 = {"a \"quoted\" name.de", "zwölf.de"};
  config.data.train2 = {"b.en", "c.en"};
  config.data.eval1 = "v.de";
  config.data.eval2 = "v.en";
  config.training.lr = 0.1 + 0.2;
  const auto back = parse_config(to_json(config).dump(), "model.json").config;
  EXPECT_TRUE(differences(config, back).empty()) << differences(config, back).front().key;
}

}  // namespace
}  // namespace nmt::json_test
