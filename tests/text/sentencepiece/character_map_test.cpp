#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace nmt::character_map_test {
namespace {

std::string number(uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

/// A field of bytes of a protocol buffer.
std::string field(int id, const std::string& bytes) {
  std::string text(1, static_cast<char>(id << 3 | 2));
  for (size_t size = bytes.size();; size >>= 7) {
    text += static_cast<char>(size < 128 ? size : (size & 127) | 128);
    if (size < 128) return text + bytes;
  }
}

/// A model of nothing but a double array; texts of one byte follow it.
std::string model(const std::vector<uint32_t>& units, int specification = 3) {
  std::string map = number(static_cast<uint32_t>(4 * units.size()));
  for (const uint32_t unit : units) map += number(unit);
  return field(specification, field(1, "name") + field(2, map + std::string(1, '\0')));
}

std::vector<uint32_t> with(size_t place, uint32_t unit) {
  std::vector<uint32_t> units(512, 0);
  units[place] = unit;
  return units;
}

TEST(CharacterMaps, MayLeadAnywhereInThemselves) {
  EXPECT_TRUE(has_sound_character_maps(""));
  EXPECT_TRUE(has_sound_character_maps(field(3, field(1, "identity"))));
  EXPECT_TRUE(has_sound_character_maps(model(std::vector<uint32_t>(512, 0))));
  EXPECT_TRUE(has_sound_character_maps(model(with(7, 300u << 10))));
  EXPECT_TRUE(has_sound_character_maps(model(with(7, 1u << 31 | 1u << 30)))) << "a value";
}

TEST(CharacterMaps, MayNotLeadOutOfThemselves) {
  for (const int specification : {3, 5}) {
    EXPECT_FALSE(has_sound_character_maps(model(with(7, 512u << 10), specification)));
    EXPECT_FALSE(has_sound_character_maps(model(with(300, 2u << 10 | 1u << 9), specification))) << "256 * 2";
    EXPECT_FALSE(has_sound_character_maps(model(with(0, 1u << 31 | 512u << 10), specification))) << "the first one";
  }
  EXPECT_FALSE(has_sound_character_maps(model(std::vector<uint32_t>(100, 0)))) << "a part of a block";
  EXPECT_FALSE(has_sound_character_maps(field(3, field(2, number(1024) + "short"))));
  EXPECT_FALSE(has_sound_character_maps(field(3, field(2, "xy"))));
}

// A group, which SentencePiece's reader passes over, and a number of a field that is too large for it.
TEST(CharacterMaps, MayNotHideBehindWhatOthersReadOtherwise) {
  const auto bad = model(with(7, 512u << 10));
  EXPECT_FALSE(has_sound_character_maps(std::string("\x33\x34") + bad));
  EXPECT_FALSE(has_sound_character_maps(std::string("\x9a\x80\x80\x80\x80\x01") + bad.substr(1)));
}

}  // namespace
}  // namespace nmt::character_map_test
