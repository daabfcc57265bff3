#include "base/files/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <vector>

#include "base/error.h"
#include "base/files/file_descriptor.h"

namespace nmt {
namespace {

constexpr size_t kReadSize = 1 << 20;

void check(int done) {
  if (done != 1) throw MachineError("SHA-256: the cryptography library refuses");
}

}  // namespace

struct Sha256::State {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  check(state_->context ? EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) : 0);
}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) { check(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size())); }

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  check(EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size));
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

std::string sha256_of_file(const std::filesystem::path& path) {
  const FileDescriptor file = open_for_reading(path);
  std::vector<char> bytes(kReadSize);
  Sha256 sum;
  while (const size_t count = read_some(file.number(), bytes.data(), bytes.size(), path.string())) {
    sum.add({bytes.data(), count});
  }
  return sum.hex();
}

std::string sha256_of_bytes(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

}  // namespace nmt
