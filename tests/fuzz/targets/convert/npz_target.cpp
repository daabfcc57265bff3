// NumPy's archives. The input is taken as a file, and as an array within an archive, whose checksums would keep a
// fuzzer out.
#include "archive.h"
#include "convert/formats/weight_file.h"
#include "fuzz_target.h"
#include "read_weights.h"

NMT_FUZZ_TARGET(npz, input) {
  static const nmt::fuzz::Folder folder;
  nmt::fuzz::read_weights(folder.put("x.npz", input));
  const std::string array(input);
  nmt::fuzz::read_weights(folder.put("y.npz", nmt::test::Archive().add("w.npy", array).bytes()));
  nmt::fuzz::read_weights(folder.put("z.npz", nmt::test::Archive().add_deflated("w.npy", array).bytes()));
}
