#include "translation/similarity.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/unicode.h"
#include "nn/device/device.h"
#include "search/torch_step.h"
#include "text/codec/codec.h"

namespace nmt {
namespace {

bool is_one_word(std::string_view text) {
  std::vector<std::string_view> words;
  split_words(text, words);
  return words.size() == 1;
}

std::vector<int32_t> pieces_of(const TextCodec& codec, const std::string& text) {
  auto pieces = codec.encode_source(repair_utf8(strip(text)));
  if (pieces.empty()) throw Error(fmt::format("similarity: '{}' holds no text; give two words or sentences", text));
  if (std::ranges::all_of(pieces, [](int32_t id) { return id == SpecialIds::kUnknown; }))
    throw Error(fmt::format("similarity: the vocabulary does not have '{}'; give another text", text));
  return pieces;
}

/// [features], in double.
torch::Tensor mean_of_rows(const torch::Tensor& rows) { return rows.to(torch::kCPU, torch::kFloat64).mean(0); }

torch::Tensor embedding_of(TranslationModel& model, const std::vector<int32_t>& pieces) {
  const auto ids = torch::tensor(std::vector<int64_t>(pieces.begin(), pieces.end()), device_of(model));
  const auto embeddings = model.source_embeddings(ids);
  if (!embeddings.defined()) throw Error("similarity: this model has no embedding of the source");
  return mean_of_rows(embeddings);
}

torch::Tensor encoding_of(TranslationModel& model, const TextCodec& codec, const std::vector<int32_t>& pieces) {
  const auto form = codec.options().source_form();
  const int64_t length = source_length(std::ssize(pieces), form.markers);
  if (length > model.limits().source)
    throw Error(fmt::format("similarity: a text has {} tokens, the model takes {}; give a shorter one", length,
                            model.limits().source));
  auto source = torch::empty({1, length}, torch::kInt64);
  write_source(pieces, form, source.data_ptr<int64_t>());
  const auto states = model.encoder_output(copy_to_device(source, device_of(model)), torch::tensor({length}));
  if (!states.defined()) throw Error("similarity: this model has no encoder");
  return mean_of_rows(states[0]);
}

}  // namespace

Similarity similarity(TranslationModel& model, const TextCodec& codec, const std::string& first,
                      const std::string& second) {
  const c10::NoGradGuard no_gradients;
  const bool words = is_one_word(first) && is_one_word(second);
  const auto vector_of = [&](const std::string& text) {
    const auto pieces = pieces_of(codec, text);
    return words ? embedding_of(model, pieces) : encoding_of(model, codec, pieces);
  };
  const auto a = vector_of(first), b = vector_of(second);
  const double norms = a.norm().item<double>() * b.norm().item<double>();
  return {.cosine = norms > 0 ? std::clamp(a.dot(b).item<double>() / norms, -1.0, 1.0) : 0.0,
          .vectors = words ? ComparedVectors::kEmbeddings : ComparedVectors::kEncoderOutputs};
}

std::string similarity_text(const Similarity& similarity) {
  const bool words = similarity.vectors == ComparedVectors::kEmbeddings;
  return fmt::format("cosine of {} = {:.6f}\n", words ? "embeddings" : "encoder outputs", similarity.cosine);
}

}  // namespace nmt
