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
#include "decoding_flags.h"
#include "models/decoding_precision.h"
#include "models/model_directory.h"
#include "nn/device/device.h"
#include "translation/translator.h"

namespace nmt {

/// The options that nmt-translate and nmt-eval share: what is searched how, and on what.
struct DecodingArguments {
  DecodingFlags flags;
  std::optional<int64_t> max_source_length;
  std::string device = "auto";
  int threads = 0;

  void add_to(CLI::App& app) {
    const std::string group = "Search (default: what model.json says)";
    flags.add_to(app, group);
    app.add_option("--max-source-length", max_source_length,
                   "pieces; a longer line is translated in parts (default: 1024, or what learned positions allow)")
        ->group(group);
    const std::string machine = "Machine";
    app.add_option("--device", device, "auto (a GPU where there is one), cpu, cuda, cuda:N")
        ->group(machine)
        ->capture_default_str();
    app.add_option("--threads", threads, "0 = all processors")->group(machine)->capture_default_str();
  }

  /// A model's own options, changed by those given.
  TranslatorOptions options_for(const LoadedModel& first) const {
    TranslatorOptions options = translator_options(flags.applied_to(first.config));
    if (max_source_length) {
      options.max_source_length = *max_source_length;
      limit_to(*first.model, first.codec.options().source_markers, options);
      if (options.max_source_length < *max_source_length) {
        throw Error(fmt::format("--max-source-length {}: the positions of this model allow at most {}",
                                *max_source_length, options.max_source_length));
      }
    }
    options.validate();
    return options;
  }

  /// What the options need of the first model beside what load() reads. Throws Error where it has none.
  static void complete(LoadedModel& first, const TranslatorOptions& options) {
    if (options.shortlist > 0) first.lexicon = read_lexicon(first.directory, first.codec);
  }

  void set_threads() const {
    if (threads < 0) throw Error(fmt::format("--threads {}: use 1 or more, or 0 for all processors", threads));
    at::set_num_threads(threads > 0 ? threads : default_threads());
  }

  LoadedModel load(const std::filesystem::path& directory) const {
    const auto where = resolve_device(device);
    LoadedModel loaded = load_model(directory, where);
    const auto precision = flags.applied_to(loaded.config).decoding.precision;
    prepare_decoding(loaded, resolve_decoding_precision(precision, where));
    return loaded;
  }
};

}  // namespace nmt
