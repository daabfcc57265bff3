#pragma once

namespace nmt::test {

/// Stands in for calls of the system, of this test program only: a file system such as NFS, and a kill between two
/// calls. Everything is as usual again with the end of the object.
class FakedFileSystem {
 public:
  FakedFileSystem();
  ~FakedFileSystem();
  FakedFileSystem(const FakedFileSystem&) = delete;

  void refuse_exchange();                      ///< renameat2() with flags: EINVAL
  void refuse_locks(int reason);               ///< flock(): this errno value
  void refuse_nameless_files();                ///< open() with O_TMPFILE: EOPNOTSUPP
  void end_process_before_rename(int number);  ///< rename() number 0, 1, ...: the process ends, as if it were killed
};

}  // namespace nmt::test
