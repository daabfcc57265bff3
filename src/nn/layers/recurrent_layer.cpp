#include "nn/layers/recurrent_layer.h"

#include <ATen/ops/gru.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/rnn_tanh.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "nn/device/device.h"
#include "nn/ops/packed_rows.h"

namespace nmt {
namespace {

torch::Tensor numbers(const std::vector<int64_t>& values) {
  return torch::tensor(at::ArrayRef<int64_t>(values), torch::kInt64);
}

/// The real words of padded sentences as cuDNN reads them: all first words, then all second ones, and so on; the
/// longest sentence stands first. Made by the host, as PackedRows are.
struct PackedWords {
  torch::Tensor rows;         // int64 [words]: place * batch + sentence
  torch::Tensor sentences;    // int64 [sentences with words], the longest first
  torch::Tensor batch_sizes;  // int64 [longest sentence] on the CPU: sentences with a word at this place
};

PackedWords pack_words(const torch::Tensor& lengths, torch::Device device) {
  const int64_t batch = lengths.size(0);
  const int64_t* length = lengths.const_data_ptr<int64_t>();
  std::vector<int64_t> sentences, rows, batch_sizes;
  for (int64_t b = 0; b < batch; ++b)
    if (length[b] > 0) sentences.push_back(b);
  std::ranges::stable_sort(sentences, std::greater<>(), [&](int64_t b) { return length[b]; });
  const int64_t longest = sentences.empty() ? 0 : length[sentences.front()];
  for (int64_t place = 0; place < longest; ++place) {
    const size_t before = rows.size();
    for (const int64_t b : sentences)
      if (length[b] > place) rows.push_back(place * batch + b);
    batch_sizes.push_back(static_cast<int64_t>(rows.size() - before));
  }
  return {copy_to_device(numbers(rows), device), copy_to_device(numbers(sentences), device), numbers(batch_sizes)};
}

/// cuDNN wants all weights of a call in one piece, and LibTorch warns at each call that it has to copy them together.
/// Ours change with every update and are copies in 16 bits anyway: this one warning is left out.
class NoCopyWarning final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    if (warning.msg().find("single contiguous chunk") == std::string::npos) before_->process(warning);
  }

 private:
  c10::WarningHandler* before_ = c10::WarningUtils::get_warning_handler();
  c10::WarningUtils::WarningHandlerGuard guard_{this};
};

/// states [words, directions * size], last [directions, sentences, size], of an LSTM its cells [same].
std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> run_layer(kernels::Cell kind, const torch::Tensor& words,
                                                                  const torch::Tensor& batch_sizes,
                                                                  const torch::Tensor& zeros,
                                                                  const std::vector<torch::Tensor>& weights) {
  constexpr bool kBiases = true;
  constexpr int64_t kLayers = 1;
  constexpr double kDropout = 0;
  const bool bidirectional = zeros.size(0) == 2;
  const bool train = torch::GradMode::is_enabled();  // cuDNN keeps what the way back needs
  const NoCopyWarning quiet;
  if (kind == kernels::Cell::kLstm)
    return at::lstm(words, batch_sizes, {zeros, zeros}, weights, kBiases, kLayers, kDropout, train, bidirectional);
  const auto [states, last] =
      kind == kernels::Cell::kGru
          ? at::gru(words, batch_sizes, zeros, weights, kBiases, kLayers, kDropout, train, bidirectional)
          : at::rnn_tanh(words, batch_sizes, zeros, weights, kBiases, kLayers, kDropout, train, bidirectional);
  return {states, last, torch::Tensor()};
}

}  // namespace

RecurrentOutput fused_recurrent_layer(kernels::Cell kind, const torch::Tensor& x, const torch::Tensor& lengths,
                                      std::span<const RecurrentWeights> directions) {
  const int64_t time = x.size(0), batch = x.size(1), size = directions.front().recurrent.size(1);
  const auto count = static_cast<int64_t>(directions.size());
  const auto packed = pack_words(lengths, x.device());
  const auto floats = torch::TensorOptions(torch::kFloat32).device(x.device());
  RecurrentOutput output{.states = at::zeros({time * batch, count * size}, x.options()), .last = {}};
  for (int64_t i = 0; i < count; ++i) {
    const auto zeros = at::zeros({batch, size}, floats);
    output.last.push_back({zeros, kind == kernels::Cell::kLstm ? zeros : torch::Tensor()});
  }
  if (packed.rows.size(0) > 0) {
    std::vector<torch::Tensor> weights;
    for (const auto& of : directions)
      for (const auto* part : {&of.input, &of.recurrent, &of.input_bias, &of.recurrent_bias})
        weights.push_back(part->to(x.scalar_type()));
    const auto words = take_rows(x.reshape({time * batch, x.size(2)}), packed.rows);
    const auto before = at::zeros({count, packed.sentences.size(0), size}, x.options());
    const auto [states, last, cells] = run_layer(kind, words, packed.batch_sizes, before, weights);
    output.states = output.states.index_copy(0, packed.rows, states);
    for (int64_t i = 0; i < count; ++i) {
      auto& own = output.last[i];
      own.state = own.state.index_copy(0, packed.sentences, last[i].to(torch::kFloat32));
      if (cells.defined()) own.cell = own.cell.index_copy(0, packed.sentences, cells[i].to(torch::kFloat32));
    }
  }
  output.states = output.states.view({time, batch, count * size});
  return output;
}

RecurrentLayerImpl::RecurrentLayerImpl(kernels::Cell kind, int64_t input, int64_t size, bool bidirectional)
    : kind_(kind) {
  cells_.push_back(register_module("forward", RecurrentCell(kind, input, size)));
  if (bidirectional) cells_.push_back(register_module("backward", RecurrentCell(kind, input, size)));
}

RecurrentLayerImpl::Output RecurrentLayerImpl::forward(const torch::Tensor& x, const torch::Tensor& lengths) {
  const bool fused = fused_ ? *fused_ : capabilities_of(x.device()).recurrent_layers;
  return fused ? run_fused(x, lengths) : run_cells(x, lengths);
}

RecurrentLayerImpl::Output RecurrentLayerImpl::run_fused(const torch::Tensor& x, const torch::Tensor& lengths) {
  std::vector<RecurrentWeights> directions;
  for (const auto& cell : cells_) directions.push_back(cell->weights());
  return fused_recurrent_layer(kind_, x, lengths, directions);
}

RecurrentLayerImpl::Output RecurrentLayerImpl::run_cells(const torch::Tensor& x, const torch::Tensor& lengths) {
  const int64_t time = x.size(0), batch = x.size(1);
  const auto active = copy_to_device(torch::arange(time, torch::kInt64).unsqueeze(1) < lengths, x.device()).unbind(0);
  Output output;
  std::vector<torch::Tensor> directions;
  for (size_t i = 0; i < cells_.size(); ++i) {
    auto& cell = cells_[i];
    const auto projected = cell->project(x).unbind(0);  // one product for the whole sequence
    auto last = cell->zero_state(batch, x.device());
    std::vector<torch::Tensor> states(time);
    for (int64_t step = 0; step < time; ++step) {
      const int64_t t = i == 0 ? step : time - 1 - step;
      last = cell->advance(projected[t], last, active[t]);
      states[t] = last.state;
    }
    directions.push_back(torch::stack(states));
    output.last.push_back(last);
  }
  output.states = torch::cat(directions, -1).to(x.scalar_type());
  return output;
}

}  // namespace nmt
