#include "text/moses/moses_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/error.h"

namespace nmt {
namespace {

// The words that Moses takes for abbreviations, by kind. A word counts as it is written: "Usw" is none.
constexpr std::string_view kBoth =
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
  add_words(table, kBoth, Point::kPartOfWord);
  if (language == MosesLanguage::kGerman) {
    add_words(table, kGermanWords, Point::kPartOfWord);
  } else {
    add_words(table, kEnglishWords, Point::kPartOfWord);
    add_words(table, kEnglishBeforeNumbers, Point::kBeforeNumber);
  }
  return table;
}

bool is_between(char c, char first, char last) { return c >= first && c <= last; }

/// Initials; German lists count with small letters too.
bool is_initial(std::string_view word, MosesLanguage language) {
  if (word.size() != 1) return false;
  return is_between(word[0], 'A', 'Z') || (language == MosesLanguage::kGerman && is_between(word[0], 'a', 'z'));
}

/// "1" to "99", as in "am 3. Oktober".
bool is_ordinal(std::string_view word) {
  if (word.empty() || word.size() > 2 || !is_between(word[0], '1', '9')) return false;
  return word.size() == 1 || is_between(word[1], '0', '9');
}

}  // namespace

bool has_moses_rules(std::string_view code) { return code == "de" || code == "en"; }

MosesLanguage moses_language(std::string_view code) {
  if (!has_moses_rules(code)) throw Error(fmt::format("the Moses tokenizer here knows de and en, not '{}'", code));
  return code == "de" ? MosesLanguage::kGerman : MosesLanguage::kEnglish;
}

Point point_after(std::string_view word, MosesLanguage language) {
  static const Table kGerman = make_table(MosesLanguage::kGerman), kEnglish = make_table(MosesLanguage::kEnglish);
  const bool german = language == MosesLanguage::kGerman;
  if (is_initial(word, language) || (german && is_ordinal(word))) return Point::kPartOfWord;
  const Table& table = german ? kGerman : kEnglish;
  const auto found = table.find(word);
  return found == table.end() ? Point::kOwnToken : found->second;
}

}  // namespace nmt
