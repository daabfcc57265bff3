#include "library/inner/loaded_configuration.h"

namespace nmt::api {

nmt::LoadedConfig loaded(const Configuration& configuration) {
  return configuration.file.empty() ? parse_config("", "settings", configuration.settings)
                                    : load_config(configuration.file, configuration.settings);
}

}  // namespace nmt::api
