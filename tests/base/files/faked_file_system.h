#pragma once

#include <functional>
#include <string>

namespace nmt::test {

/// Stands in for calls of the system, of this test program only: a file system such as NFS, and what happens between
/// two calls. Everything is as usual again with the end of the object.
class FakedFileSystem {
 public:
  FakedFileSystem();
  ~FakedFileSystem();
  FakedFileSystem(const FakedFileSystem&) = delete;

  void refuse_exchange();         ///< renameat2() with flags: EINVAL
  void refuse_locks(int reason);  ///< flock(): this errno value
  void refuse_nameless_files();   ///< open() with O_TMPFILE: EOPNOTSUPP
  /// Called before call number 0, 1, ... with its first path: for another program's work, or a kill.
  using Happens = std::function<void(int number, const std::string& path)>;
  void before_rename(Happens happens);
  void before_unlink(Happens happens);
};

}  // namespace nmt::test
