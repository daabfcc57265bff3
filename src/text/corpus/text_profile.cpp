#include "text/corpus/text_profile.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>

#include "base/unicode.h"
#include "text/corpus/hash_set.h"
#include "text/language_code.h"

namespace nmt {
namespace {

constexpr bool is_ascii_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string folded_text(std::string_view text) {
  std::string folded;
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    folded.resize(text.size());
    std::ranges::transform(text, folded.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return folded;
  }
  UErrorCode status = U_ZERO_ERROR;
  static const icu::Normalizer2* const normalizer = icu::Normalizer2::getNFKCCasefoldInstance(status);
  icu::StringByteSink<std::string> sink(&folded);
  normalizer->normalizeUTF8(0, {text.data(), static_cast<int32_t>(text.size())}, sink, nullptr, status);
  return folded;
}

enum class Kind { kLetter, kDigit, kSpace, kOther };

Kind kind_of(char32_t c) {
  if (c < 0x80) {
    if (is_ascii_letter(c)) return Kind::kLetter;
    if (c >= '0' && c <= '9') return Kind::kDigit;
    return is_python_space(c) ? Kind::kSpace : Kind::kOther;
  }
  const uint32_t category = U_MASK(u_charType(static_cast<UChar32>(c)));
  if (category & (U_GC_L_MASK | U_GC_M_MASK)) return Kind::kLetter;
  if (category & U_GC_ND_MASK) return Kind::kDigit;
  return is_python_space(c) ? Kind::kSpace : Kind::kOther;
}

/// Greek asks with a semicolon.
EndMark mark_of(char32_t c, bool is_greek) {
  constexpr std::u32string_view kQuestions = U"?؟՞", kStatements = U".!…。।۔", kOpen = U",:;-–—،、";
  const auto is_in = [&](std::u32string_view marks) { return marks.find(c) != std::u32string_view::npos; };
  if (is_in(kQuestions) || (is_greek && c == U';')) return EndMark::kQuestion;
  if (is_in(kStatements)) return EndMark::kStatement;
  return is_in(kOpen) ? EndMark::kOpen : EndMark::kNone;
}

bool closes(char32_t c) {
  constexpr uint32_t kClosing = U_GC_PE_MASK | U_GC_PF_MASK | U_GC_PI_MASK;
  return c == '"' || c == '\'' || (U_MASK(u_charType(static_cast<UChar32>(c))) & kClosing) != 0;
}

/// How often the same stands in a row.
template <typename T>
class Run {
 public:
  int64_t add(T next) {
    length_ = next == last_ ? length_ + 1 : 1;
    last_ = next;
    return length_;
  }

 private:
  T last_ = {};
  int64_t length_ = 0;
};

}  // namespace

LanguageScripts::LanguageScripts(const std::string& language) {
  std::array<UScriptCode, 8> codes{};
  UErrorCode status = U_ZERO_ERROR;
  const bool is_known = language != "und" && may_be_iso_639(language);
  const int32_t count =
      is_known ? uscript_getCode(language.c_str(), codes.data(), static_cast<int32_t>(codes.size()), &status) : 0;
  if (U_SUCCESS(status)) scripts_.assign(codes.begin(), codes.begin() + count);
  is_latin_ = scripts_.empty() || std::ranges::find(scripts_, USCRIPT_LATIN) != scripts_.end();
}

bool LanguageScripts::contains(char32_t letter) const {
  if (letter < 0x80) return is_latin_;
  UErrorCode status = U_ZERO_ERROR;
  const int script = uscript_getScript(static_cast<UChar32>(letter), &status);
  return scripts_.empty() || script == USCRIPT_COMMON || script == USCRIPT_INHERITED ||
         std::ranges::find(scripts_, script) != scripts_.end();
}

TextProfile::TextProfile(std::string_view whole, const LanguageScripts& scripts) : text(whole) {
  const std::string folded = folded_text(whole);
  const bool is_greek = scripts.contains(U'α') && !scripts.contains(U'a');
  std::string spelling, number;  // the letters; the number under way
  size_t word = std::string::npos;
  Run<char32_t> same_letters;
  Run<uint64_t> same_words;
  const auto end_word = [&](size_t end) {
    if (word == std::string::npos) return;
    spelling.append(folded, word, end - word);
    words.push_back(hash_of_text(std::string_view(folded).substr(word, end - word)));
    longest_run = std::max(longest_run, same_words.add(words.back()));
    word = std::string::npos;
  };
  const auto end_number = [&] {
    if (number.empty()) return;
    number.erase(0, std::min(number.find_first_not_of('0'), number.size() - 1));
    numbers.push_back(std::move(number));
    number.clear();
  };
  bool separated = false;  // a sign stands behind the digits of the number
  for (size_t i = 0; i < folded.size();) {
    const size_t begin = i;
    const char32_t c = next_code_point(folded, i);
    const Kind kind = kind_of(c);
    const bool separates = !number.empty() && !separated && (c == '.' || c == ',' || c == '\'');
    if (kind != Kind::kDigit && !separates) end_number();
    separated = separates;
    if (kind != Kind::kLetter) end_word(begin);
    if (kind != Kind::kSpace) ++characters;
    if (kind == Kind::kLetter) {
      if (word == std::string::npos) word = begin;
      ++letters;
      letters_of_language += scripts.contains(c) ? 1 : 0;
      longest_run = std::max(longest_run, same_letters.add(c));
    } else {
      same_letters.add(0);
    }
    if (kind == Kind::kDigit) number += static_cast<char>('0' + u_charDigitValue(static_cast<UChar32>(c)));
    if (kind != Kind::kSpace && !closes(c)) end_mark = mark_of(c, is_greek);
  }
  end_number();
  end_word(folded.size());
  std::ranges::sort(numbers);
  if (!spelling.empty()) hash = hash_of_text(spelling);
}

}  // namespace nmt
