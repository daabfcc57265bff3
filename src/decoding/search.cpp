#include "decoding/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "decoding/best_tokens.h"
#include "decoding/sentence_beam.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

/// Sentences padded to a rectangle, as TranslationModel::start takes them.
struct SourceTensors {
  torch::Tensor ids;      // [batch, source] pieces </s> <pad>..., or as source_markers.h
  torch::Tensor lengths;  // [batch], on the CPU
};

SourceTensors to_source_tensors(const std::vector<std::vector<int32_t>>& sources, SourceMarkers markers,
                                torch::Device device) {
  int64_t width = 0;
  for (const auto& source : sources) width = std::max(width, source_length(std::ssize(source), markers));
  const int64_t batch = std::ssize(sources);
  const auto ids = torch::full({batch, width}, int64_t{SpecialIds::kPad}, torch::kLong);
  const auto lengths = torch::empty({batch}, torch::kLong);
  for (int64_t i = 0; i < batch; ++i) {
    write_source(sources[i], markers, ids.data_ptr<int64_t>() + i * width);
    lengths.data_ptr<int64_t>()[i] = source_length(std::ssize(sources[i]), markers);
  }
  return {ids.to(device), lengths};
}

/// True if the rows of the next step are those of this one, in their order: then nothing moves.
bool stay(const std::vector<int64_t>& parents, int64_t rows) {
  if (std::ssize(parents) != rows) return false;
  for (int64_t row = 0; row < rows; ++row) {
    if (parents[row] != row) return false;
  }
  return true;
}

}  // namespace

LengthPenalty parse_length_penalty(const std::string& name) {
  if (name == "paper") return LengthPenalty::kPaper;
  if (name == "simple") return LengthPenalty::kSimple;
  throw Error(fmt::format("length penalty '{}': use paper or simple", name));
}

const char* length_penalty_name(LengthPenalty form) { return form == LengthPenalty::kPaper ? "paper" : "simple"; }

void SearchOptions::validate() const {
  if (beam_size < 1) throw Error(fmt::format("beam size {}: use 1 (greedy) or more", beam_size));
  if (n_best < 1 || n_best > beam_size) {
    throw Error(fmt::format("n-best {}: use 1 to {}, the beam size", n_best, beam_size));
  }
  if (!(length_penalty >= 0) || !std::isfinite(length_penalty)) {
    throw Error(fmt::format("length penalty {}: use 0 (none) or more", length_penalty));
  }
  if (!(max_length_ratio >= 0) || !std::isfinite(max_length_ratio)) {
    throw Error(fmt::format("maximum length ratio {}: use 0 or more", max_length_ratio));
  }
  if (max_length_offset < 0) throw Error(fmt::format("maximum length offset {}: use 0 or more", max_length_offset));
  if (max_length < 0) throw Error(fmt::format("maximum length {}: use 1 or more, or 0 for none", max_length));
  if (max_length_ratio == 0 && max_length_offset == 0) {
    throw Error("maximum length: ratio and offset are both 0, which leaves no room for a translation");
  }
}

double SearchOptions::penalty(int64_t tokens) const {
  const double length = static_cast<double>(tokens);
  const double base = length_penalty_form == LengthPenalty::kPaper ? (5.0 + length) / 6.0 : length;
  return std::pow(base, length_penalty);
}

int64_t SearchOptions::length_limit(int64_t source_pieces) const {
  // A limit that no memory could reach stands for "none" and keeps the arithmetic in range.
  constexpr double kHighest = 1e9;
  const double wanted = std::floor(max_length_ratio * static_cast<double>(source_pieces + 1)) + max_length_offset;
  const auto limit = static_cast<int64_t>(std::clamp(wanted, 1.0, kHighest));
  return max_length > 0 ? std::min(limit, max_length) : limit;
}

torch::Device device_of(const TranslationModel& model) {
  const auto parameters = model.parameters();
  return parameters.empty() ? torch::Device(torch::kCPU) : parameters.front().device();
}

std::vector<std::vector<Hypothesis>> search(TranslationModel& model, const std::vector<std::vector<int32_t>>& sources,
                                            const SearchOptions& options) {
  options.validate();
  if (sources.empty()) return {};
  const torch::Device device = device_of(model);
  const auto source = to_source_tensors(sources, options.source_markers, device);
  const auto state = model.start(source.ids, source.lengths);

  std::vector<SentenceBeam> beams;
  for (const auto& sentence : sources) beams.emplace_back(options, options.length_limit(std::ssize(sentence)));
  std::vector<int64_t> active(sources.size());
  std::iota(active.begin(), active.end(), 0);
  NextRows rows{.parents = {}, .tokens = std::vector<int64_t>(sources.size(), SpecialIds::kBegin)};
  while (!active.empty()) {
    const auto logits = model.step(*state, torch::tensor(rows.tokens, torch::kLong).to(device));  // [rows, vocabulary]
    const auto best = best_tokens(logits, options.beam_size + 1);
    NextRows next;
    int64_t first_row = 0;
    for (const int64_t sentence : active) {
      const int64_t own_rows = beams[sentence].rows();
      beams[sentence].advance(best, first_row, next);
      first_row += own_rows;
    }
    std::erase_if(active, [&](int64_t sentence) { return beams[sentence].done(); });
    if (!active.empty() && !stay(next.parents, state->rows())) state->select(torch::tensor(next.parents, torch::kLong));
    rows = std::move(next);
  }

  std::vector<std::vector<Hypothesis>> results;
  for (auto& beam : beams) results.push_back(beam.take_results());
  return results;
}

}  // namespace nmt
