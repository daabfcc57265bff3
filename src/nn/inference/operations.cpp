#include "nn/inference/operations.h"

#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "nn/kernels/kernels.h"

namespace nmt::inference {
namespace {

/// Word by word of all outputs of the panel: what is written lies together, and many reads are under way at once.
void copy_panel(const kernels::PackedWeight& all, std::span<const int32_t> outputs, int64_t panel, uint32_t* to) {
  const int64_t words = kernels::words_in_row(all.format, all.in), first = panel * kernels::kPanel;
  const int64_t count = std::min(kernels::kPanel, std::ssize(outputs) - first);
  to += first * words;
  std::array<const uint32_t*, kernels::kPanel> from;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t output = outputs[first + i];
    from[i] = all.panels + output / kernels::kPanel * kernels::kPanel * words + output % kernels::kPanel;
  }
  for (int64_t k = 0; k < words; ++k) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i][k * kernels::kPanel];
    std::fill(to + count, to + kernels::kPanel, 0);
    to += kernels::kPanel;
  }
}

}  // namespace

Map gather(const Map& all, std::span<const int32_t> outputs, ThreadPool* threads) {
  const int64_t panels = kernels::panel_count(std::ssize(outputs)), out = panels * kernels::kPanel;
  auto memory = std::make_shared<Arena>();
  Map some{.weight = {.format = all.weight.format, .out = std::ssize(outputs), .in = all.weight.in},
           .bias = nullptr,
           .owner = memory};
  const auto gathered = [&]<typename T>(const T* from) -> T* {
    if (!from) return nullptr;
    T* to = memory->take<T>(out);
    for (size_t i = 0; i < outputs.size(); ++i) to[i] = from[outputs[i]];
    std::fill(to + outputs.size(), to + out, T{});
    return to;
  };
  some.weight.scales = gathered(static_cast<const float*>(all.weight.scales));
  some.weight.sums = gathered(static_cast<const int32_t*>(all.weight.sums));
  some.bias = gathered(all.bias);
  const int64_t words = out * kernels::words_in_row(all.weight.format, all.weight.in);
  some.weight.panels = memory->take<uint32_t>(words);
  use_huge_pages(some.weight.panels, words * sizeof(uint32_t));
  share(threads, panels, 1, [&](int64_t begin, int64_t end) noexcept {
    for (int64_t panel = begin; panel < end; ++panel) copy_panel(all.weight, outputs, panel, some.weight.panels);
  });
  return some;
}

void multiply(const Map& map, const float* x, int64_t rows, float* y, Workspace& work, const Epilogue& epilogue) {
  if (rows == 0) return;
  const Arena::Scope scope(work.arena);
  const auto& kernels = kernels::packed_kernels();
  const auto& weight = map.weight;
  const bool fused = epilogue.activation == Activation::kNone || epilogue.activation == Activation::kRelu;
  const bool as_it_is = weight.format == kernels::WeightFormat::kFloat32;
  const int64_t panels = kernels::panel_count(weight.out);
  auto* words = as_it_is ? nullptr : work.arena.take<uint32_t>(rows * kernels.words_of_x(weight.format, weight.in));
  auto* scales = as_it_is ? nullptr : work.arena.take<kernels::RowScale>(rows);
  float* product_y = fused || !epilogue.residual ? y : work.arena.take<float>(rows * weight.out);
  const kernels::PackedProduct product{.weight = weight,
                                       .x = as_it_is ? static_cast<const void*>(x) : words,
                                       .row_scales = scales,
                                       .bias = map.bias,
                                       .relu = epilogue.activation == Activation::kRelu,
                                       .residual = fused ? epilogue.residual : nullptr,
                                       .y = product_y};
  const auto prepare = [&](int64_t begin, int64_t end) {
    if (!as_it_is) kernels.prepare(weight.format, x, weight.in, {begin, end}, words, scales);
  };
  // Threads share the wider side; either way each element is the same sum.
  constexpr int64_t kWorthAThread = 1 << 17;  // bytes of weights, for one or two rows
  if (rows < 64) {
    prepare(0, rows);
    const int64_t panel_bytes = kernels::words_in_row(weight.format, weight.in) * kernels::kPanel * 4;
    const int64_t grain = kWorthAThread / (panel_bytes * std::max<int64_t>(1, (rows + 1) / 2));
    share(work.threads, panels, grain, [&](int64_t begin, int64_t end) noexcept {
      kernels.multiply(product, {0, rows}, {begin, end});
    });
  } else {
    share(work.threads, rows, 24, [&](int64_t begin, int64_t end) noexcept {
      prepare(begin, end);
      kernels.multiply(product, {begin, end}, {0, panels});
    });
  }
  if (fused) return;
  const int64_t count = rows * weight.out;
  share(work.threads, count, 8192, [&](int64_t begin, int64_t end) noexcept {
    activate(epilogue.activation, product_y + begin, product_y + begin, end - begin);
    if (!epilogue.residual) return;
    for (int64_t i = begin; i < end; ++i) y[i] = product_y[i] + epilogue.residual[i];
  });
}

void multiply_parts(std::span<const RowsOfMap> parts, const float* x, int64_t rows, Workspace& work) {
  if (rows == 0) return;
  if (parts.size() == 1) return multiply(*parts.front().map, x, rows, parts.front().y, work);  // by all threads
  const Arena::Scope scope(work.arena);
  const auto& kernels = kernels::packed_kernels();
  const auto format = parts.front().map->weight.format;
  const int64_t in = parts.front().map->weight.in;
  const bool as_it_is = format == kernels::WeightFormat::kFloat32;
  const int64_t row_words = as_it_is ? in : kernels.words_of_x(format, in);
  auto* words = as_it_is ? nullptr : work.arena.take<uint32_t>(rows * row_words);
  auto* scales = as_it_is ? nullptr : work.arena.take<kernels::RowScale>(rows);
  share(work.threads, std::ssize(parts), 4, [&](int64_t begin, int64_t end) noexcept {
    for (const auto& part : parts.subspan(begin, end - begin)) {
      const int64_t first = part.first_row;
      if (!as_it_is) kernels.prepare(format, x, in, {first, first + part.rows}, words, scales);
      const kernels::PackedProduct product{
          .weight = part.map->weight,
          .x = as_it_is ? static_cast<const void*>(x + first * in) : words + first * row_words,
          .row_scales = as_it_is ? nullptr : scales + first,
          .bias = part.map->bias,
          .y = part.y};
      kernels.multiply(product, {0, part.rows}, {0, kernels::panel_count(part.map->weight.out)});
    }
  });
}

void normalise(const NormWeights& norm, const float* x, int64_t rows, int64_t size, float* y, Workspace& work) {
  const kernels::NormRows task{
      .x = x, .weight = norm.weight, .bias = norm.bias, .y = y, .size = size, .epsilon = norm.epsilon};
  share(work.threads, rows, 64, [&](int64_t begin, int64_t end) noexcept {
    kernels::kernels().normalise(task, {begin, end});
  });
}

namespace {

void through_feed_forward(const FeedForwardWeights& weights, const float* x, int64_t rows, float* y,
                          const float* residual, Workspace& work) {
  const Arena::Scope scope(work.arena);
  const int64_t count = rows * weights.inner.weight.out;
  float* hidden = work.arena.take<float>(count);
  multiply(weights.inner, x, rows, hidden, work, {.activation = weights.activation});
  if (weights.gate) {
    float* gate = work.arena.take<float>(count);
    multiply(*weights.gate, x, rows, gate, work);
    for (int64_t i = 0; i < count; ++i) hidden[i] *= gate[i];
  }
  multiply(weights.outer, hidden, rows, y, work, {.residual = residual});
}

}  // namespace

void add_feed_forward(const FeedForwardWeights& weights, const float* x, int64_t rows, float* y, Workspace& work) {
  through_feed_forward(weights, x, rows, y, y, work);
}

void feed_forward(const FeedForwardWeights& weights, const float* x, int64_t rows, float* y, Workspace& work) {
  through_feed_forward(weights, x, rows, y, nullptr, work);
}

void embed(const EmbeddingWeights& weights, int64_t model, std::span<const int64_t> ids,
           std::span<const int64_t> positions, float* y) {
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(model)));
  PositionTable table;
  if (weights.positions && !ids.empty()) table = weights.positions->table(*std::ranges::max_element(positions) + 1);
  for (size_t i = 0; i < ids.size(); ++i, y += model) {
    if (ids[i] < 0 || ids[i] >= weights.vocabulary) throw std::out_of_range("an id that the embeddings do not have");
    if (weights.packed)
      kernels::unpack_row(weights.packed->weight, ids[i], y);
    else
      std::copy_n(weights.table + ids[i] * model, model, y);
    for (int64_t k = 0; k < model; ++k) y[k] *= scale;
    if (!table.rows) continue;
    const float* row = table.rows + positions[i] * model;
    for (int64_t k = 0; k < model; ++k) y[k] += row[k];
  }
}

void rotate(PositionRows& rotation, std::span<const int64_t> positions, int64_t heads, int64_t head_dim, float* x,
            int64_t row_stride) {
  if (positions.empty()) return;
  const auto table = rotation.table(*std::ranges::max_element(positions) + 1);
  for (size_t row = 0; row < positions.size(); ++row) {
    const float* angle = table.rows + positions[row] * head_dim;
    for (int64_t head = 0; head < heads; ++head) {
      float* pairs = x + static_cast<int64_t>(row) * row_stride + head * head_dim;
      for (int64_t i = 0; i < head_dim; i += 2) {
        const float sine = angle[i], cosine = angle[i + 1], a = pairs[i], b = pairs[i + 1];
        pairs[i] = a * cosine - b * sine;
        pairs[i + 1] = a * sine + b * cosine;
      }
    }
  }
}

}  // namespace nmt::inference
