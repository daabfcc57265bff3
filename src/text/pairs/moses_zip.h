#pragma once

#include <memory>

#include "text/pairs/pair_reader.h"

namespace nmt {

/// One side of a zip archive of Moses pairs, as OPUS has them: NAME.de-en.de and NAME.de-en.en, plain text, beside
/// files that are none (README, LICENSE). The member is told by its ending, the code of the side's language, also of
/// another region (de_AT for de). Throws Error: no such member or several, one that is encrypted or packed by other
/// means than deflate, a damaged archive. file.path becomes the member's, below the archive's.
std::unique_ptr<PairReader> open_zipped_side(CorpusFile& file);

}  // namespace nmt
