#include "nmt/configuration.h"

#include "api/guard.h"
#include "api/loaded_configuration.h"

namespace nmt::api {

nmt::LoadedConfig loaded(const Configuration& configuration) {
  return configuration.file.empty() ? parse_config("", "settings", configuration.settings)
                                    : load_config(configuration.file, configuration.settings);
}

std::string effective_configuration(const Configuration& configuration) {
  return guarded([&] { return to_yaml(loaded(configuration).config, YamlComments::kHelp); });
}

}  // namespace nmt::api
