// What torch.save() writes. The input is taken as a file, and as the pickle within an archive, whose checksums would
// keep a fuzzer out.
#include "archive.h"
#include "convert/formats/torch_file.h"
#include "fuzz_target.h"
#include "read_weights.h"

NMT_FUZZ_TARGET(torch_file, input) {
  static const nmt::fuzz::Folder folder;
  nmt::fuzz::read_weights(folder.put("x.bin", input));
  std::string storage(32, '\0');
  for (size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<char>(i);
  const std::string pickle(input);
  nmt::fuzz::read_weights(
      folder.put("y.bin", nmt::test::Archive().add("m/data.pkl", pickle).add("m/data/0", storage).bytes()));
}
