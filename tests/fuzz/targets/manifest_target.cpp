#include "data/manifest.h"
#include "fuzz_target.h"

NMT_FUZZ_TARGET(manifest, input) {
  static const nmt::fuzz::Folder folder;
  folder.put(nmt::kManifestFile, input);
  nmt::fuzz::takes([&] {
    const auto manifest = nmt::Manifest::read(folder.path());
    nmt::data_differences(manifest, nmt::Config());
    manifest.find_split("train");
    manifest.write(folder.path());
    nmt::fuzz::require(nmt::Manifest::read(folder.path()).hash() == manifest.hash(), "it is read again");
  });
}
