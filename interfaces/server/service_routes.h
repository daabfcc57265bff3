#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process/log.h"
#include "server/http/http_message.h"
#include "server/translation_service.h"

namespace nmt {

/// The routes of docs/serving.md: which function of a TranslationService answers which request.
class ServiceRoutes {
 public:
  /// Borrows service and log: they must outlive it. encrypted: clients come by HTTPS. path_prefix: of all paths, as
  /// clients know them (HttpServerOptions).
  ServiceRoutes(TranslationService& service, bool encrypted, std::string path_prefix, Logger& log)
      : service_(service), encrypted_(encrypted), path_prefix_(std::move(path_prefix)), log_(log) {}

  /// Answers a request, now or later. Any thread may call it; what fails is told to the client and to the log.
  void answer(const HttpRequest& request, const HttpReply& reply) const;
  /// True where that takes no time, and waits for nothing: it may run on the thread that serves all connections.
  static bool is_quick(const HttpRequest& request);
  /// The route for counting: "other" for a path that is none.
  static std::string route_of(std::string_view path);
  /// Where documents are sent.
  static std::string file_path() { return "/translate_file"; }
  /// What is served when all connections are taken.
  static std::vector<std::string> always_answered() { return {"/health", "/metrics"}; }

 private:
  void get(const HttpRequest& request, const HttpReply& reply) const;
  void post(const HttpRequest& request, const HttpReply& reply) const;
  static void page(const HttpRequest& request, const std::string& name, const HttpReply& reply);
  void download(const HttpRequest& request, const HttpReply& reply) const;
  void file(const HttpRequest& request, const Caller& caller, const HttpReply& reply) const;
  std::string base_url(const HttpRequest& request) const;

  TranslationService& service_;
  const bool encrypted_;
  const std::string path_prefix_;
  Logger& log_;
};

}  // namespace nmt
