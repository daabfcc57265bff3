// Translates a document with a translator that is no model: document_tool shout|reverse|scramble|same INPUT OUTPUT.
// What Python's readers say of the result: document_compare.py.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "documents/document.h"
#include "text/alignment/toy_translators.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string kind = argv[1];
  std::vector<std::string> seen;
  const nmt::TranslateTexts translate = kind == "shout"      ? nmt::TranslateTexts(nmt::test::shout)
                                        : kind == "reverse"  ? nmt::TranslateTexts(nmt::test::reverse_words)
                                        : kind == "scramble" ? nmt::TranslateTexts(nmt::test::scramble)
                                                             : nmt::test::listing(seen);
  try {
    std::ifstream in(argv[2], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const auto out = nmt::translate_document(nmt::require_document_format(argv[2]).format, bytes, translate);
    std::ofstream(argv[3], std::ios::binary) << out;
  } catch (const nmt::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
