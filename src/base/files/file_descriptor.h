#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

namespace nmt {

/// An open file of the system, closed with the object. A help for the bodies of base.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }  ///< the number, which the object no longer closes

 private:
  int number_;
};

/// What opening does with a named pipe that nobody writes to yet: it waits, or the caller does by wait_for_input();
/// read(2) would say that the file is at its end.
enum class UnwrittenPipe { kWait, kReturn };

/// Opens a file to read. Throws Error: no such file, a folder, not readable; MachineError: no descriptors left.
FileDescriptor open_for_reading(const std::filesystem::path& path, UnwrittenPipe unwritten = UnwrittenPipe::kWait);

/// Opens a regular file: a pipe or device may have no end, and who opens one may wait for ever. flags, mode: of
/// open(2). For the files of a service, which has to follow signals and the other clients. Throws Error for anything
/// else, and otherwise as open_for_reading() does.
FileDescriptor open_regular_file(const std::filesystem::path& path, int flags, unsigned mode = 0);

/// Throws Error for a pipe or device, without opening it: for a file of a folder, such as a model's, where nobody means
/// one, and whose writer may never come. What a user names as a text or a configuration may well be a pipe.
void require_regular_file(const std::filesystem::path& path);

/// Waits up to so many milliseconds (-1: as long as it takes) until read(2) would have bytes or the end of the file;
/// false if the time passed or a signal came.
bool wait_for_input(int descriptor, int milliseconds);

/// One read(2), repeated when a signal interrupts it: the bytes read, 0 at the end.
/// Throws MachineError (or Error for a folder) that says `name`.
size_t read_some(int descriptor, char* bytes, size_t capacity, const std::string& name);

/// "No space left on device", of an errno value.
std::string system_message(int error_number);

}  // namespace nmt
