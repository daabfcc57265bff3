#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "server/languages/service_languages.h"
#include "text/terms.h"

namespace nmt {

/// One of the models of a service: of one pair of languages.
struct ServiceModel {
  std::vector<std::filesystem::path> directories;  ///< several: an ensemble
  std::vector<double> weights = {};                ///< of an ensemble's votes; empty: all the same
  std::filesystem::path adapter = {};              ///< of the one directory; empty: none
  std::string source = {}, target = {};            ///< empty: as the model says
  /// Before each source sentence, in place of the model's own (TextCodec::Options); empty: the model's own.
  std::string source_prefix = {};
  std::shared_ptr<const Glossary> glossary = {};  ///< of requests without one; null: none
  std::filesystem::path glossary_file = {};       ///< where it was read from
  bool keep_placeholders = false;                 ///< of all requests
  std::string place = {};                         ///< "FILE:LINE: ", for messages; empty: the command line names it
  /// What the service changes of the model's own configuration.
  std::function<Config(const Config&)> changed = [](const Config& config) { return config; };
  std::string decoding = {};  ///< the same as a text; models with one text have the same changes
};

/// A file that says which models a service has (docs/serving.md#several-models).
struct ServiceConfig {
  std::vector<ServiceModel> models;
  int64_t memory = 0;  ///< bytes of the models that are loaded at the same time; 0: as many as there are
  /// Languages through which a text goes where no model translates its pair, the best first.
  std::vector<std::string> pivots = {};
  LanguageAliases aliases = {};
  /// "FILE:LINE: NAME: " of memory and of each pivot and alias, for messages.
  std::map<std::string, std::string> places = {};

  /// The same; empty where no file says it.
  std::string place(const std::string& name) const {
    const auto found = places.find(name);
    return found == places.end() ? "" : found->second;
  }
};

/// A glossary of the service itself, a regular file. Throws Error.
std::shared_ptr<const Glossary> read_service_glossary(const std::filesystem::path& file);

/// Folders are relative to that of the file. Throws Error ("FILE:LINE: ...") for what is not as it should be.
ServiceConfig read_service_config(const std::filesystem::path& file);

}  // namespace nmt
