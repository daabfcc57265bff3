#include "nmt/configuration.h"

#include "library/inner/guard.h"
#include "library/inner/loaded_configuration.h"

namespace nmt::api {

std::string effective_configuration(const Configuration& configuration) {
  return guarded([&] { return to_yaml(loaded(configuration).config, YamlComments::kHelp); });
}

}  // namespace nmt::api
