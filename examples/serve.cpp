// A translation service inside this program: prints its address and serves until standard input ends.
//   serve MODEL_DIRECTORY [HOST:PORT]
#include <nmt/server.h>

#include <iostream>
#include <string>

int main(int argc, char** argv) try {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: serve MODEL_DIRECTORY [HOST:PORT]\n";
    return 2;
  }
  nmt::ServerOptions options;
  options.translator.models = {argv[1]};
  if (argc == 3) options.address = argv[2];
  options.log = [](nmt::LogLevel, const std::string& line) { std::cerr << line << '\n'; };
  nmt::Server server(options);
  std::cout << server.url() << std::endl;

  for (std::string line; std::getline(std::cin, line);) {
  }
  server.stop();
  return 0;
} catch (const nmt::Error& error) {
  std::cerr << "serve: " << error.what() << '\n';
  return 1;
}
