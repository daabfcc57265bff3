#pragma once

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/process/log.h"
#include "base/process/signals.h"
#include "serving/http_server.h"
#include "translation/model_service.h"

namespace nmt {

/// nmt-translate --serve: its options, and the service itself.
struct ServingArguments {
  std::string address, api_key, allowed_origin;
  double time_limit = 30, window = 2;
  int64_t queue_lines = 1024, max_body = 1 << 20;

  void add_to(CLI::App& app) {
    const std::string group = "Service";
    app.add_option("--serve", address,
                   "answer requests over HTTP until stopped, see docs/serving.md; PORT alone: from this machine only")
        ->group(group)
        ->type_name("HOST:PORT");
    app.add_option("--api-key", api_key, "clients must send this as api_key; better set in the environment")
        ->group(group)
        ->envname("NMT_API_KEY")
        ->type_name("KEY");
    const auto add = [&](const char* name, auto& value, const char* help) {
      return app.add_option(name, value, help)->group(group)->needs("--serve");
    };
    add("--allow-origin", allowed_origin, "web pages of this origin may use the service; * = all")->type_name("ORIGIN");
    add("--time-limit", time_limit, "seconds from a request to its answer, else 504")->capture_default_str();
    add("--queue", queue_lines, "lines that may wait for the translator, else 503")->capture_default_str();
    add("--max-body", max_body, "bytes of a request, else 413")->type_name("BYTES")->capture_default_str();
    add("--batch-window", window, "milliseconds that an idle translator waits for more requests")
        ->capture_default_str();
  }

  bool wanted() const { return !address.empty(); }

  /// Throws Error where an option is given that the requests say themselves, or that a service has not.
  void check(const CLI::App& app) const {
    for (const char* name : {"--input", "--input-format", "--text", "--score", "--output", "--format", "--n-best",
                             "--scores", "--token-scores", "--copy-unknown", "--alignment", "--alignment-out",
                             "--attention-out", "--prefix", "--must", "--must-not"}) {
      if (wanted() && app.count(name) > 0) throw Error(fmt::format("{}: not with --serve", name));
    }
  }

  /// Serves until SIGINT or SIGTERM; the exit code.
  int run(std::vector<TranslatorModel> models, const TranslatorOptions& options, Logger& log) const {
    ServerOptions settings = server_options(*models.front().codec, options);
    const ModelService service(std::move(models), options);
    HttpServer server([&](std::span<const Question> questions) { return service(questions); }, std::move(settings),
                      log);
    std::printf("%s\n", server.url().c_str());
    std::fflush(stdout);
    if (!Address::parse(address).is_local() && api_key.empty())
      log.warn("everybody who can reach this machine may use the service: --api-key asks for a key");
    while (stop_signal() == 0) {
      if (!server.listening()) throw MachineError(fmt::format("{}: the system ended the connection", server.url()));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    log.info("stopping: requests that have come in are answered");
    server.stop();
    return stop_exit_code();
  }

 private:
  static std::chrono::milliseconds milliseconds(const char* option, double value, double scale) {
    if (!(value >= 0 && value * scale < 1e9)) throw Error(fmt::format("{} {}: out of range", option, value));
    return std::chrono::milliseconds(std::llround(value * scale));
  }

  ServerOptions server_options(const TextCodec& codec, const TranslatorOptions& options) const {
    const auto code = [](const std::string& language) { return language.empty() ? "und" : language; };
    return {.address = Address::parse(address),
            .allowed_origin = allowed_origin,
            .max_body_bytes = max_body,
            .service = {.source_language = code(codec.options().source_language),
                        .target_language = code(codec.options().target_language),
                        .api_key = api_key,
                        .max_n_best = options.search.beam_size,
                        .time_limit = milliseconds("--time-limit", time_limit, 1000),
                        .queue = {.max_waiting = queue_lines,
                                  .max_batch = options.batch_size * at::get_num_threads(),
                                  .window = milliseconds("--batch-window", window, 1)}}};
  }
};

}  // namespace nmt
