#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "base/process/user_files.h"
#include "server/models/model_pool.h"
#include "server/models/model_server.h"
#include "server/service_routes.h"

namespace nmt {

/// nmt-translate --serve: its options, and the service itself.
struct ServingArguments {
  std::string address, config, api_key, key_file, allowed_origin, suggestions, access_log, url_prefix;
  std::vector<std::string> allowed_hosts, aliases;
  TlsFiles tls;
  HttpLimits http;
  RateLimit rate;
  double time_limit = 30, window = 0;
  int64_t queue_lines = 1024, max_characters = AdmissionRules().max_characters, file_bytes = 16 << 20;
  int64_t max_document_characters = AdmissionRules().max_document_characters;

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
    app.add_option("--serve-config", config, "YAML file that names the models of the service, instead of --model")
        ->group(group)
        ->needs("--serve")
        ->excludes("--model")
        ->type_name("FILE");
    app.add_option("--alias", aliases, "further code by which clients may name a language of the model: no=nb")
        ->group(group)
        ->needs("--serve")
        ->excludes("--serve-config")
        ->type_name("CODE=CODE");
    const auto add = [&](const char* name, auto& value, const char* help) {
      return app.add_option(name, value, help)->group(group)->needs("--serve");
    };
    add("--api-keys", key_file, "file of keys with their limits")->type_name("FILE");
    add("--requests-per-minute", rate.requests, "of one address, where there are no keys, else 429; 0: no limit")
        ->capture_default_str();
    add("--characters-per-minute", rate.characters, "of one address, where there are no keys, else 429; 0: no limit")
        ->capture_default_str();
    add("--tls-certificate", tls.certificate, "PEM file with the chain: answer over HTTPS")->type_name("FILE");
    add("--tls-key", tls.key, "PEM file of its private key")->type_name("FILE");
    add("--allow-origin", allowed_origin, "web pages of this origin may use the service; * = all")->type_name("ORIGIN");
    add("--allow-host", allowed_hosts, "further name by which a local address may be asked; * = all")
        ->type_name("NAME");
    add("--url-prefix", url_prefix, "path below which a proxy serves: of the addresses of documents")
        ->type_name("PATH");
    add("--time-limit", time_limit, "seconds from a request to its answer, else 504")->capture_default_str();
    add("--queue", queue_lines, "lines that may wait for the translator, else 503")->capture_default_str();
    add("--max-body", http.body_bytes, "bytes of a request, else 413")->type_name("BYTES")->capture_default_str();
    add("--max-file", file_bytes, "bytes of a document, else 413")->type_name("BYTES")->capture_default_str();
    add("--max-characters", max_characters, "characters of a request, else 400")->capture_default_str();
    add("--max-document-characters", max_document_characters, "characters of the texts of a document, else 400")
        ->capture_default_str();
    add("--suggestions", suggestions, "collect better translations from clients (POST /suggest) in this file")
        ->type_name("FILE");
    add("--access-log", access_log, "a line of JSON for each request, without its text; - = standard error")
        ->type_name("FILE");
    add("--connections", http.connections, "open at the same time; one that waits for its client makes room, else 503")
        ->capture_default_str();
    add("--batch-window", window, "milliseconds that an idle translator waits for more requests")
        ->capture_default_str();
  }

  bool wanted() const { return !address.empty(); }
  bool has_models() const { return !config.empty(); }

  /// Throws Error where an option is given that the requests say themselves, or that a service has not.
  void check(const CLI::App& app) const {
    for (const char* name : {"--glossary", "--keep-placeholders"}) {
      if (has_models() && app.count(name) > 0)
        throw Error(fmt::format("{}: with --serve-config it stands in that file, at a model", name));
    }
    // Where it comes from the environment, translating continues as before.
    if (!wanted() && app.get_option("--api-key")->count() > 0 && !std::getenv("NMT_API_KEY"))
      throw Error("--api-key: is for --serve; leave it out");
    if (app.count("--serve") > 0 && address.empty()) throw Error("--serve: is empty; give PORT or HOST:PORT");
    // A key that a start script failed to fill in must not open the service.
    const char* of_environment = std::getenv("NMT_API_KEY");
    if (wanted() && api_key.empty() && (app.count("--api-key") > 0 || (of_environment && key_file.empty())))
      throw Error("--api-key (or NMT_API_KEY) is empty; leave it out to serve everybody");
    if (!api_key.empty() && !key_file.empty()) throw Error("--api-key and --api-keys: give one of them");
    for (const auto& [name, limit] :
         {std::pair("--requests-per-minute", rate.requests), {"--characters-per-minute", rate.characters}}) {
      if (limit > 0 && (!api_key.empty() || !key_file.empty()))
        throw Error(
            fmt::format("{}: is of addresses, and whoever asks has a key; leave it out, and write the limits of "
                        "each key into the file of --api-keys (KEY REQUESTS CHARACTERS)",
                        name));
    }
    if (app.count("--allow-origin") > 0 && allowed_origin.empty())
      throw Error("--allow-origin: is empty; give an origin such as https://example.org, or * for all");
  }

  std::vector<UserFile> inputs() const {
    return {{"--serve-config", config},
            {"--api-keys", key_file},
            {"--tls-certificate", tls.certificate},
            {"--tls-key", tls.key}};
  }
  std::vector<UserFile> outputs() const {
    return {{"--suggestions", suggestions}, {"--access-log", access_log == "-" ? "" : access_log}};
  }

  /// Serves one model, or those of --serve-config, until SIGINT or SIGTERM; the exit code. On SIGHUP models and
  /// certificates are read again; what is wrong then is logged, and all stays as it was. Throws Error where an output
  /// is a file of a model, or its glossary.
  int run(const ServiceModel& model, const ModelPoolOptions& options, Logger& log) const {
    const auto load = [&] {
      ServiceConfig models = has_models() ? read_service_config(config) : ServiceConfig{.models = {model}};
      for (const auto& alias : aliases) add_alias(alias, models);
      check_outputs(files_of(models), outputs());
      return std::make_shared<ModelPool>(std::move(models), options, log);
    };
    catch_hangup();  // first: models may take minutes to load
    ModelServer server(
        {.load = load, .options = [&](const ModelPool& pool) { return server_options(pool, options.threads); }}, log);
    std::printf("%s\n", server.url().c_str());
    std::fflush(stdout);
    if (server.is_open())
      log.warn("everybody who can reach this machine may use the service: --api-key asks for a key");
    while (stop_signal() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (!take_hangup()) continue;
      try {
        server.reload();
        log.info("models and certificates were read again");
      } catch (const std::exception& error) {
        log.error("SIGHUP: {}; all stays as it was", error.what());
      }
    }
    log.info("stopping: requests that have come in are answered");
    server.stop();
    return stop_exit_code();
  }

 private:
  /// scale: milliseconds of one of the option's units. least: milliseconds.
  static std::chrono::milliseconds milliseconds(const char* option, double value, double scale, double least) {
    constexpr double kMost = 1e9;
    if (!(value * scale >= least && value * scale <= kMost))
      throw Error(fmt::format("{} {}: give a number from {} to {}", option, value, least / scale, kMost / scale));
    return std::chrono::milliseconds(std::llround(value * scale));
  }

  static void add_alias(const std::string& text, ServiceConfig& models) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
      throw Error(fmt::format("--alias {}: a code, =, and the code that it stands for were expected: no=nb", text));
    const auto alias = text.substr(0, equals);
    models.aliases[alias] = text.substr(equals + 1);
    models.places["aliases " + alias] = "--alias ";
  }

  /// What is read of the models.
  std::vector<UserFile> files_of(const ServiceConfig& service) const {
    std::vector<UserFile> files;
    for (const auto& model : service.models) {
      for (const auto& directory : model.directories)
        append_files_of_folder(has_models() ? "--serve-config" : "--model", directory, files);
      files.push_back({has_models() ? "--serve-config" : "--glossary", model.glossary_file});
      files.push_back({has_models() ? "--serve-config" : "--adapter", model.adapter});
    }
    return files;
  }

  ServerOptions server_options(const ModelPool& pool, int threads) const {
    HttpLimits limits = http;
    limits.body_bytes_of[ServiceRoutes::file_path()] = file_bytes;
    limits.answer = milliseconds("--time-limit", time_limit, 1000, 1);
    return {.http = {.address = Address::parse(address),
                     .limits = limits,
                     .access = {.allowed_hosts = allowed_hosts, .allowed_origin = allowed_origin},
                     .tls = tls,
                     .path_prefix = url_prefix},
            .service = {.pairs = pool.pairs(),
                        .aliases = pool.aliases(),
                        .admission = {.keys = !key_file.empty()  ? ApiKeys::from_file(key_file)
                                              : !api_key.empty() ? ApiKeys::single(api_key)
                                                                 : ApiKeys(),
                                      .limit = rate,
                                      .max_characters = max_characters,
                                      .max_document_characters = max_document_characters},
                        .max_n_best = pool.max_n_best(),
                        .suggestions = suggestions,
                        .queue = {.max_waiting = queue_lines,
                                  .max_batch = pool.batch_size() * threads,
                                  .window = milliseconds("--batch-window", window, 1, 0)}},
            .access_log = access_log};
  }
};

}  // namespace nmt
