#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "data/preparation/encoder.h"
#include "text/codec/codec.h"

namespace nmt {

/// Hears of one split while nmt-prepro writes it.
class SplitObserver {
 public:
  virtual ~SplitObserver() = default;
  /// Each pair that was read, in order, also one that is dropped.
  virtual void on_pair(const EncodedPair& pair) = 0;
  /// The last call. Throws MachineError.
  virtual void on_end() = 0;
};

/// Hears of a preparation, for files beside the toolkit's own in the folder of the prepared data.
class PrepareObserver {
 public:
  virtual ~PrepareObserver() = default;
  /// Its files, as "prepro/train.de": a later nmt-prepro may replace them.
  virtual std::set<std::string> files() const = 0;
  /// Called for train, valid, valid.NAME, test and test.NAME in turn. The codec outlives the result.
  virtual std::unique_ptr<SplitObserver> on_split(const std::string& split, const TextCodec& codec,
                                                  const std::filesystem::path& folder) const = 0;
  /// Splits and vocabularies stand in the folder. Throws MachineError.
  virtual void on_end(const std::filesystem::path& folder) const = 0;
};

}  // namespace nmt
