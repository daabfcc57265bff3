#include "text/pairs/corpus_files.h"

namespace nmt {

std::string CorpusFiles::name() const {
  const std::string name = source.filename().string();
  return target.empty() || target == source ? name : name + " + " + target.filename().string();
}

}  // namespace nmt
