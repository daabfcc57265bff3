#pragma once

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/threads.h"
#include "decoding_flags.h"
#include "translation/model_set.h"

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
    app.add_option("--device", device, "auto: a GPU where there is one")
        ->group(machine)
        ->type_name("auto|cpu|cuda|cuda:N")
        ->capture_default_str();
    app.add_option("--threads", threads, fmt::format("at most {}; 0 = all processors", kMostThreads))
        ->group(machine)
        ->capture_default_str();
  }

  /// These models, with what is said here. Throws Error.
  ModelSetOptions model_set(std::vector<std::filesystem::path> directories, std::vector<double> weights) const {
    if (directories.size() == 1 && flags.has("combination"))
      throw Error("--combination: joins several models, and one is translating; leave it out");
    return {.directories = std::move(directories),
            .weights = std::move(weights),
            .device = device,
            .max_source_length = max_source_length,
            .changed = [this](const Config& config) { return flags.applied_to(config); }};
  }

  void set_threads() const {
    check_threads("--threads", threads);
    at::set_num_threads(threads > 0 ? threads : default_threads());
  }
};

}  // namespace nmt
