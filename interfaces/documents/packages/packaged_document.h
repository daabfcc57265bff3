#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "documents/segments/segment.h"
#include "documents/segments/text_document.h"
#include "text/aligned_translation.h"

namespace nmt::documents {

/// An archive in memory, read and written by libzip.
class ZipArchive {
 public:
  /// Throws Error for what is damaged or encrypted, for names that leave the folder or stand twice, and for what asks
  /// for more than the limits. Nothing is unpacked yet. `bytes` have to live as long as the archive.
  ZipArchive(std::string_view bytes, const DocumentLimits& limits);
  ~ZipArchive();
  ZipArchive(ZipArchive&&) noexcept;

  const std::vector<std::string>& names() const;  ///< in the order of the archive
  bool has(const std::string& name) const;
  /// The unpacked bytes of an entry, of which the checksum is compared. Throws Error if it is not there.
  std::string read(const std::string& name) const;

  /// The archive with the bytes of these entries replaced. All other entries keep their packed bytes, and all keep
  /// their order, their time and the way in which they are packed.
  std::string replaced(const std::map<std::string, std::string>& entries) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An entry of an archive with text in it.
struct PackagedPart {
  std::string name;
  std::unique_ptr<TextDocument> document;
};

/// Lists the parts of an archive and reads them.
using ReadParts = std::function<std::vector<PackagedPart>(const ZipArchive&, const DocumentLimits&)>;

/// The archive with all its texts translated as one batch. Entries without a change keep their packed bytes.
std::string translate_package(std::string_view bytes, const ReadParts& read, const TranslateTexts& translate,
                              const DocumentLimits& limits);

}  // namespace nmt::documents
