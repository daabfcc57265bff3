#include "convert/t5/t5_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "convert/formats/sentencepiece_model.h"
#include "convert/plain/model_weights.h"

namespace nmt::convert {
namespace {

/// The weights of one of the two stacks; a block's sub-layers are counted.
void add_stack(const ModelConfig& config, bool is_decoder, std::vector<T5Weight>& weights) {
  const char* side = is_decoder ? "decoder" : "encoder";
  const int64_t blocks = is_decoder ? decoder_blocks(config) : encoder_blocks(config);
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t layer = 0;
    const auto ours = [&](const std::string& name) { return fmt::format("{}_{}.{}", side, block, name); };
    const auto theirs = [&](const std::string& name) {
      return fmt::format("{}.block.{}.layer.{}.{}.weight", side, block, layer, name);
    };
    const auto add = [&](const std::string& our_name, const std::string& their_name, T5Role role = T5Role::kPlain) {
      weights.push_back({ours(our_name + ".weight"), theirs(their_name), role});
    };
    const auto add_attention = [&](const std::string& our_name, const std::string& their_name, T5Role query) {
      add(our_name + ".query", their_name + ".q", query);
      add(our_name + ".key", their_name + ".k", T5Role::kHeads);
      add(our_name + ".value", their_name + ".v", T5Role::kHeads);
      add(our_name + ".output", their_name + ".o", T5Role::kHeadsIn);
      add(our_name + "_norm", "layer_norm");
    };
    add_attention("self_attention", "SelfAttention", T5Role::kHeads);
    if (block == 0) add("self_attention.positions", "SelfAttention.relative_attention_bias", T5Role::kBuckets);
    ++layer;
    if (is_decoder) {
      add_attention("cross_attention", "EncDecAttention", T5Role::kCrossQuery);
      ++layer;
    }
    const bool gated = is_gated(config.activation);
    add("feed_forward.inner", gated ? "DenseReluDense.wi_0" : "DenseReluDense.wi");
    if (gated) add("feed_forward.gated", "DenseReluDense.wi_1");
    add("feed_forward.outer", "DenseReluDense.wo");
    add("feed_forward_norm", "layer_norm");
  }
  weights.push_back({fmt::format("{}_norm.weight", side), fmt::format("{}.final_layer_norm.weight", side)});
}

}  // namespace

std::vector<T5Weight> t5_weights(const ModelConfig& config) {
  std::vector<T5Weight> weights;
  add_stack(config, false, weights);
  add_stack(config, true, weights);
  return weights;
}

namespace {

constexpr const char* kTasks = "task_specific_params";
constexpr std::string_view kTranslation = "translation_", kTo = "_to_";

std::vector<std::string> names_of_tasks(const nlohmann::json& tasks) {
  std::vector<std::string> names;
  for (const auto& [name, settings] : tasks.items())
    if (settings.is_object()) names.push_back(name);
  return names;
}

/// A task by its name, whose languages it has: translation_en_to_de.
T5Task task_of(const HuggingFaceConfig& config, const std::string& name) {
  T5Task task;
  task.settings = {fmt::format("{}: {}.{}", config.path(), kTasks, name), config.json().at(kTasks).at(name)};
  task.prefix = task.settings.text("prefix", "");
  const auto to = name.find(kTo, kTranslation.size());
  if (!name.starts_with(kTranslation) || to == std::string::npos) return task;
  task.source_language = language_code(name.substr(kTranslation.size(), to - kTranslation.size()), "src");
  task.target_language = language_code(name.substr(to + kTo.size()), "tgt");
  return task;
}

T5Task named_task(const HuggingFaceConfig& config, const std::string& name) {
  const auto tasks = config.json().value(kTasks, nlohmann::json::object());
  const auto names = tasks.is_object() ? names_of_tasks(tasks) : std::vector<std::string>();
  if (std::ranges::find(names, name) != names.end()) return task_of(config, name);
  if (names.empty())
    throw Error(
        fmt::format("--task {}: {} names no tasks; leave it out, or give --source-prefix", name, config.path()));
  throw Error(fmt::format("--task {}: {} has no such task; it has {}", name, config.path(), fmt::join(names, ", ")));
}

/// The only translation; no task where there is none.
T5Task only_translation(const HuggingFaceConfig& config) {
  const auto tasks = config.json().value(kTasks, nlohmann::json());
  if (!tasks.is_object()) return {};
  auto names = names_of_tasks(tasks);
  std::erase_if(names, [](const std::string& name) { return !name.starts_with(kTranslation); });
  if (names.size() > 1)
    throw Error(fmt::format("{}: has the translations {}; choose one with --task, or give --source-prefix",
                            config.path(), fmt::join(names, ", ")));
  return names.empty() ? T5Task() : task_of(config, names.front());
}

}  // namespace

T5Task choose_t5_task(const HuggingFaceConfig& config, const T5Choice& choice) {
  T5Task task;
  if (!choice.task.empty())
    task = named_task(config, choice.task);
  else if (!choice.source_prefix)
    task = only_translation(config);
  if (choice.source_prefix) task.prefix = *choice.source_prefix;
  return task;
}

namespace {

constexpr int64_t kExtraIds = 100;  // sentinels of T5's training, behind the pieces, the last one first

std::string text_of_row(const std::vector<Piece>& pieces, int64_t row) {
  const int64_t behind = row - std::ssize(pieces);
  if (behind < 0) return pieces[row].text;
  return behind < kExtraIds ? fmt::format("<extra_id_{}>", kExtraIds - 1 - behind) : fmt::format("<row{}>", row);
}

int64_t unknown_of(const std::vector<Piece>& pieces, const std::string& name) {
  const auto unknown = std::ranges::find(pieces, PieceType::kUnknown, &Piece::type);
  if (unknown == pieces.end()) throw Error(name + ": has no piece for what is unknown");
  return unknown - pieces.begin();
}

}  // namespace

T5Vocabulary read_t5_vocabulary(const std::filesystem::path& path, int64_t rows, const T5Specials& specials) {
  const std::string bytes = read_regular_file(path, kLargestSentencePieceModel), name = path.string();
  const auto pieces = read_pieces(bytes, name);
  if (std::ssize(pieces) > rows)
    throw Error(
        fmt::format("{}: has {} pieces, and the model's table {} rows (vocab_size)", name, pieces.size(), rows));
  const int64_t unknown = unknown_of(pieces, name);
  for (const int64_t id : {specials.pad, specials.start, specials.end})
    if (id >= rows) throw Error(fmt::format("{}: special token {} is beyond the {} rows of the model", name, id, rows));
  if (std::set{unknown, specials.start, specials.end}.size() < 3)
    throw Error(fmt::format("{}: <unk>, the start of the decoder and </s> are the tokens {}, {} and {}, not three",
                            name, unknown, specials.start, specials.end));
  const bool has_pad = specials.pad != unknown && specials.pad != specials.start && specials.pad != specials.end;

  T5Vocabulary vocabulary{.order = {has_pad ? specials.pad : -1, unknown, specials.start, specials.end}, .model = {}};
  std::vector<Piece> ours{{.text = "<pad>", .type = PieceType::kControl},
                          {.text = "<unk>", .type = PieceType::kUnknown},
                          {.text = "<s>", .type = PieceType::kControl},
                          {.text = "</s>", .type = PieceType::kControl}};
  std::set<std::string> taken;
  for (const auto& piece : ours) taken.insert(piece.text);
  for (int64_t row = 0; row < rows; ++row) {
    if (std::ranges::find(vocabulary.order.begin(), vocabulary.order.begin() + 4, row) != vocabulary.order.begin() + 4)
      continue;
    const bool is_piece = row < std::ssize(pieces) && pieces[row].type != PieceType::kUnknown;
    Piece piece = is_piece ? pieces[row] : Piece{.text = text_of_row(pieces, row), .type = PieceType::kControl};
    if (piece.text.empty() || !taken.insert(piece.text).second) {
      piece = {.text = fmt::format("<row{}>", row), .type = PieceType::kControl};
      taken.insert(piece.text);
    }
    ours.push_back(std::move(piece));
    vocabulary.order.push_back(row);
  }
  vocabulary.model = with_pieces(bytes, ours);
  return vocabulary;
}

}  // namespace nmt::convert
