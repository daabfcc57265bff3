// BLEU, chrF and TER of two files, and BLEU of the first line alone.
//   score HYPOTHESES REFERENCES
#include <nmt/scorer.h>

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

std::vector<std::string> lines_of(const char* path) {
  std::ifstream file(path);
  if (!file) throw nmt::UserError(std::string(path) + ": cannot be read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: score HYPOTHESES REFERENCES\n";
    return 2;
  }
  const auto hypotheses = lines_of(argv[1]), references = lines_of(argv[2]);

  nmt::CorpusOptions with_interval;
  with_interval.bootstrap = 1000;
  const nmt::Scorer bleu{nmt::BleuOptions()};
  std::cout << bleu.corpus_score(hypotheses, {references}, with_interval).text << '\n';
  std::cout << nmt::Scorer(nmt::ChrfOptions()).corpus_score(hypotheses, {references}).text << '\n';
  std::cout << nmt::Scorer(nmt::TerOptions()).corpus_score(hypotheses, {references}).text << '\n';
  std::cout << bleu.sentence_score(hypotheses.front(), {references.front()}).text << '\n';
  return 0;
} catch (const nmt::Error& error) {
  std::cerr << "score: " << error.what() << '\n';
  return 1;
}
