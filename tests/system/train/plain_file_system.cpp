// A library to load before all others (LD_PRELOAD): every file system looks like NFS without its lock service. Names
// cannot be exchanged, nothing can be locked, no file can be without a name. Two variables of the environment end the
// process as a kill would:
//   NMT_TEST_KILL_BEFORE_RENAME=N   before its rename number N, from 1
//   NMT_TEST_KILL_AFTER_ASIDE=1     before a new folder takes the place of one that was moved out of it
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/files/faked_file_system.h"

namespace {

void kill_before_rename(int number, const std::filesystem::path& from) {
  const char* last = std::getenv("NMT_TEST_KILL_BEFORE_RENAME");
  const bool is_aside = std::getenv("NMT_TEST_KILL_AFTER_ASIDE") != nullptr && from.filename() == "new" &&
                        std::filesystem::exists(from.parent_path() / "old");
  if (is_aside || (last != nullptr && number + 1 == std::atoi(last))) ::kill(::getpid(), SIGKILL);
}

const struct Plain {
  Plain() {
    system.refuse_exchange();
    system.refuse_locks(ENOLCK);
    system.refuse_nameless_files();
    system.before_rename(kill_before_rename);
  }
  nmt::test::FakedFileSystem system;
} plain;

}  // namespace
