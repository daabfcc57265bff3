// Marian's own form: decoder.yml, the options within the .npz and vocab.yml are the input's parts.
#include <fmt/format.h>

#include "tiny_marian.h"

namespace {

std::string array(const std::string& type, const std::string& shape, const std::string& data) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}\n", type, shape);
  return std::string("\x93NUMPY\x01\0", 8) + nmt::test::number(static_cast<uint16_t>(header.size())) + header + data;
}

std::string weights(const std::string& options) {
  nmt::test::Archive archive;
  const auto add = [&](const std::string& name, nmt::convert::Shape shape) {
    std::reverse(shape.begin(), shape.end());  // Marian's matrices are [in, out], its vectors [1, n]
    if (shape.size() == 1) shape.insert(shape.begin(), 1);
    archive.add(name + ".npy", array("<f4", fmt::format("{}, {}", shape[0], shape[1]),
                                     std::string(4 * static_cast<size_t>(shape[0] * shape[1]), '\0')));
  };
  nmt::fuzz::for_each_tiny_tensor(nmt::convert::marian_npz_block_names(nmt::fuzz::tiny_shape()), add);
  add("Wemb", {2, nmt::fuzz::kTinyRows});
  add("decoder_ff_logit_out_b", {nmt::fuzz::kTinyRows});
  return archive.add("special:model.yml.npy", array("|i1", fmt::format("{},", options.size()), options)).bytes();
}

}  // namespace

NMT_FUZZ_TARGET(marian_npz, input) {
  static const nmt::fuzz::Folder folder;
  const auto parts = nmt::fuzz::parts_of(input, 3);
  for (const char* name : {"source.spm", "target.spm"}) folder.put(name, nmt::fuzz::tiny_sentencepiece());
  folder.put("decoder.yml", parts[0]);
  folder.put("model.npz", weights(parts[1]));
  folder.put("vocab.yml", parts[2]);
  nmt::fuzz::read_marian_folder(folder);
}
