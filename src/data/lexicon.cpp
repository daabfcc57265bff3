#include "data/lexicon.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"

namespace nmt {
namespace {

static_assert(std::endian::native == std::endian::little, "the lexicon is written as it stands in memory");

constexpr std::array<char, 8> kMagic = {'N', 'M', 'T', 'L', 'E', 'X', 'I', 'C'};
constexpr uint32_t kLexiconVersion = 1;
constexpr size_t kHashDigits = 64;
constexpr size_t kLargest = size_t{4} << 30;  // bytes

/// Little-endian; then ends uint32[source_vocabulary], translations int32[translations], frequent
/// int32[target_vocabulary], and the SHA-256 of all bytes before it in hexadecimal.
struct Header {
  std::array<char, 8> magic = kMagic;
  uint32_t version = kLexiconVersion;
  uint32_t header_size = sizeof(Header);
  uint64_t source_vocabulary = 0, target_vocabulary = 0, translations = 0, max = 0;
  std::array<char, kHashDigits> vocabularies{};
};
static_assert(sizeof(Header) == 112);

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error(fmt::format("{}: {}; copy it again, or make it with nmt-prepro (data.shortlist)", path.string(), why));
}

template <typename T>
void append(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <typename T>
std::vector<T> take(std::string_view& bytes, uint64_t count) {
  std::vector<T> values(count);
  if (count > 0) std::memcpy(values.data(), bytes.data(), count * sizeof(T));
  bytes.remove_prefix(count * sizeof(T));
  return values;
}

Header read_header(std::string_view bytes, const std::filesystem::path& path) {
  Header header;
  const size_t known = std::min(bytes.size(), sizeof header.magic);
  if (bytes.empty() || std::memcmp(bytes.data(), kMagic.data(), known) != 0)
    refuse(path, "not a lexicon of nmt-prepro");
  if (bytes.size() < sizeof header + kHashDigits) refuse(path, "cut short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kLexiconVersion)
    refuse(path, fmt::format("of format version {}, where {} is read", header.version, kLexiconVersion));
  const uint64_t numbers = (bytes.size() - sizeof header - kHashDigits) / sizeof(int32_t);
  const std::array<uint64_t, 3> counts = {header.source_vocabulary, header.translations, header.target_vocabulary};
  uint64_t sum = 0;
  for (const uint64_t count : counts) sum += std::min(count, numbers + 1);  // a sum that cannot overflow
  if (header.header_size != sizeof header || sum != numbers || bytes.size() % sizeof(int32_t) != 0)
    refuse(path, fmt::format("damaged: of {} bytes, which its header does not say", bytes.size()));
  return header;
}

bool are_below(std::span<const int32_t> ids, int64_t limit) {
  return std::ranges::all_of(ids, [&](int32_t id) { return id >= 0 && id < limit; });
}

}  // namespace

Lexicon::Lexicon(std::vector<std::vector<int32_t>> best, std::vector<int32_t> frequent, int64_t max,
                 std::string vocabularies)
    : frequent_(std::move(frequent)), max_(max), vocabularies_(std::move(vocabularies)) {
  for (const auto& translations : best) {
    translations_.insert(translations_.end(), translations.begin(), translations.end());
    ends_.push_back(static_cast<uint32_t>(translations_.size()));
  }
}

Lexicon Lexicon::read(const std::filesystem::path& path) {
  Lexicon lexicon;
  lexicon.parse(read_regular_file(path, kLargest), path);
  return lexicon;
}

void Lexicon::parse(std::string_view bytes, const std::filesystem::path& path) {
  const Header header = read_header(bytes, path);
  const auto content = bytes.substr(0, bytes.size() - kHashDigits);
  if (sha256_of_bytes(content) != bytes.substr(content.size())) refuse(path, "damaged: its checksum differs");
  auto rest = content.substr(sizeof header);
  ends_ = take<uint32_t>(rest, header.source_vocabulary);
  translations_ = take<int32_t>(rest, header.translations);
  frequent_ = take<int32_t>(rest, header.target_vocabulary);
  max_ = static_cast<int64_t>(std::min<uint64_t>(header.max, header.target_vocabulary));
  vocabularies_.assign(header.vocabularies.begin(), header.vocabularies.end());
  const bool ordered = std::ranges::is_sorted(ends_) && (ends_.empty() ? 0 : ends_.back()) == translations_.size();
  if (!ordered || !are_below(translations_, target_vocabulary()) || !are_below(frequent_, target_vocabulary()))
    refuse(path, "damaged in its lists");
}

void Lexicon::write(const std::filesystem::path& path) const {
  Header header{.source_vocabulary = ends_.size(),
                .target_vocabulary = frequent_.size(),
                .translations = translations_.size(),
                .max = static_cast<uint64_t>(max_)};
  std::copy_n(vocabularies_.begin(), std::min(vocabularies_.size(), kHashDigits), header.vocabularies.begin());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  append(bytes, ends_);
  append(bytes, translations_);
  append(bytes, frequent_);
  bytes += sha256_of_bytes(bytes);
  write_file_atomically(path, bytes);
}

std::span<const int32_t> Lexicon::best(int32_t source_piece) const {
  const uint32_t begin = source_piece == 0 ? 0 : ends_.at(source_piece - 1);
  return std::span(translations_).subspan(begin, ends_.at(source_piece) - begin);
}

std::string vocabularies_of(const TextCodec& codec) {
  Sha256 sum;
  for (const Tokenizer* side : {&codec.source(), &codec.target()}) {
    sum.add(fmt::format("{}\n", side->size()));
    for (int32_t id = 0; id < side->size(); ++id) sum.add(side->piece(id) + "\n");
  }
  return sum.hex();
}

}  // namespace nmt
