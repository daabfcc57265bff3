// An epoch of training batches: order, shares of the corpora, augmentation, subword sampling, padding, without
// the model. Usage: epoch_bench CONFIG [SECTION.KEY=VALUE ...]; nmt-prepro has prepared the data. Prints how many pairs
// it had.

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/process/app.h"
#include "config/loading/schema.h"
#include "data/batch_stream.h"
#include "data/prepared_data.h"
#include "training/batch_options.h"

int main(int argc, char** argv) {
  return nmt::run_app("epoch_bench", [&] {
    if (argc < 2) throw nmt::Error("epoch_bench CONFIG [SECTION.KEY=VALUE ...]: name a configuration");
    const auto config = nmt::load_config(argv[1], std::vector<std::string>(argv + 2, argv + argc)).config;
    const auto data = nmt::open_prepared_data(config);
    nmt::BatchStream stream(data.train, nmt::batch_options(config, data));
    int64_t pairs = 0;
    while (stream.position().epoch == 0) pairs += stream.next().size;
    fmt::print("{}\n", pairs);
    return EXIT_SUCCESS;
  });
}
