#include "library/c/c_guard.h"
#include "library/c/c_objects.h"
#include "library/c/c_options.h"

using namespace nmt::api;

extern "C" {

nmt_status nmt_server_new(const char* model, const nmt_options* options, nmt_log_function log, void* user,
                          nmt_server** server) {
  if (server) *server = nullptr;
  return without_exceptions([&] {
    require(server, "server");
    ServerOptions wanted;
    if (model) wanted.translator.models.emplace_back(model);
    OptionReader reader(options);
    read_translator(reader, wanted.translator);
    reader.read("address", wanted.address);
    reader.read("config_file", wanted.config_file);
    reader.read("split_sentences", wanted.split_sentences);
    reader.read("api_key", wanted.api_key);
    reader.read("api_keys_file", wanted.api_keys_file);
    reader.read("tls_certificate", wanted.tls_certificate);
    reader.read("tls_key", wanted.tls_key);
    reader.read("allowed_origin", wanted.allowed_origin);
    reader.read("allowed_host", wanted.allowed_hosts);
    reader.read("requests_per_minute", wanted.requests_per_minute);
    reader.read("characters_per_minute", wanted.characters_per_minute);
    reader.read("time_limit", wanted.time_limit);
    reader.read("queue_lines", wanted.queue_lines);
    reader.read("max_characters", wanted.max_characters);
    reader.read("access_log", wanted.access_log);
    reader.finish();
    wanted.log = sink_of(log, user);
    Server made(wanted);
    auto url = made.url();
    *server = new nmt_server{std::move(made), std::move(url)};
  });
}

const char* nmt_server_url(const nmt_server* server) { return server ? server->url.c_str() : ""; }

void nmt_server_free(nmt_server* server) {
  const CancellationOff whole_call;
  delete server;
}

}  // extern "C"
