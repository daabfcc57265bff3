#include "archive/zip_archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.h"

namespace nmt {
namespace {

struct ZipDiscard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct ZipSourceFree {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
struct ZipFileClose {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using OpenArchive = std::unique_ptr<zip_t, ZipDiscard>;
using OwnedSource = std::unique_ptr<zip_source_t, ZipSourceFree>;
using OpenEntry = std::unique_ptr<zip_file_t, ZipFileClose>;

std::string message_and_clear(zip_error_t& error) {
  std::string message = zip_error_strerror(&error);
  zip_error_fini(&error);
  return message;
}

struct ArchiveAndBytes {
  OwnedSource bytes;
  OpenArchive archive;  ///< null for what is damaged: `damage` says how
  std::string damage = {};
};

/// To be written, an archive gets a copy of the bytes that is its own: libzip 1.7.3 frees a buffer that it shares
/// between the old archive and the new one, whoever it belongs to.
ArchiveAndBytes open_archive(std::string_view bytes, bool is_written) {
  zip_error_t error;
  zip_error_init(&error);
  const void* buffer = bytes.data();
  if (is_written) {
    void* copy = std::malloc(bytes.size());
    if (!copy) throw std::bad_alloc();
    buffer = std::memcpy(copy, bytes.data(), bytes.size());
  }
  OwnedSource source(zip_source_buffer_create(buffer, bytes.size(), is_written, &error));
  if (!source) throw MachineError("libzip: " + message_and_clear(error));
  zip_source_keep(source.get());
  OpenArchive archive(zip_open_from_source(source.get(), is_written ? 0 : ZIP_RDONLY, &error));
  if (!archive) {
    zip_source_free(source.get());
    return {std::move(source), nullptr, message_and_clear(error)};
  }
  zip_error_fini(&error);
  return {std::move(source), std::move(archive)};
}

bool leaves_folder(std::string_view name) {
  return name.empty() || name.front() == '/' || name == ".." || name.starts_with("../") || name.ends_with("/..") ||
         name.find("/../") != name.npos || name.find('\\') != name.npos || (name.size() > 1 && name[1] == ':');
}

}  // namespace

struct ZipArchive::State {
  std::string_view bytes;
  std::string name;
  ArchiveAndBytes opened;
  std::vector<std::string> names;
  std::map<std::string, zip_stat_t> entries;

  Error damaged(const std::string& what) const {
    return Error(fmt::format("{} is no sound zip archive: {}; save or fetch it again", name, what));
  }
};

ZipArchive::ZipArchive(std::string_view bytes, std::string name, const ZipLimits& limits)
    : state_(std::make_unique<State>(State{bytes, std::move(name), open_archive(bytes, false), {}, {}})) {
  State& state = *state_;
  zip_t* archive = state.opened.archive.get();
  if (!archive) throw state.damaged(state.opened.damage);
  if (!bytes.starts_with("PK")) throw state.damaged("it does not begin as one");  // libzip opens a file of no bytes
  const auto count = static_cast<uint64_t>(zip_get_num_entries(archive, 0));
  if (count > limits.entries)
    throw Error(fmt::format("{} is an archive of {} entries, more than {}", state.name, count, limits.entries));
  uint64_t unpacked = 0, packed = 0;
  for (uint64_t i = 0; i < count; ++i) {
    zip_stat_t entry;
    constexpr uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD |
                                 ZIP_STAT_CRC | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(archive, i, ZIP_FL_ENC_RAW, &entry) != 0 || (entry.valid & kNeeded) != kNeeded)
      throw state.damaged("an entry of its directory");
    const std::string entry_name = entry.name;
    if (leaves_folder(entry_name))
      throw Error(fmt::format("{} is an archive with a name that leaves its folder; it is not read", state.name));
    if (entry.encryption_method != ZIP_EM_NONE)
      throw Error(fmt::format("{} is locked with a password; save it without one", state.name));
    if (entry.size > limits.unpacked_bytes - unpacked)
      throw Error(fmt::format("{} is larger than {} bytes when it is unpacked", state.name, limits.unpacked_bytes));
    unpacked += entry.size;
    if (entry.comp_size > bytes.size() - packed) throw state.damaged("its entries overlap");
    packed += entry.comp_size;
    state.names.push_back(entry_name);
    if (!state.entries.emplace(entry_name, entry).second) throw state.damaged("a name stands twice");
  }
  constexpr uint64_t kSmall = 1 << 20;
  if (unpacked > kSmall && unpacked / limits.ratio > bytes.size())
    throw Error(fmt::format("{} grows to more than {} times its size when it is unpacked; it is not read", state.name,
                            limits.ratio));
}

ZipArchive::~ZipArchive() = default;
ZipArchive::ZipArchive(ZipArchive&&) noexcept = default;

const std::vector<std::string>& ZipArchive::names() const { return state_->names; }

bool ZipArchive::has(const std::string& name) const { return state_->entries.contains(name); }

std::string ZipArchive::read(const std::string& name) const {
  const auto found = state_->entries.find(name);
  if (found == state_->entries.end()) throw Error(fmt::format("{} has no {}; save it again", state_->name, name));
  const zip_stat_t& entry = found->second;
  const OpenEntry file(zip_fopen_index(state_->opened.archive.get(), entry.index, 0));
  if (!file) throw state_->damaged(name + " cannot be unpacked");
  // One byte more than it says: where there is none, libzip compares the checksum. The limits bound all of it.
  std::string data(entry.size + 1, '\0');
  size_t size = 0;
  while (size < data.size()) {
    const auto count = zip_fread(file.get(), data.data() + size, data.size() - size);
    const bool has_no_checksum = count < 0 && entry.crc == 0 && entry.comp_method == ZIP_CM_STORE &&
                                 zip_error_code_zip(zip_file_get_error(file.get())) == ZIP_ER_CRC;
    if (count < 0 && !has_no_checksum) throw state_->damaged(name + " cannot be unpacked");
    if (count <= 0) break;
    size += static_cast<size_t>(count);
  }
  if (size != entry.size) throw state_->damaged(name + " has another size than its directory says");
  data.pop_back();
  return data;
}

std::string ZipArchive::replaced(const std::map<std::string, std::string>& entries) const {
  if (entries.empty()) return std::string(state_->bytes);
  auto opened = open_archive(state_->bytes, true);
  zip_t* archive = opened.archive.get();
  if (!archive) throw state_->damaged(opened.damage);
  const auto check = [&](bool is_good) {
    if (!is_good) throw MachineError(fmt::format("libzip: {}", zip_strerror(archive)));
  };
  for (const auto& [name, data] : entries) {
    const zip_stat_t& entry = state_->entries.at(name);
    OwnedSource source(zip_source_buffer(archive, data.data(), data.size(), 0));
    check(source != nullptr);
    check(zip_file_replace(archive, entry.index, source.get(), 0) == 0);
    static_cast<void>(source.release());  // is the archive's now
    const bool is_stored = entry.comp_method == ZIP_CM_STORE;
    check(zip_set_file_compression(archive, entry.index, is_stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE, 0) == 0);
    check(zip_file_set_mtime(archive, entry.index, entry.mtime, 0) == 0);
  }
  if (zip_close(archive) != 0) throw state_->damaged(zip_strerror(archive));
  static_cast<void>(opened.archive.release());

  zip_source_t* written = opened.bytes.get();
  zip_stat_t size;
  if (zip_source_stat(written, &size) != 0 || zip_source_open(written) != 0)
    throw MachineError("libzip: cannot read back");
  std::string out(size.size, '\0');
  const auto count = zip_source_read(written, out.data(), out.size());
  zip_source_close(written);
  if (count != static_cast<zip_int64_t>(out.size())) throw MachineError("libzip: cannot read back");
  return out;
}

}  // namespace nmt
