#include "documents/process/document_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/files/file_descriptor.h"
#include "base/unicode.h"
#include "documents/process/message_channel.h"

namespace nmt {
namespace {

namespace fs = std::filesystem;
using documents::DamagedMessage;
using documents::MessageChannel;
using documents::MessageKind;
using documents::MessageReader;
using documents::MessageWriter;

constexpr size_t kLongestRefusal = 1000;  // bytes

/// The folder of the program or of the shared library that holds this function.
fs::path own_folder() {
  Dl_info info;
  void* map = nullptr;
  const bool is_found =
      ::dladdr1(reinterpret_cast<const void*>(&own_folder), &info, &map, RTLD_DL_LINKMAP) != 0 && map != nullptr;
  const fs::path library = is_found ? static_cast<link_map*>(map)->l_name : "";
  return fs::canonical(library.empty() ? "/proc/self/exe" : library).parent_path();
}

/// Beside this program, as in a build folder and in the Python package; below the same prefix; where CMake puts it.
std::string document_program() {
  const auto folder = own_folder();
  for (const auto& path :
       {folder / "nmt-document", folder.parent_path() / "libexec/nmt/nmt-document", fs::path(NMT_DOCUMENT_PROGRAM)})
    if (::access(path.c_str(), X_OK) == 0) return path.string();
  throw MachineError(
      fmt::format("the program nmt-document, which reads documents, is neither in {} nor {}; install "
                  "it with the other programs",
                  folder.string(), NMT_DOCUMENT_PROGRAM));
}

struct SpawnActions {
  SpawnActions() { ::posix_spawn_file_actions_init(&actions); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t actions;
};
struct SpawnAttributes {
  SpawnAttributes() { ::posix_spawnattr_init(&attributes); }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  posix_spawnattr_t attributes;
};

/// nmt-document at the other end of a socket. It ends with this object.
class DocumentProcess {
 public:
  DocumentProcess() : socket_(-1) {
    const std::string program = document_program();
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw MachineError("no socket for nmt-document: " + system_message(errno));
    socket_ = FileDescriptor(ends[0]);
    const FileDescriptor other(ends[1]);

    SpawnActions files;
    ::posix_spawn_file_actions_adddup2(&files.actions, other.number(), STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&files.actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&files.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&files.actions, STDERR_FILENO + 1);  // sockets of clients
    SpawnAttributes how;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&how.attributes, &none);
    ::posix_spawnattr_setsigdefault(&how.attributes, &all);
    // In a group of its own: Ctrl-C is for the program that waits for it.
    ::posix_spawnattr_setpgroup(&how.attributes, 0);
    ::posix_spawnattr_setflags(&how.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::string name = "nmt-document";
    char* arguments[] = {name.data(), nullptr};
    char* environment[] = {nullptr};  // there may be keys in ours
    const int failure = ::posix_spawn(&id_, program.c_str(), &files.actions, &how.attributes, arguments, environment);
    if (failure != 0) throw MachineError(fmt::format("{}: cannot be started: {}", program, system_message(failure)));
  }
  ~DocumentProcess() {
    if (is_waited_for_) return;
    ::kill(id_, SIGKILL);
    status();
  }
  DocumentProcess(const DocumentProcess&) = delete;
  DocumentProcess& operator=(const DocumentProcess&) = delete;

  int socket() const { return socket_.number(); }

  /// Throws what its death means.
  [[noreturn]] void throw_death() {
    const int how = status();
    const bool is_killed = WIFSIGNALED(how) && (WTERMSIG(how) == SIGXCPU || WTERMSIG(how) == SIGKILL);
    if (is_killed || (WIFEXITED(how) && WEXITSTATUS(how) == documents::kMemoryUsedUp))
      throw DocumentTooLarge("the document takes more processor time or memory than one may; send it in parts");
    throw Error(fmt::format("the document is damaged: its reader ended ({} {}); save it again",
                            WIFSIGNALED(how) ? "signal" : "exit code",
                            WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how)));
  }

 private:
  int status() {
    int how = 0;
    while (::waitpid(id_, &how, 0) < 0 && errno == EINTR) {
    }
    is_waited_for_ = true;
    return how;
  }

  FileDescriptor socket_;
  pid_t id_ = -1;
  bool is_waited_for_ = false;
};

std::string request(DocumentFormat format, std::string_view bytes, const DocumentLimits& limits) {
  MessageWriter message(MessageKind::kDocument);
  for (const uint64_t number :
       {static_cast<uint64_t>(format), limits.unpacked_bytes, limits.ratio, static_cast<uint64_t>(limits.entries),
        static_cast<uint64_t>(limits.depth), limits.memory, limits.processor_seconds})
    message.number(number);
  message.text(bytes);
  return std::move(message.bytes);
}

std::vector<std::string> texts_of(MessageReader& message) {
  std::vector<std::string> texts(message.count(sizeof(uint64_t)));
  for (auto& text : texts) {
    text = message.text();
    if (find_invalid_utf8(text)) throw DamagedMessage("a text is not UTF-8");
  }
  return texts;
}

std::string translations_message(const std::vector<AlignedTranslation>& translations) {
  MessageWriter message(MessageKind::kTranslations);
  message.number(translations.size());
  for (const auto& [text, alignment] : translations) {
    message.text(text);
    message.number(alignment.size());
    for (const auto& words : alignment)
      for (const size_t place : {words.source_begin, words.source_end, words.target_begin, words.target_end})
        message.number(place);
  }
  return std::move(message.bytes);
}

/// The translated document. Throws what the program says instead.
std::string answer_of(MessageReader& message, std::vector<std::string>* warnings) {
  const auto said = [&] { return printable_line(repair_utf8(message.text().substr(0, kLongestRefusal))); };
  switch (message.kind()) {
    case MessageKind::kDocument: {
      std::string document(message.text());
      for (size_t count = message.count(sizeof(uint64_t)); count > 0; --count) {
        const std::string warning = said();
        if (warnings) warnings->push_back(warning);
      }
      return document;
    }
    case MessageKind::kRefused:
      throw Error(said());
    case MessageKind::kTooLarge:
      throw DocumentTooLarge("the document takes more memory than one may; send it in parts");
    case MessageKind::kFailed:
      throw MachineError(said());
    default:
      throw DamagedMessage("a message of another kind");
  }
}

std::string talk(DocumentProcess& process, std::string_view request, const TranslateTexts& translate,
                 const DocumentLimits& limits, const std::function<void()>& check, std::vector<std::string>* warnings) {
  MessageChannel channel(process.socket(), check);
  if (!channel.send(request)) process.throw_death();
  auto received = channel.receive(limits.answer_bytes);
  if (!received) process.throw_death();
  std::optional<MessageReader> message(*received);
  if (message->kind() == MessageKind::kTexts) {
    const auto texts = texts_of(*message);
    if (!channel.send(translations_message(translate(texts)))) process.throw_death();
    received = channel.receive(limits.answer_bytes);
    if (!received) process.throw_death();
    message.emplace(*received);
  }
  return answer_of(*message, warnings);
}

}  // namespace

std::string translate_document_apart(DocumentFormat format, std::string_view bytes, const TranslateTexts& translate,
                                     const DocumentLimits& limits, const std::function<void()>& check,
                                     std::vector<std::string>* warnings) {
  if (bytes.size() > limits.unpacked_bytes) return translate_document(format, bytes, translate, limits);  // refuses it
  DocumentProcess process;
  try {
    return talk(process, request(format, bytes, limits), translate, limits, check, warnings);
  } catch (const std::length_error&) {
    throw DocumentTooLarge(
        fmt::format("the translated document has more than {} bytes; send it in parts", limits.answer_bytes));
  } catch (const DamagedMessage&) {
    throw Error("the document is damaged: its reader says what makes no sense; save it again");
  }
}

}  // namespace nmt
