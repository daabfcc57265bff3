#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convert/formats/array.h"

namespace nmt::convert {

/// The arrays of a NumPy archive (.npz, as numpy.savez, savez_compressed and Marian write it) by their names. Floats
/// get the names of their types, bytes are I8 or U8, all else what NumPy calls it ("<i8"). The result points into the
/// file and into `unpacked`. Throws Error for what is damaged, and for arrays of Python objects, which hold a pickle.
std::map<std::string, StoredArray> read_npz(std::span<const std::byte> file, const std::string& name,
                                            std::deque<std::vector<std::byte>>& unpacked);

/// One array as numpy.save writes it (.npy): `bytes` from its first to its last.
StoredArray read_npy(std::span<const std::byte> bytes, const std::string& name);

}  // namespace nmt::convert
