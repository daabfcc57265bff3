// nmt-score: the command line of sacreBLEU. Its exit codes are sacreBLEU's, not those of the toolkit's other programs.
#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "scoring/command/score_command.h"

int main(int argc, char** argv) {
  using namespace nmt::scoring;
  std::signal(SIGXFSZ, SIG_IGN);  // a file over its limit shows as a write error
  std::ios::sync_with_stdio(false);
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const int exit_code =
        run_score_command(arguments, {.out = std::cout, .messages = std::cerr, .colors = isatty(STDOUT_FILENO) != 0});
    if (std::cout.flush()) return exit_code;
    std::cerr << "nmt-score: cannot write to standard output; is the disk full?\n";
  } catch (const std::exception& error) {
    std::cerr << "nmt-score: " << error.what() << '\n';
  }
  return kFailed;
}
