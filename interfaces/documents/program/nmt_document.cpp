// nmt-document: reads a document that a stranger may have made and writes the translated one, for one call of
// translate_document_apart(). It speaks over the socket that is its standard input.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "documents/document.h"
#include "documents/process/message_channel.h"

namespace nmt {
namespace {

using documents::MessageChannel;
using documents::MessageKind;
using documents::MessageReader;
using documents::MessageWriter;

/// The program that asked is gone.
struct NobodyWaits {};

[[maybe_unused]] void limit(int resource, uint64_t most) {
  const rlimit both{.rlim_cur = most, .rlim_max = most};
  if (::setrlimit(static_cast<__rlimit_resource>(resource), &both) != 0)
    throw MachineError("cannot limit nmt-document");
}

/// From here on it opens no file, starts no process and takes no more than it may.
void limit_this_process([[maybe_unused]] uint64_t memory, [[maybe_unused]] uint64_t processor_seconds) {
#ifndef NMT_SANITIZED  // sanitizers reserve terabytes of addresses, and open files and threads of their own
  limit(RLIMIT_AS, memory);
  limit(RLIMIT_CPU, processor_seconds);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NPROC, 0);
  limit(RLIMIT_NOFILE, 1);  // those that are open stay so; poll(2) takes as many
#endif
}

std::vector<AlignedTranslation> ask(MessageChannel& channel, std::span<const std::string> texts) {
  MessageWriter question(MessageKind::kTexts);
  question.number(texts.size());
  for (const auto& text : texts) question.text(text);
  if (!channel.send(question.bytes)) throw NobodyWaits();
  const auto answer = channel.receive();
  if (!answer) throw NobodyWaits();
  MessageReader message(*answer);
  std::vector<AlignedTranslation> translations(message.count(sizeof(uint64_t)));
  for (auto& [text, alignment] : translations) {
    text = message.text();
    alignment.resize(message.count(sizeof(uint64_t)));
    for (auto& words : alignment)
      for (size_t* place : {&words.source_begin, &words.source_end, &words.target_begin, &words.target_end})
        *place = message.number();
  }
  return translations;
}

std::string answer(MessageChannel& channel) {
  const auto said = [](MessageKind kind, std::string_view text) {
    MessageWriter message(kind);
    message.text(text);
    return std::move(message.bytes);
  };
  try {
    const auto request = channel.receive();
    if (!request) throw NobodyWaits();
    MessageReader message(*request);
    const auto format = static_cast<DocumentFormat>(message.number());
    DocumentLimits limits;
    limits.unpacked_bytes = message.number();
    limits.ratio = message.number();
    limits.entries = message.number();
    limits.depth = message.number();
    limits.memory = message.number();
    limits.processor_seconds = message.number();
    limit_this_process(limits.memory, limits.processor_seconds);
    const auto translate = [&](std::span<const std::string> texts) { return ask(channel, texts); };
    std::vector<std::string> warnings;
    MessageWriter reply(MessageKind::kDocument);
    reply.text(translate_document(format, message.text(), translate, limits, &warnings));
    reply.number(warnings.size());
    for (const auto& warning : warnings) reply.text(warning);
    return std::move(reply.bytes);
  } catch (const Error& error) {
    return said(MessageKind::kRefused, error.what());
  } catch (const std::bad_alloc&) {
    return said(MessageKind::kTooLarge, "");
  } catch (const std::exception& error) {
    return said(MessageKind::kFailed, error.what());
  }
}

/// Whether somebody has started it who speaks its language.
bool has_socket() {
  int kind = 0;
  socklen_t size = sizeof kind;
  return ::getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &kind, &size) == 0;
}

int run() {
  if (!has_socket()) {
    std::fputs("nmt-document: it reads documents for nmt-translate, which starts it; use nmt-translate --format-in\n",
               stderr);
    return 2;
  }
  try {
    MessageChannel channel(STDIN_FILENO);
    channel.send(answer(channel));
  } catch (const NobodyWaits&) {
  } catch (const std::bad_alloc&) {
    return documents::kMemoryUsedUp;
  }
  return 0;
}

}  // namespace
}  // namespace nmt

int main() { return nmt::run(); }
