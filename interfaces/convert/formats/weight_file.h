#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "convert/formats/array.h"
#include "convert/formats/zip_members.h"

namespace nmt::convert {

/// The arrays of a NumPy archive (.npz, as numpy.savez, savez_compressed and Marian write it) by their names. Floats
/// get the names of their types, bytes are I8 or U8, all else what NumPy calls it ("<i8"). The result points into
/// `members`. Throws Error for what is damaged, and for arrays of Python objects, which hold a pickle.
std::map<std::string, StoredArray> read_npz(const ZipMembers& members, const std::string& name);

/// One array as numpy.save writes it (.npy): `bytes` from its first to its last.
StoredArray read_npy(std::span<const std::byte> bytes, const std::string& name);

/// The weights of a file on the disk. Memory holds those that are asked for, and of an archive all of it.
class WeightFile {
 public:
  /// safetensors (.safetensors); arrays of NumPy (.npz); else what torch.save() wrote, in the form of today (a zip
  /// archive) or that before PyTorch 1.6, by the file's first bytes. Throws Error for a damaged or foreign file, and
  /// for a pickle with code.
  explicit WeightFile(const std::filesystem::path& path);

  bool has(const std::string& name) const { return arrays_.contains(name); }
  const std::map<std::string, StoredArray>& arrays() const { return arrays_; }
  const std::string& path() const { return path_; }
  /// Throws Error where it is missing.
  const StoredArray& stored(const std::string& name) const;
  /// The first of these names that the file has. Throws Error naming the first where it has none.
  std::string first_of(std::initializer_list<const char*> names) const;
  /// The first axis of a tensor; throws Error where it is missing.
  int64_t rows(const std::string& name) const;
  /// Throws Error for a tensor that is missing or has another shape (a vector [n] may be stored as [1, n]).
  void check(const std::string& name, const Shape& shape) const;
  /// Throws Error for a tensor that is none of these: one that nobody reads is a part of the network that nobody
  /// computes.
  void refuse_others(const std::set<std::string>& known) const;
  /// Checks as check() does and reads; throws Error also for what is no weight, and where tensors share their bytes so
  /// often that what has been read is more than twice the file. Throws Stopped.
  Array read(const std::string& name, const Shape& shape);
  /// From here on a matrix has its axes swapped: Marian stores [in, out]. Others, and names that are missing, stay.
  void transpose(const std::string& name);

 private:
  std::string path_;
  std::shared_ptr<const MappedFile> mapped_;
  size_t file_size_;
  std::shared_ptr<ZipMembers> members_;  // where the file is an archive
  std::map<std::string, StoredArray> arrays_;
  size_t bytes_read_ = 0;
};

}  // namespace nmt::convert
