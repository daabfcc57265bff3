#pragma once

#include <memory>

#include "config/config.h"
#include "data/preparation/prepare_observer.h"

namespace nmt::compat {

/// data.naming kyubyong2019: what the prepro.py of Kyubyong's Transformer of 2019 writes, in the folder of the prepared
/// data. DE and EN are the languages' codes; further sets of data.eval and data.test are eval.NAME and test.NAME.
///
///   prepro/train.DE train.EN eval.DE eval.EN test.DE test.EN
///       all lines that were read, without markup, also those of pairs that are dropped; no line end behind the last
///   prepro/train
///       the lines of train.DE, then those of train.EN
///   segmented/bpe.model bpe.vocab
///       the SentencePiece model, and "piece TAB score" a line
///   segmented/train.DE.bpe train.EN.bpe eval.DE.bpe eval.EN.bpe test.DE.bpe
///       the same lines in pieces, spaces between, a line end behind each; what is unknown stands as its text
///
/// nullptr for data.naming plain. data must outlive it.
std::unique_ptr<PrepareObserver> make_prepared_files(const DataConfig& data);

}  // namespace nmt::compat
