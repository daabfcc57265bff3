#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

namespace nmt::test {

/// While it lives, the program has the rights of a user without any, and not those of root, whom no permission holds.
class AsNobody {
 public:
  AsNobody() : before_(::geteuid()) {
    if (before_ == 0) {
      EXPECT_EQ(::seteuid(65534), 0);
    }
  }
  ~AsNobody() { EXPECT_EQ(::seteuid(before_), 0); }
  AsNobody(const AsNobody&) = delete;

 private:
  uid_t before_;
};

}  // namespace nmt::test
