// Prepares the data of a configuration and trains, as nmt-prepro and nmt-train do. Ctrl-C ends it with its state saved;
// the same command resumes.
//   train CONFIG.yaml [SECTION.KEY=VALUE ...]
#include <nmt/memory.h>
#include <nmt/prepare.h>
#include <nmt/trainer.h>

#include <csignal>
#include <iostream>

namespace {

const nmt::StopToken stop;

void on_signal(int) { stop.request_stop(); }

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "usage: train CONFIG.yaml [SECTION.KEY=VALUE ...]\n";
    return 2;
  }
  nmt::reuse_freed_tensors();  // LibTorch's memory is this program's alone
  std::signal(SIGINT, on_signal);
  const nmt::Configuration configuration{argv[1], {argv + 2, argv + argc}};
  const nmt::LogSink log = [](nmt::LogLevel, const std::string& line) { std::cerr << line << '\n'; };

  nmt::PrepareOptions data;
  data.configuration = configuration;
  data.stop = stop;
  data.log = log;
  std::cout << nmt::prepare(data).table;

  nmt::TrainerOptions options;
  options.configuration = configuration;
  options.stop = stop;
  options.callbacks.on_update = [](const nmt::UpdateFigures& update) {
    if (update.update % 50 == 0) std::cout << "update " << update.update << ": loss " << update.loss << std::endl;
  };
  options.callbacks.on_validation = [](const nmt::ValidationFigures& validation) {
    std::cout << "validation at update " << validation.update << ": " << validation.bleu_text
              << (validation.is_best ? " (best)" : "") << std::endl;
  };
  const auto result = nmt::Trainer(options).run();
  std::cout << (result.stopped ? "stopped" : "done") << " after " << result.updates
            << " updates; best model: " << result.best_model << '\n';
  return 0;
} catch (const nmt::Stopped&) {
  std::cerr << "train: stopped\n";
  return 130;
} catch (const nmt::Error& error) {
  std::cerr << "train: " << error.what() << '\n';
  return 1;
}
