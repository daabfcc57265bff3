#include "training/packed/kernel_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace nmt {
namespace {

// Nobody reads where a kernel is told that there is nothing, but each of its addresses has to be valid.
const void* address(const torch::Tensor& x, const torch::Tensor& otherwise) {
  return x.defined() ? x.const_data_ptr() : otherwise.const_data_ptr();
}
const void* address(const torch::Tensor& x) { return x.const_data_ptr(); }

int32_t number(int64_t n) { return static_cast<int32_t>(n); }
float real(double x) { return static_cast<float>(x); }

std::string attention_kernel(const char* direction, int64_t head, int64_t tile) {
  return fmt::format("attention_{}_{}_{}", direction, head, tile);
}

}  // namespace

void KernelOperations::launch(const std::string& name, std::array<int64_t, 2> grid,
                              const std::vector<Argument>& arguments) {
  if (grid[0] == 0 || grid[1] == 0) return;
  const auto* kernel = kernels_.find(name);
  if (!kernel) throw std::invalid_argument(fmt::format("{}: no such kernel", name));
  std::vector<KernelArgument> in_order;
  for (const auto& parameter : kernel->parameters) {
    const auto found = std::ranges::find(arguments, std::string_view(parameter.name),
                                         [](const auto& argument) { return std::string_view(argument.first); });
    if (found == arguments.end()) throw std::invalid_argument(fmt::format("{}: {} is not given", name, parameter.name));
    in_order.push_back(found->second);
  }
  if (in_order.size() != arguments.size())
    throw std::invalid_argument(fmt::format("{}: {} arguments, not {}", name, arguments.size(), in_order.size()));
  kernels_.launch(name, {static_cast<unsigned>(grid[0]), static_cast<unsigned>(grid[1]), 1}, in_order);
}

int64_t KernelOperations::programs(const std::string& name, const char* constant, int64_t count) const {
  const int64_t each = kernels_.find(name)->constants.at(constant);
  return (count + each - 1) / each;
}

int64_t KernelOperations::largest_tile(int64_t head) const {
  for (const int64_t tile : {128, 64})
    if (kernels_.find(attention_kernel("forward", head, tile)) &&
        kernels_.find(attention_kernel("backward", head, tile)))
      return tile;
  return 0;
}

void KernelOperations::attention_forward(const PackedAttention& task, const AttentionTiles& tiles,
                                         const torch::Tensor& out) {
  const int64_t head = task.q.size(1) / task.heads;
  launch(attention_kernel("forward", head, tiles.size), {task.heads, tiles.tiles.size(0)},
         {{"q_ptr", address(task.q)},
          {"k_ptr", address(task.k)},
          {"v_ptr", address(task.v)},
          {"out_ptr", address(out)},
          {"tiles", address(tiles.tiles)},
          {"query_segments", address(task.query_segments)},
          {"key_segments", address(task.key_segments)},
          {"q_stride", number(task.q.stride(0))},
          {"kv_stride", number(task.k.stride(0))},
          {"out_stride", number(out.stride(0))},
          {"scale", real(1 / std::sqrt(static_cast<double>(head)))},
          {"causal", number(task.causal ? 1 : 0)},
          {"p", real(task.dropout.p)},
          {"key_ptr", address(task.dropout.key)},
          {"site", task.dropout.site}});
}

void KernelOperations::attention_backward(const PackedAttention& task, const AttentionTiles& tiles,
                                          const torch::Tensor& dout, const torch::Tensor& dq, const torch::Tensor& dk,
                                          const torch::Tensor& dv) {
  const int64_t head = task.q.size(1) / task.heads;
  launch(attention_kernel("backward", head, tiles.size), {task.heads, tiles.tiles.size(0)},
         {{"q_ptr", address(task.q)},
          {"k_ptr", address(task.k)},
          {"v_ptr", address(task.v)},
          {"dout_ptr", address(dout)},
          {"dq_ptr", address(dq)},
          {"dk_ptr", address(dk)},
          {"dv_ptr", address(dv)},
          {"tiles", address(tiles.tiles)},
          {"query_segments", address(task.query_segments)},
          {"key_segments", address(task.key_segments)},
          {"q_stride", number(task.q.stride(0))},
          {"kv_stride", number(task.k.stride(0))},
          {"out_stride", number(dout.stride(0))},
          {"dq_stride", number(dq.stride(0))},
          {"dkv_stride", number(dk.stride(0))},
          {"scale", real(1 / std::sqrt(static_cast<double>(head)))},
          {"causal", number(task.causal ? 1 : 0)},
          {"p", real(task.dropout.p)},
          {"key_ptr", address(task.dropout.key)},
          {"site", task.dropout.site}});
}

void KernelOperations::rotate(const torch::Tensor& x, const torch::Tensor& angles, const torch::Tensor& positions,
                              int64_t columns, double direction) {
  const int64_t head = angles.size(1);
  const auto name = fmt::format("rotate_{}", head);
  launch(name, {programs(name, "ROWS", x.size(0)), columns / head},
         {{"x_ptr", address(x)},
          {"angles_ptr", address(angles)},
          {"positions", address(positions)},
          {"rows", number(x.size(0))},
          {"columns", number(columns)},
          {"stride", number(x.stride(0))},
          {"direction", real(direction)}});
}

void KernelOperations::residual_norm_forward(const PackedNorm& task, const torch::Tensor& x, const torch::Tensor& r,
                                             const torch::Tensor& y, const torch::Tensor& n,
                                             const torch::Tensor& statistics) {
  const int64_t rows = x.size(0), width = x.size(1);
  const auto name = fmt::format("residual_norm_forward_{}", norm_block(width));
  launch(name, {programs(name, "ROWS", rows), 1},
         {{"x_ptr", address(x)},
          {"r_ptr", address(r, x)},
          {"r_bias_ptr", address(task.r_bias)},
          {"weight_ptr", address(task.weight)},
          {"bias_ptr", address(task.bias)},
          {"y_ptr", address(y)},
          {"n_ptr", address(n)},
          {"statistics", address(statistics)},
          {"rows", number(rows)},
          {"width", number(width)},
          {"has_r", number(r.defined() ? 1 : 0)},
          {"centred", real(task.centred ? 1 : 0)},
          {"epsilon", real(task.epsilon)},
          {"p", real(task.dropout.p)},
          {"key_ptr", address(task.dropout.key)},
          {"site", task.dropout.site}});
}

void KernelOperations::residual_norm_backward(const PackedNorm& task, const torch::Tensor& dn,
                                              const torch::Tensor& second, SecondGradient which, const torch::Tensor& y,
                                              const torch::Tensor& statistics, const torch::Tensor& dx,
                                              const torch::Tensor& dr, const torch::Tensor& parts) {
  const int64_t width = y.size(1);
  launch(fmt::format("residual_norm_backward_{}", norm_block(width)), {parts.size(0), 1},
         {{"dn_ptr", address(dn)},
          {"dy_ptr", address(second, dn)},
          {"y_ptr", address(y)},
          {"statistics", address(statistics)},
          {"weight_ptr", address(task.weight)},
          {"dx_ptr", address(dx)},
          {"dr_ptr", address(dr, dx)},
          {"parts", address(parts)},
          {"rows", number(y.size(0))},
          {"width", number(width)},
          {"dy_place", number(which == SecondGradient::kNone  ? 0
                              : which == SecondGradient::kOfY ? 1
                                                              : 2)},
          {"has_r", number(dr.defined() ? 1 : 0)},
          {"centred", real(task.centred ? 1 : 0)},
          {"p", real(task.dropout.p)},
          {"key_ptr", address(task.dropout.key)},
          {"site", task.dropout.site}});
}

void KernelOperations::relu_dropout(const torch::Tensor& h, const DropoutPlace& dropout) {
  const int64_t rows = h.size(0), width = h.size(1);
  const std::string name = "relu_dropout";
  launch(name, {programs(name, "ROWS", rows), programs(name, "BLOCK", width)},
         {{"h_ptr", address(h)},
          {"rows", number(rows)},
          {"width", number(width)},
          {"p", real(dropout.p)},
          {"key_ptr", address(dropout.key)},
          {"site", dropout.site}});
}

void KernelOperations::relu_backward(const torch::Tensor& dh, const torch::Tensor& h, double p,
                                     const torch::Tensor& parts) {
  const int64_t width = dh.size(1);
  const std::string name = "relu_backward";
  launch(name, {parts.size(0), programs(name, "BLOCK", width)},
         {{"dh_ptr", address(dh)},
          {"h_ptr", address(h, dh)},
          {"parts", address(parts)},
          {"rows", number(dh.size(0))},
          {"width", number(width)},
          {"has_relu", number(h.defined() ? 1 : 0)},
          {"p", real(p)}});
}

void KernelOperations::sum_parts(const torch::Tensor& parts, const torch::Tensor& places, const torch::Tensor& sums) {
  launch("sum_parts", {places.size(0), 1},
         {{"parts", address(parts)}, {"sums", address(sums)}, {"places", address(places)}});
}

void KernelOperations::smoothed_cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels, int64_t classes,
                                              double smoothing, const torch::Tensor& scale,
                                              const torch::Tensor& losses) {
  launch("smoothed_cross_entropy", {labels.size(0), 1},
         {{"logits", address(logits)},
          {"labels", address(labels)},
          {"losses", address(losses)},
          {"scale_ptr", address(scale)},
          {"classes", number(classes)},
          {"stride", number(logits.stride(0))},
          {"smoothing", real(smoothing)}});
}

void KernelOperations::paired_cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels, int64_t classes,
                                            double smoothing, const torch::Tensor& pair, const torch::Tensor& scale,
                                            const torch::Tensor& losses) {
  launch("paired_cross_entropy", {labels.size(0), 1},
         {{"logits", address(logits)},
          {"labels", address(labels)},
          {"losses", address(losses)},
          {"scale_ptr", address(scale)},
          {"pair", address(pair)},
          {"classes", number(classes)},
          {"stride", number(logits.stride(0))},
          {"smoothing", real(smoothing)}});
}

void KernelOperations::embedding_forward(const torch::Tensor& words, const torch::Tensor& positions,
                                         const torch::Tensor& table, const torch::Tensor& position_table, double factor,
                                         const DropoutPlace& dropout, const torch::Tensor& out) {
  const int64_t rows = out.size(0), width = out.size(1);
  const std::string name = "embedding_forward";
  launch(name, {programs(name, "ROWS", rows), programs(name, "BLOCK", width)},
         {{"words", address(words)},
          {"positions", address(positions)},
          {"table", address(table)},
          {"position_table", address(position_table, table)},
          {"out_ptr", address(out)},
          {"rows", number(rows)},
          {"width", number(width)},
          {"has_positions", number(position_table.defined() ? 1 : 0)},
          {"scale", real(factor)},
          {"p", real(dropout.p)},
          {"key_ptr", address(dropout.key)},
          {"site", dropout.site}});
}

void KernelOperations::embedding_pieces(const torch::Tensor& dx, const WordGroups& groups, double factor,
                                        const DropoutPlace& dropout, const torch::Tensor& dtable,
                                        const torch::Tensor& parts) {
  const std::string name = "embedding_pieces";
  launch(name, {groups.pieces.size(0), programs(name, "BLOCK", dx.size(1))},
         {{"dx_ptr", address(dx)},
          {"order", address(groups.order)},
          {"pieces", address(groups.pieces)},
          {"dtable", address(dtable)},
          {"parts", groups.parts > 0 ? address(parts) : address(dtable)},
          {"width", number(dx.size(1))},
          {"scale", real(factor)},
          {"p", real(dropout.p)},
          {"key_ptr", address(dropout.key)},
          {"site", dropout.site}});
}

void KernelOperations::embedding_words(const WordGroups& groups, const torch::Tensor& parts,
                                       const torch::Tensor& dtable) {
  const std::string name = "embedding_words";
  launch(name, {groups.entries.size(0), programs(name, "BLOCK", dtable.size(1))},
         {{"entries", address(groups.entries)},
          {"parts", address(parts)},
          {"dtable", address(dtable)},
          {"width", number(dtable.size(1))}});
}

void KernelOperations::squared_norm(const torch::Tensor& gradient, const torch::Tensor& parts) {
  launch("squared_norm", {parts.size(0), 1},
         {{"gradient", address(gradient)}, {"parts", address(parts)}, {"count", number(gradient.numel())}});
}

void KernelOperations::adam_control(const torch::Tensor& parts, const torch::Tensor& betas, const torch::Tensor& steps,
                                    const torch::Tensor& control) {
  launch("adam_control", {1, 1},
         {{"parts", address(parts)},
          {"count", number(parts.numel())},
          {"betas", address(betas)},
          {"steps", address(steps)},
          {"control", address(control)}});
}

void KernelOperations::adam(const torch::Tensor& weights, const torch::Tensor& first_moment,
                            const torch::Tensor& second_moment, const torch::Tensor& gradient,
                            const torch::Tensor& copy, const torch::Tensor& control, const torch::Tensor& options,
                            const torch::Tensor& rate) {
  const std::string name = "adam";
  launch(name, {programs(name, "BLOCK", weights.numel()), 1},
         {{"weights", address(weights)},
          {"first_moment", address(first_moment)},
          {"second_moment", address(second_moment)},
          {"gradient", address(gradient)},
          {"copy", address(copy)},
          {"count", number(weights.numel())},
          {"control", address(control)},
          {"options", address(options)},
          {"rate_ptr", address(rate)}});
}

}  // namespace nmt
