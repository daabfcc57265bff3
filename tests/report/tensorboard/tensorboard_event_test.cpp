#include "report/tensorboard/tensorboard_event.h"

#include <gtest/gtest.h>

#include <limits>

namespace nmt::tensorboard_event_test {
namespace {

const std::vector<ScalarSummary> kScalars = {{"train/loss", 1.5}};

TEST(TensorBoardEvent, HasTheBytesOfTheProtocol) {
  // Written out by hand: key, length or value, field by field.
  const std::string scalar_event = std::string("\x09\0\0\0\0\0\0\xF8\x3F", 9) +  // 1 wall_time, double 1.5
                                   "\x10\xAC\x02"                                // 2 step, varint 300
                                   "\x2A\x13"                                    // 5 summary, 19 bytes
                                   "\x0A\x11"                                    // 1 value, 17 bytes
                                   "\x0A\x0Atrain/loss" +                        // 1 tag
                                   std::string("\x15\0\0\xC0\x3F", 5);           // 2 simple_value, float 1.5
  EXPECT_EQ(encode_scalars({.wall_time = 1.5, .step = 300}, kScalars), scalar_event);
  EXPECT_EQ(encode_file_version(1.5), std::string("\x09\0\0\0\0\0\0\xF8\x3F", 9) +
                                          "\x1A\x0D"
                                          "brain.Event:2");
}

TEST(TensorBoardEvent, TellsItsStep) {
  for (const int64_t step : {int64_t{0}, int64_t{1}, int64_t{127}, int64_t{128}, std::numeric_limits<int64_t>::max()}) {
    const EventTime time{.wall_time = 1.75e9, .step = step};
    EXPECT_EQ(step_of_event(encode_scalars(time, kScalars)), step);
    EXPECT_EQ(step_of_event(encode_session_start(time)), step);
    EXPECT_EQ(step_of_event(encode_text_table(time, "samples", {{"a", "b"}})), step);
  }
  EXPECT_EQ(step_of_event(encode_file_version(1.75e9)), 0);
}

TEST(TensorBoardEvent, TellsNoStepOfDamagedBytes) {
  const std::string event = encode_scalars({.wall_time = 1, .step = 300}, kScalars);
  // Cut inside a field; between two fields the rest is an event of its own.
  for (const size_t size : {1u, 8u, 10u, 11u, 13u, 20u}) {
    EXPECT_EQ(step_of_event(event.substr(0, size)), std::nullopt) << size;
  }
  EXPECT_EQ(step_of_event("\x0B"), std::nullopt);                                          // a group: not in use
  EXPECT_EQ(step_of_event(std::string(11, '\xFF')), std::nullopt);                         // a varint that is too long
  EXPECT_EQ(step_of_event("\x2A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), std::nullopt);  // 2^64 - 1 bytes follow
}

}  // namespace
}  // namespace nmt::tensorboard_event_test
