#include <gtest/gtest.h>

#include "training/update_profiler.h"

namespace nmt::operation_classes_test {
namespace {

TEST(OperationClasses, GoByTheNamesOfTraces) {
  const std::pair<const char*, const char*> names[] = {
      {"aten::mm", "matrix products"},
      {"aten::addmm", "matrix products"},
      {"AddmmBackward0", "matrix products"},
      {"MmBackward0", "matrix products"},
      {"aten::bmm", "matrix products"},
      {"nmt::attention", "attention"},
      {"nmt::attention_backward", "attention"},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", "attention"},
      {"aten::native_layer_norm", "normalisation"},
      {"NativeLayerNormBackward0", "normalisation"},
      {"aten::_thnn_fused_gru_cell", "recurrent cells"},
      {"aten::_log_softmax", "softmax and loss"},
      {"aten::nll_loss_forward", "softmax and loss"},
      {"aten::embedding_dense_backward", "embeddings"},
      {"nmt::dropout", "dropout"},
      {"nmt::relu_dropout", "dropout"},
      {"aten::copy_", "copies"},
      {"aten::_to_copy", "copies"},
      {"aten::index_select", "copies"},
      {"aten::sum", "reductions"},
      {"aten::add_", "element-wise"},
      {"MulBackward0", "element-wise"},
      {"aten::zero_", "element-wise"},
      {"nmt::rotate", "element-wise"},
      {"aten::view", "other"},
      {"aten::empty", "other"},
      {"autograd::engine::evaluate_function: AddmmBackward0", "other"},
  };
  for (const auto& [name, expected] : names) EXPECT_EQ(operation_class(name), expected) << name;
}

TEST(OperationClasses, SumTheCostsOfTheirOperations) {
  const std::vector<OperationCost> costs{
      {"aten::mm", 3, 50}, {"aten::add_", 2, 70}, {"aten::addmm", 1, 30}, {"aten::view", 9, 5}};
  const auto classes = class_costs(costs);
  ASSERT_EQ(classes.size(), 3u);
  EXPECT_EQ(classes[0].name, "matrix products");
  EXPECT_EQ(classes[0].calls, 4);
  EXPECT_EQ(classes[0].own, 80);
  EXPECT_EQ(classes[1].name, "element-wise");
  EXPECT_EQ(classes[1].own, 70);
  EXPECT_EQ(classes[2].name, "other");
  EXPECT_EQ(classes[2].own, 5);
}

}  // namespace
}  // namespace nmt::operation_classes_test
