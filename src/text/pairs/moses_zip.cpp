#include "text/pairs/moses_zip.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files/zip_directory.h"
#include "text/language_code.h"
#include "text/pairs/line_pairs_readers.h"

namespace nmt {
namespace {

std::string ending_of(const ZipMember& member) { return std::filesystem::path(member.name).extension().string(); }

/// The members whose ending agrees with a language so well.
std::vector<const ZipMember*> members_of(const LanguageCode& language, LanguageMatch least,
                                         const std::vector<ZipMember>& members) {
  std::vector<const ZipMember*> found;
  for (const auto& member : members)
    if (const std::string ending = ending_of(member);
        !ending.empty() && match_languages(LanguageCode(ending.substr(1)), language) >= least)
      found.push_back(&member);
  return found;
}

std::string names_of(const std::vector<const ZipMember*>& members) {
  constexpr size_t kNamed = 5;
  std::string text;
  for (size_t i = 0; i < std::min(members.size(), kNamed); ++i) text += (i > 0 ? ", " : "") + members[i]->name;
  return text + (members.size() > kNamed ? ", ..." : "");
}

const ZipMember& find_side(const std::filesystem::path& archive, const std::string& language,
                           const std::vector<ZipMember>& members) {
  using enum LanguageMatch;
  for (const auto least : {kSame, kOtherRegion, kOtherScript}) {
    const auto found = members_of(LanguageCode(language), least, members);
    if (found.size() == 1) return *found.front();
    if (found.size() > 1)
      throw Error(fmt::format("{}: a zip archive with several texts of '{}' ({}); unpack it, and name the files",
                              archive.string(), language, names_of(found)));
  }
  std::vector<const ZipMember*> all;
  for (const auto& member : members) all.push_back(&member);
  throw Error(fmt::format(
      "{}: a zip archive without a member whose name ends with the source's or target's language, .{} ({}); name the "
      "languages as the archive does, or unpack it",
      archive.string(), language, all.empty() ? "it is empty" : names_of(all)));
}

}  // namespace

std::unique_ptr<PairReader> open_zipped_side(CorpusFile& file) {
  return with_option_named(file.option, [&]() -> std::unique_ptr<PairReader> {
    const auto members = list_zip_members(file.path);
    LineReader lines(file.path, find_side(file.path, file.reading.language(file.side), members));
    file.path = lines.path();
    return std::make_unique<SentenceReader>(file, TextReader(std::move(lines), TextFormat::kPlain));
  });
}

}  // namespace nmt
