#include "text/moses/moses_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "base/error.h"

namespace nmt {
namespace {

constexpr std::array<std::string_view, 3> kCodes = {"de", "en", "fr"};  // in the order of MosesLanguage

// The words that Moses takes for abbreviations, by kind. A word counts as it is written: "Usw" is none.
constexpr std::string_view kBoth =  // German and English
    "Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con Corp Cpl DR Dr Ens Gen Gov Hon Hosp Insp Lt MM MR "
    "MRS "
    "MS Maj Messrs Mlle Mme Mr Mrs Ms Msgr Op Ord Pfc Ph Prof Pvt Rep Reps Res Rev Rt Sen Sens Sfc Sgt Sr St Supt Surg "
    "Nos Nr vs";
constexpr std::string_view kGermanWords =
    "Art BSE Buchst Ca Chr Co Dkr Ltd Mio Mrd MwSt No SA Std Zt bzgl bzw ca dergl dgl etc evtl ff ggf jun pp sen sog "
    "sogen spp usf usw vgl zzt "
    "II III IV VI VII VIII IX XI XII XIII XIV XV XVI XVII XVIII XIX XX "
    "ii iii iv vi vii viii ix xi xii xiii xiv xv xvi xvii xviii xix xx";
constexpr std::string_view kEnglishWords = "Jan Feb Mar Apr Jun Jul Aug Sep Oct Nov Dec Drs Hr Rs rev v";
constexpr std::string_view kEnglishBeforeNumbers = "Art No pp";
constexpr std::string_view kFrenchWords =
    "MM SS al ann apr art auj av boul ca cf chap contr dir env etc ex fasc fig fr hab ibid id inf lib masc ms pl pp "
    "sec "
    "sect sing sq sqq suiv sup suppl vb vol vs éd fém tél";

using Table = std::unordered_map<std::string_view, Point>;

void add_words(Table& table, std::string_view words, Point point) {
  while (!words.empty()) {
    const size_t length = std::min(words.find(' '), words.size());
    table.emplace(words.substr(0, length), point);
    words.remove_prefix(std::min(length + 1, words.size()));
  }
}

Table make_table(MosesLanguage language) {
  Table table;
  switch (language) {
    case MosesLanguage::kGerman:
      add_words(table, kBoth, Point::kPartOfWord);
      add_words(table, kGermanWords, Point::kPartOfWord);
      break;
    case MosesLanguage::kEnglish:
      add_words(table, kBoth, Point::kPartOfWord);
      add_words(table, kEnglishWords, Point::kPartOfWord);
      add_words(table, kEnglishBeforeNumbers, Point::kBeforeNumber);
      break;
    case MosesLanguage::kFrench:
      add_words(table, kFrenchWords, Point::kPartOfWord);
      break;
  }
  return table;
}

const Table& table_of(MosesLanguage language) {
  static const std::array kTables = {make_table(MosesLanguage::kGerman), make_table(MosesLanguage::kEnglish),
                                     make_table(MosesLanguage::kFrench)};
  return kTables[static_cast<size_t>(language)];
}

bool is_between(char c, char first, char last) { return c >= first && c <= last; }

/// Initials; German lists count with small letters too, French ones with all but "a", which is a word.
bool is_initial(std::string_view word, MosesLanguage language) {
  if (word.size() != 1) return false;
  if (is_between(word[0], 'A', 'Z')) return true;
  if (language == MosesLanguage::kEnglish) return false;
  return is_between(word[0], language == MosesLanguage::kFrench ? 'b' : 'a', 'z');
}

/// "1" to "99", as in "am 3. Oktober".
bool is_ordinal(std::string_view word) {
  if (word.empty() || word.size() > 2 || !is_between(word[0], '1', '9')) return false;
  return word.size() == 1 || is_between(word[1], '0', '9');
}

}  // namespace

bool has_moses_rules(std::string_view code) { return std::ranges::find(kCodes, code) != kCodes.end(); }

MosesLanguage moses_language(std::string_view code) {
  const auto found = std::ranges::find(kCodes, code);
  if (found == kCodes.end())
    throw Error(fmt::format("the Moses tokenizer here knows {}, not '{}'", moses_codes(), code));
  return static_cast<MosesLanguage>(found - kCodes.begin());
}

std::string_view moses_code(MosesLanguage language) { return kCodes[static_cast<size_t>(language)]; }

std::string moses_codes() { return fmt::format("{}, {} and {}", kCodes[0], kCodes[1], kCodes[2]); }

Point point_after(std::string_view word, MosesLanguage language) {
  if (is_initial(word, language) || (language == MosesLanguage::kGerman && is_ordinal(word))) return Point::kPartOfWord;
  const Table& table = table_of(language);
  const auto found = table.find(word);
  return found == table.end() ? Point::kOwnToken : found->second;
}

}  // namespace nmt
