#include "documents/process/message_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nmt::documents {
namespace {

constexpr int kCheckMilliseconds = 50;

bool is_only_late() { return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

void MessageWriter::number(uint64_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof raw);
}

void MessageWriter::text(std::string_view text) {
  number(text.size());
  bytes += text;
}

MessageReader::MessageReader(std::string_view message)
    : rest_(message), kind_(static_cast<MessageKind>(MessageReader::number())) {}

uint64_t MessageReader::number() {
  uint64_t value = 0;
  if (rest_.size() < sizeof value) throw DamagedMessage("a message ends too early");
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_.remove_prefix(sizeof value);
  return value;
}

size_t MessageReader::count(size_t size) {
  const uint64_t count = number();
  if (count > rest_.size() / size) throw DamagedMessage("a message ends too early");
  return count;
}

std::string_view MessageReader::text() {
  const size_t size = count(1);
  const auto text = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return text;
}

void MessageChannel::wait_for(short events) const {
  pollfd socket{.fd = socket_, .events = events, .revents = 0};
  while (::poll(&socket, 1, check_ ? kCheckMilliseconds : -1) <= 0)  // the time is over, or a signal came
    if (check_) check_();
}

bool MessageChannel::send(std::string_view message) {
  const uint64_t size = message.size();
  char raw[sizeof size];
  std::memcpy(raw, &size, sizeof size);
  for (std::string_view rest : {std::string_view(raw, sizeof raw), message})
    while (!rest.empty()) {
      wait_for(POLLOUT);
      // No signal where the other side is gone: a library must not end the program that it is in.
      const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0)
        rest.remove_prefix(static_cast<size_t>(sent));
      else if (!is_only_late())
        return false;
    }
  return true;
}

bool MessageChannel::receive(char* bytes, size_t size) {
  while (size > 0) {
    wait_for(POLLIN);
    const ssize_t count = ::recv(socket_, bytes, size, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && !is_only_late())) return false;
    if (count < 0) continue;
    bytes += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

std::optional<std::string> MessageChannel::receive(uint64_t most_bytes) {
  uint64_t size = 0;
  char raw[sizeof size];
  if (!receive(raw, sizeof raw)) return std::nullopt;
  std::memcpy(&size, raw, sizeof size);
  if (size > most_bytes - std::min(received_, most_bytes)) throw std::length_error("a message is too long");
  received_ += size;
  std::string message(size, '\0');
  if (!receive(message.data(), message.size())) return std::nullopt;
  return message;
}

}  // namespace nmt::documents
