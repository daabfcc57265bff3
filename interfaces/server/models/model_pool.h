#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/process/log.h"
#include "server/models/service_config.h"
#include "server/queue/line_queue.h"
#include "translation/model_set.h"
#include "translation/translator.h"

namespace nmt {

/// What all models of a service have in common.
struct ModelPoolOptions {
  std::string device = "auto";
  std::optional<int64_t> max_source_length = {};
  std::optional<bool> split_sentences = {};  ///< of requests that do not say; unset: as each model says
  /// What the command line changes of each model's configuration, before the service's file does.
  std::function<Config(const Config&)> changed = [](const Config& config) { return config; };
  int threads = 0;        ///< of ModelSetOptions,
  bool is_guest = false;  ///< as this
};

/// The models of a service: each is loaded when it is asked for first, and the one that was not asked for longest
/// leaves where there is no memory for all. A text whose pair has no model goes through a third language. One thread at
/// a time.
class ModelPool {
 public:
  /// Borrows log. Without a limit of memory all models are loaded now; with one those that name a layer or head of
  /// alignments or a prefix, which they may not have, or an adapter. Throws Error for a folder that is no model, two
  /// models of one pair, a model that is larger than the memory, and aliases and pivots that do nothing.
  ModelPool(ServiceConfig config, ModelPoolOptions options, Logger& log);
  ~ModelPool();

  /// The pairs of the models, then those that go through another language.
  std::vector<LanguagePair> pairs() const;
  const LanguageAliases& aliases() const { return config_.aliases; }
  int64_t max_n_best() const;  ///< the translations of a line that can be had, of one of the models at least
  int64_t batch_size() const;  ///< the largest of the models'

  /// Answers the lines of a pair, as a LineTranslator. Throws Error where its model cannot be loaded any more.
  void serve(const LanguagePair& pair, TranslationQueue& lines);
  /// A translation for each request, in order. None when `stopped` ended the search.
  std::vector<Translation> translations(const LanguagePair& pair, std::span<const Request> requests,
                                        const std::function<bool()>& stopped);

 private:
  struct Entry;
  struct Route {
    LanguagePair pair;
    std::vector<size_t> entries;  // one model, or two behind each other
  };
  void find_routes();
  void check_languages() const;
  const Route& route_of(const LanguagePair& pair) const;
  const Translator& loaded(Entry& entry);
  std::shared_ptr<ModelSet> shared_models(const Entry& entry) const;
  void make_room(int64_t bytes);

  const ServiceConfig config_;
  const ModelPoolOptions options_;
  Logger& log_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<Route> routes_;
  int64_t turn_ = 0;  // counts uses
};

}  // namespace nmt
