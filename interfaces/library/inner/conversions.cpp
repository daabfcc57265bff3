#include "library/inner/conversions.h"

#include <spdlog/sinks/base_sink.h>

#include <mutex>
#include <utility>

#include "config/loading/initial_model.h"

namespace nmt::api {

nmt::LoadedConfig loaded(const Configuration& configuration) {
  return load_run_config(configuration.file, configuration.settings);
}

namespace {

class CallerSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit CallerSink(LogSink sink) : caller_(std::move(sink)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const auto level = message.level >= spdlog::level::err    ? LogLevel::kError
                       : message.level == spdlog::level::warn ? LogLevel::kWarning
                                                              : LogLevel::kInfo;
    try {
      caller_(level, std::string(message.payload.data(), message.payload.size()));
    } catch (...) {  // a line that cannot be told ends no work
    }
  }
  void flush_() override {}

 private:
  LogSink caller_;
};

}  // namespace

std::shared_ptr<nmt::Logger> logger_to(const LogSink& sink) {
  auto logger = std::make_shared<nmt::Logger>("nmt");
  if (sink) logger->sinks().push_back(std::make_shared<CallerSink>(sink));
  logger->flush_on(spdlog::level::trace);
  return logger;
}

}  // namespace nmt::api
