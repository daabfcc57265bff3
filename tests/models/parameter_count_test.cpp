// The sizes of the published models, each from its preset.
#include <gtest/gtest.h>

#include "config/loading/schema.h"
#include "models/interface/model.h"
#include "models/model_directory.h"
#include "support.h"

namespace nmt::parameter_count_test {
namespace {

struct Published {
  const char* preset;
  int64_t source_vocabulary, target_vocabulary, parameters;
};

class ParameterCount : public testing::TestWithParam<Published> {};

TEST_P(ParameterCount, IsThePublishedOne) {
  const auto& published = GetParam();
  const auto path = test::source_directory() / "configs" / (std::string(published.preset) + ".yaml");
  const auto model =
      make_model(load_config(path).config.model, published.source_vocabulary, published.target_vocabulary);
  EXPECT_EQ(model->parameter_count(), published.parameters);
}

INSTANTIATE_TEST_SUITE_P(Presets, ParameterCount,
                         testing::Values(Published{"kyubyong2019_iwslt16", 32000, 32000, 55'794'688},
                                         Published{"vaswani_base", 37000, 37000, 63'082'496},
                                         Published{"vaswani_big", 37000, 37000, 214'245'376},
                                         Published{"kyubyong2017_iwslt16", 9796, 8767, 53'422'655},
                                         Published{"prenorm_small", 8000, 8000, 41'691'136},
                                         Published{"multi30k_trevett", 7853, 5893, 9'038'341}),
                         [](const auto& info) { return std::string(info.param.preset); });

}  // namespace
}  // namespace nmt::parameter_count_test
