#include "text/sentence_splitter.h"

#include <fmt/format.h>
#include <unicode/brkiter.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/ures.h>
#include <unicode/utext.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <unordered_set>

#include "base/error.h"
#include "base/unicode.h"

namespace nmt {
namespace {

// Languages that write the third as "3."
constexpr std::array<std::string_view, 22> kOrdinalsWithPoint = {"bs", "cs", "da", "de", "et", "fi", "fo", "hr",
                                                                 "hu", "is", "lb", "lv", "me", "mk", "nb", "nn",
                                                                 "no", "pl", "sk", "sl", "sr", "tr"};

void check(UErrorCode status) {
  if (U_FAILURE(status)) throw MachineError(fmt::format("the Unicode library fails ({})", u_errorName(status)));
}

/// The locale of a language; that of all languages ("root") for what is no language.
icu::Locale locale_of(std::string_view language) {
  UErrorCode status = U_ZERO_ERROR;
  auto locale = icu::Locale::forLanguageTag({language.data(), static_cast<int32_t>(language.size())}, status);
  return U_FAILURE(status) || locale.isBogus() ? icu::Locale::getRoot() : locale;
}

struct CloseResource {
  void operator()(UResourceBundle* resource) const { ures_close(resource); }
};
using Resource = std::unique_ptr<UResourceBundle, CloseResource>;

/// Titles, which stand before names in texts of any language, and abbreviations before numbers and names that ICU's
/// lists lack.
constexpr std::array<const char*, 27> kAbbreviations = {
    "Capt.", "Cmdr.", "Col.", "Dr.",  "Drs.", "Gen.", "Gov.", "Hon.", "Lt.", "Messrs.", "Mme.", "Mr.", "Mrs.", "Ms.",
    "Prof.", "Rep.",  "Rev.", "Sen.", "Sgt.", "Sr.",  "Sra.", "St.",  "Wm.", "ca.",     "cca.", "vs.", "bzw."};

/// Czech has no list in ICU.
constexpr std::array<const char*, 51> kCzechAbbreviations = {
    "apod.", "atd.",  "atp.", "Bc.",   "cit.",  "čp.",   "čís.",  "dr.",   "event.", "ev.",   "gen.",  "hl.",   "Ing.",
    "JUDr.", "kap.",  "kpt.", "kr.",   "např.", "Např.", "max.",  "Mgr.",  "min.",   "mj.",   "mld.",  "mil.",  "ml.",
    "MUDr.", "nám.",  "obr.", "odst.", "písm.", "plk.",  "popř.", "pozn.", "PhDr.",  "prof.", "příp.", "resp.", "RNDr.",
    "roč.",  "srov.", "st.",  "stol.", "str.",  "sv.",   "tab.",  "tis.",  "tj.",    "tzn.",  "tzv.",  "zn."};

/// The abbreviations of a language, each with its point: those that ICU's data lists, and ours. ICU's own iterator over
/// them (FilteredBreakIterator) is not used: it takes "am." at the end of "kam." for one.
std::unordered_set<std::string> abbreviations_of(const icu::Locale& locale) {
  std::unordered_set<std::string> words(kAbbreviations.begin(), kAbbreviations.end());
  const std::string_view language = locale.getLanguage();
  if (language == "cs" || language == "sk") words.insert(kCzechAbbreviations.begin(), kCzechAbbreviations.end());
  UErrorCode status = U_ZERO_ERROR;
  const Resource data(ures_openDirect(U_ICUDATA_NAME "-brkitr", locale.getLanguage(), &status));
  const Resource exceptions(ures_getByKey(data.get(), "exceptions", nullptr, &status));
  const Resource list(ures_getByKey(exceptions.get(), "SentenceBreak", nullptr, &status));
  if (U_FAILURE(status)) return words;  // few languages have any
  while (ures_hasNext(list.get())) {
    int32_t length = 0;
    const UChar* text = ures_getNextString(list.get(), &length, nullptr, &status);
    check(status);
    std::string word;
    icu::UnicodeString(text, length).toUTF8String(word);
    words.insert(std::move(word));
  }
  return words;
}

/// UTF-8 bytes as ICU reads them.
class Utf8Text {
 public:
  explicit Utf8Text(std::string_view text) {
    UErrorCode status = U_ZERO_ERROR;
    utext_openUTF8(&text_, text.data(), std::ssize(text), &status);
    check(status);
  }
  ~Utf8Text() { utext_close(&text_); }
  Utf8Text(const Utf8Text&) = delete;
  Utf8Text& operator=(const Utf8Text&) = delete;
  UText* get() { return &text_; }

 private:
  UText text_ = UTEXT_INITIALIZER;
};

/// Bytes of the closing quotation marks and brackets at the beginning of a text, each with the white space behind it:
/// "» ". A mark that touches a word opens it.
size_t closing_marks(std::string_view text) {
  size_t end = 0;
  while (end < text.size()) {
    size_t next = end;
    const auto type = u_charType(static_cast<UChar32>(next_code_point(text, next)));
    const size_t space = next < text.size() ? space_length(text, next) : 0;
    if ((type != U_FINAL_PUNCTUATION && type != U_END_PUNCTUATION) || (next < text.size() && space == 0)) break;
    end = next;
    while (const size_t more = end < text.size() ? space_length(text, end) : 0) end += more;
  }
  return end;
}

/// Whether the first letter or digit, behind a few signs, is a small letter.
bool begins_small(std::string_view text) {
  constexpr size_t kMostSigns = 16;  // bytes
  for (size_t at = 0; at < std::min(text.size(), kMostSigns);) {
    const auto c = static_cast<UChar32>(next_code_point(text, at));
    if (u_isalnum(c)) return u_islower(c) != 0;
  }
  return false;
}

std::string_view last_word(std::string_view text) {
  const size_t space = text.find_last_of(" \t");
  return space == std::string_view::npos ? text : text.substr(space + 1);
}

/// "B." or "U.S."; not "AB." or "z.B" or "h".
bool is_letters_with_points(std::string_view word) {
  constexpr size_t kLongest = 32;  // bytes
  if (word.empty() || word.size() > kLongest) return false;
  const std::u32string characters = to_code_points(word);
  if (characters.size() % 2 != 0) return false;
  for (size_t i = 0; i < characters.size(); i += 2) {
    if (!u_isalpha(static_cast<UChar32>(characters[i])) || characters[i + 1] != U'.') return false;
  }
  return true;
}

/// "3." or "24."
bool is_short_number_with_point(std::string_view word) {
  if (word.size() < 2 || word.size() > 3 || word.back() != '.') return false;
  return std::all_of(word.begin(), word.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool has_letters(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (u_isalpha(static_cast<UChar32>(next_code_point(text, at)))) return true;
  }
  return false;
}

struct SentenceSplitter::State {
  std::unique_ptr<icu::BreakIterator> rules;
  std::unordered_set<std::string> abbreviations;
  bool ordinals_with_point = false;

  bool ends_sentence(std::string_view sentence) const {
    std::string_view word = last_word(sentence);
    while (!word.empty()) {  // opening marks
      const CodePoint first = code_point_at(word, 0);
      if (u_isalnum(static_cast<UChar32>(first.value))) break;
      word.remove_prefix(first.length);
    }
    if (is_letters_with_points(word) || abbreviations.contains(std::string(word))) return false;
    return !(ordinals_with_point && is_short_number_with_point(word));
  }
};

SentenceSplitter::SentenceSplitter(std::string_view language) : state_(std::make_unique<State>()) {
  const icu::Locale locale = locale_of(language);
  UErrorCode status = U_ZERO_ERROR;
  state_->rules.reset(icu::BreakIterator::createSentenceInstance(locale, status));
  check(status);
  state_->abbreviations = abbreviations_of(locale);
  state_->ordinals_with_point = std::ranges::find(kOrdinalsWithPoint, locale.getLanguage()) != kOrdinalsWithPoint.end();
}

SentenceSplitter::~SentenceSplitter() = default;
SentenceSplitter::SentenceSplitter(SentenceSplitter&&) noexcept = default;
SentenceSplitter& SentenceSplitter::operator=(SentenceSplitter&&) noexcept = default;

std::vector<std::string_view> SentenceSplitter::split(std::string_view text) const {
  std::vector<std::string_view> sentences;
  const auto add = [&](size_t begin, size_t end) {
    const auto sentence = strip(text.substr(begin, end - begin));
    if (sentence.empty()) return;
    if (sentences.empty() || has_letters(sentence)) return sentences.push_back(sentence);
    auto& last = sentences.back();
    last = {last.data(), static_cast<size_t>(sentence.data() + sentence.size() - last.data())};
  };
  if (std::ssize(text) > std::numeric_limits<int32_t>::max()) {  // ICU counts in 32 bits
    add(0, text.size());
    return sentences;
  }
  Utf8Text bytes(text);
  const std::unique_ptr<icu::BreakIterator> breaks(state_->rules->clone());
  UErrorCode status = U_ZERO_ERROR;
  breaks->setText(bytes.get(), status);
  check(status);
  size_t begin = 0, seen = 0;
  bool any_letter = false;  // from begin to seen
  for (int32_t at = breaks->next(); at != icu::BreakIterator::DONE; at = breaks->next()) {
    auto end = static_cast<size_t>(at);
    if (end < begin) continue;
    any_letter = any_letter || has_letters(text.substr(seen, end - seen));
    seen = end;
    const auto sentence = strip_end(text.substr(begin, end - begin));
    end += closing_marks(text.substr(end));
    if (end < text.size() && (begins_small(text.substr(end)) || !any_letter || !state_->ends_sentence(sentence)))
      continue;
    add(begin, end);
    begin = seen = end;
    any_letter = false;
  }
  return sentences;
}

}  // namespace nmt
