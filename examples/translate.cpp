// Translates the lines of standard input, and tells of the first one how sure the model is and which words belong
// together.
//   translate MODEL_DIRECTORY < SOURCE > TRANSLATIONS
#include <nmt/translator.h>

#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: translate MODEL_DIRECTORY < SOURCE > TRANSLATIONS\n";
    return 2;
  }
  const nmt::Translator translator(argv[1]);

  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);

  nmt::TranslateOptions options;
  options.decoding.beam_size = 4;
  options.n_best = 2;
  options.alignment = translator.has_attention();
  const auto translations = translator.translate(lines, options);
  for (const auto& translation : translations) std::cout << translation.text << '\n';

  if (translations.empty()) return 0;
  for (const auto& alternative : translations.front().alternatives) {
    std::cerr << alternative.score << "  " << alternative.text << '\n';
    for (const auto& [source, target] : alternative.alignment) std::cerr << source << '-' << target << ' ';
    std::cerr << '\n';
  }
  return 0;
} catch (const nmt::Error& error) {
  std::cerr << "translate: " << error.what() << '\n';
  return 1;
}
