#pragma once

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/threads.h"
#include "decoding/translator.h"
#include "models/model_directory.h"
#include "nn/device.h"

namespace nmt {

/// The options that nmt-translate and nmt-eval share: what is searched how, and on what.
struct DecodingArguments {
  std::optional<int64_t> beam_size, max_length_offset, batch_size, max_source_length;
  std::optional<double> length_penalty, max_length_ratio;
  std::optional<std::string> length_penalty_form;
  std::string device = "auto", precision = "auto";
  int threads = 0;

  void add_to(CLI::App& app) {
    const std::string group = "Search (default: what model.json says)";
    app.add_option("--beam-size", beam_size, "hypotheses kept a sentence; 1 = greedy")->group(group);
    app.add_option("--length-penalty", length_penalty, "alpha of the length penalty; 0 = none")->group(group);
    app.add_option("--length-penalty-form", length_penalty_form, "paper: ((5 + n) / 6)^alpha; simple: n^alpha")
        ->group(group);
    app.add_option("--max-length-ratio", max_length_ratio,
                   "a translation has at most RATIO * source pieces + OFFSET pieces, end symbols counted")
        ->group(group)
        ->type_name("RATIO");
    app.add_option("--max-length-offset", max_length_offset, "see --max-length-ratio")
        ->group(group)
        ->type_name("OFFSET");
    app.add_option("--max-source-length", max_source_length,
                   "pieces; a longer line is translated in parts (default: 1024, or what learned positions allow)")
        ->group(group);
    app.add_option("--batch-size", batch_size, "sentences translated together; changes speed and memory only")
        ->group(group);
    const std::string machine = "Machine";
    app.add_option("--device", device, "auto (a GPU where there is one), cpu, cuda, cuda:N")
        ->group(machine)
        ->capture_default_str();
    app.add_option("--precision", precision, "auto (fp32 on the CPU, bf16 on a GPU), fp32, bf16")
        ->group(machine)
        ->capture_default_str();
    app.add_option("--threads", threads, "0 = all processors")->group(machine)->capture_default_str();
  }

  /// A model's own options, changed by those given.
  TranslatorOptions options_for(const Config& config) const {
    Config changed = config;
    DecodingConfig& decoding = changed.decoding;
    if (beam_size) decoding.beam_size = *beam_size;
    if (length_penalty) decoding.length_penalty = *length_penalty;
    if (length_penalty_form) decoding.length_penalty_form = *length_penalty_form;
    if (max_length_ratio) decoding.max_length_ratio = *max_length_ratio;
    if (max_length_offset) decoding.max_length_offset = *max_length_offset;
    if (batch_size) decoding.batch_size = *batch_size;
    TranslatorOptions options = translator_options(changed);
    if (max_source_length) {
      const bool learned = changed.model.positions == "learned" || changed.model.positions == "product";
      if (learned && *max_source_length > options.max_source_length) {
        throw Error(fmt::format("--max-source-length {}: the learned positions of this model allow at most {}",
                                *max_source_length, options.max_source_length));
      }
      options.max_source_length = *max_source_length;
    }
    options.validate();
    return options;
  }

  void set_threads() const {
    if (threads < 0) throw Error(fmt::format("--threads {}: use 1 or more, or 0 for all processors", threads));
    at::set_num_threads(threads > 0 ? threads : default_threads());
  }

  LoadedModel load(const std::filesystem::path& directory) const {
    const auto where = resolve_device(device);
    // On the CPU float32 is the faster one for a search, and translations do not depend on the batch.
    const bool fp32 = precision == "auto" && where.is_cpu();
    const auto type = resolve_precision(fp32 ? "fp32" : precision, where);
    LoadedModel loaded = load_model(directory, where);
    loaded.model->set_compute_type(type);
    return loaded;
  }
};

}  // namespace nmt
