#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nmt::documents {

/// What the two sides of a MessageChannel say first in each message.
enum class MessageKind : uint64_t {
  kDocument,      ///< to the program: what is to be translated; from it: the translated document
  kTexts,         ///< of the document
  kTranslations,  ///< of these texts
  kRefused,       ///< an Error: the document is damaged or asks for more than its limits
  kTooLarge,      ///< memory is used up
  kFailed,        ///< a MachineError
};

/// The exit code of nmt-document where there is no memory even to say so.
inline constexpr int kMemoryUsedUp = 3;

/// A message says something else than expected: its writer is broken.
class DamagedMessage : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Numbers and texts, one behind the other. Both sides run on one machine, so numbers have its order of bytes.
class MessageWriter {
 public:
  explicit MessageWriter(MessageKind kind) { number(static_cast<uint64_t>(kind)); }
  void number(uint64_t value);
  void text(std::string_view text);
  std::string bytes;
};

/// Reads what a MessageWriter wrote. Throws DamagedMessage where the message ends before.
class MessageReader {
 public:
  explicit MessageReader(std::string_view message);
  MessageKind kind() const { return kind_; }
  uint64_t number();
  /// The number of things that follow, of which each has `size` bytes or more.
  size_t count(size_t size);
  std::string_view text();  ///< of the message, which has to live as long

 private:
  std::string_view rest_;
  MessageKind kind_;
};

/// Messages over a connected socket. It does not own the socket.
class MessageChannel {
 public:
  /// `check` is called some twenty times a second while the other side is waited for; it may throw.
  explicit MessageChannel(int socket, std::function<void()> check = {}) : socket_(socket), check_(std::move(check)) {}

  /// False if the other side is gone.
  bool send(std::string_view message);
  /// Nullopt if the other side is gone. Throws std::length_error, before it takes any memory, if the messages so far
  /// and this one are more than `most_bytes` together.
  std::optional<std::string> receive(uint64_t most_bytes = UINT64_MAX);

 private:
  void wait_for(short events) const;
  bool receive(char* bytes, size_t size);

  int socket_;
  std::function<void()> check_;
  uint64_t received_ = 0;
};

}  // namespace nmt::documents
