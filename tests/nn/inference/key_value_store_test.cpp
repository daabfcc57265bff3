#include "nn/inference/key_value_store.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace nmt::key_value_store_test {
namespace {

using inference::KeyValueStore;
using kernels::Type;

// What each row holds is written down beside the store: a number for each position, in both layers.
class Rows {
 public:
  explicit Rows(int64_t rows) : store_(2, 4, Type::kFloat, rows), expected_(rows) {}

  void append(int64_t n) {
    store_.append(n);
    for (size_t r = 0; r < expected_.size(); ++r) {
      for (int64_t i = 0; i < n; ++i) {
        expected_[r].push_back(next_);
        for (int64_t layer = 0; layer < 2; ++layer)
          element(static_cast<int64_t>(r), std::ssize(expected_[r]) - 1, layer) = next_++;
      }
    }
  }
  void select(const std::vector<int64_t>& rows) {
    store_.select(rows);
    std::vector<std::vector<float>> selected;
    for (const int64_t row : rows) selected.push_back(expected_[row]);
    expected_ = std::move(selected);
  }
  void join(Rows&& other) {
    store_.join(std::move(other.store_));
    expected_.insert(expected_.end(), other.expected_.begin(), other.expected_.end());
  }
  void number_from(float first) { next_ = first; }

  void check() {
    for (size_t r = 0; r < expected_.size(); ++r) {
      const auto row = static_cast<int64_t>(r);
      ASSERT_EQ(store_.length(row), std::ssize(expected_[r]));
      for (int64_t i = 0; i < store_.length(row); ++i) {
        EXPECT_EQ(element(row, i, 0), expected_[r][i]);
        EXPECT_EQ(element(row, i, 1), expected_[r][i] + 1);
      }
    }
  }

 private:
  float& element(int64_t row, int64_t position, int64_t layer) {
    return reinterpret_cast<float*>(store_.at(row, position))[layer * store_.layer_stride() + 3];
  }

  KeyValueStore store_;
  std::vector<std::vector<float>> expected_;
  float next_ = 1;
};

TEST(KeyValueStore, KeepsWhatTheRowsHaveWhileOthersLeave) {
  Rows rows(3);
  for (int64_t step = 0; step < 200; ++step) {
    rows.append(1 + step % 3);
    rows.check();
    if (step % 5 == 4) rows.select({2, 0, 0, 1 + step % 2});
    if (step % 7 == 6) rows.select({1, 1, 2});
    rows.check();
  }
}

TEST(KeyValueStore, JoinsRowsOfOtherLengths) {
  Rows rows(2), others(3), fresh(1);
  others.number_from(10000);
  fresh.number_from(20000);
  rows.append(40);
  others.append(3);
  rows.join(std::move(others));
  rows.join(std::move(fresh));
  rows.check();
  rows.append(70);
  rows.select({5, 3, 3, 0});
  rows.append(2);
  rows.check();
}

TEST(KeyValueStore, RoundsToBfloat16) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::array<float, 6> values = {1, 1 + 1.0f / 256, 1 + 3.0f / 256, -2.5f, inf, std::nanf("")};
  std::array<uint16_t, 6> halves = {};
  inference::store_as(Type::kBfloat16, values.data(), 6, halves.data());
  EXPECT_EQ(halves, (std::array<uint16_t, 6>{0x3f80, 0x3f80, 0x3f82, 0xc020, 0x7f80, 0x7fc0})) << "ties to even";
}

}  // namespace
}  // namespace nmt::key_value_store_test
