#include "documents/tokens/markup_token.h"

#include <algorithm>
#include <iterator>

#include "base/unicode.h"

namespace nmt::documents {
namespace {

struct NamedCharacter {
  std::string_view name;
  uint16_t code;
};

/// The names of HTML 4, in the order of their bytes, and those of HTML 5 that stand for ASCII.
constexpr NamedCharacter kNamed[] = {
    // clang-format off
    {"AElig", 198}, {"AMP", 38}, {"Aacute", 193}, {"Acirc", 194}, {"Agrave", 192}, {"Alpha", 913}, {"Aring", 197},
    {"Atilde", 195}, {"Auml", 196}, {"Beta", 914}, {"COPY", 169}, {"Ccedil", 199}, {"Chi", 935}, {"Dagger", 8225},
    {"Delta", 916}, {"ETH", 208}, {"Eacute", 201}, {"Ecirc", 202}, {"Egrave", 200}, {"Epsilon", 917}, {"Eta", 919},
    {"Euml", 203}, {"GT", 62}, {"Gamma", 915}, {"Hat", 94}, {"Iacute", 205}, {"Icirc", 206}, {"Igrave", 204},
    {"Iota", 921}, {"Iuml", 207}, {"Kappa", 922}, {"LT", 60}, {"Lambda", 923}, {"Mu", 924}, {"NewLine", 10},
    {"Ntilde", 209}, {"Nu", 925}, {"OElig", 338}, {"Oacute", 211}, {"Ocirc", 212}, {"Ograve", 210}, {"Omega", 937},
    {"Omicron", 927}, {"Oslash", 216}, {"Otilde", 213}, {"Ouml", 214}, {"Phi", 934}, {"Pi", 928}, {"Prime", 8243},
    {"Psi", 936}, {"QUOT", 34}, {"REG", 174}, {"Rho", 929}, {"Scaron", 352}, {"Sigma", 931}, {"THORN", 222},
    {"Tab", 9}, {"Tau", 932}, {"Theta", 920}, {"Uacute", 218}, {"Ucirc", 219}, {"Ugrave", 217}, {"Upsilon", 933},
    {"Uuml", 220}, {"Xi", 926}, {"Yacute", 221}, {"Yuml", 376}, {"Zeta", 918}, {"aacute", 225}, {"acirc", 226},
    {"acute", 180}, {"aelig", 230}, {"agrave", 224}, {"alefsym", 8501}, {"alpha", 945}, {"amp", 38}, {"and", 8743},
    {"ang", 8736}, {"apos", 39}, {"aring", 229}, {"ast", 42}, {"asymp", 8776}, {"atilde", 227}, {"auml", 228},
    {"bdquo", 8222}, {"beta", 946}, {"brvbar", 166}, {"bsol", 92}, {"bull", 8226}, {"cap", 8745}, {"ccedil", 231},
    {"cedil", 184}, {"cent", 162}, {"check", 10003}, {"chi", 967}, {"circ", 710}, {"clubs", 9827}, {"colon", 58},
    {"comma", 44}, {"commat", 64}, {"cong", 8773}, {"copy", 169}, {"crarr", 8629}, {"cup", 8746}, {"curren", 164},
    {"dArr", 8659}, {"dagger", 8224}, {"darr", 8595}, {"deg", 176}, {"delta", 948}, {"diams", 9830}, {"divide", 247},
    {"dollar", 36}, {"eacute", 233}, {"ecirc", 234}, {"egrave", 232}, {"empty", 8709}, {"emsp", 8195}, {"ensp", 8194},
    {"epsilon", 949}, {"equals", 61}, {"equiv", 8801}, {"eta", 951}, {"eth", 240}, {"euml", 235}, {"euro", 8364},
    {"excl", 33}, {"exist", 8707}, {"fnof", 402}, {"forall", 8704}, {"frac12", 189}, {"frac14", 188}, {"frac34", 190},
    {"frasl", 8260}, {"gamma", 947}, {"ge", 8805}, {"grave", 96}, {"gt", 62}, {"hArr", 8660}, {"harr", 8596},
    {"hearts", 9829}, {"hellip", 8230}, {"iacute", 237}, {"icirc", 238}, {"iexcl", 161}, {"igrave", 236},
    {"image", 8465}, {"infin", 8734}, {"int", 8747}, {"iota", 953}, {"iquest", 191}, {"isin", 8712}, {"iuml", 239},
    {"kappa", 954}, {"lArr", 8656}, {"lambda", 955}, {"lang", 9001}, {"laquo", 171}, {"larr", 8592}, {"lbrace", 123},
    {"lbrack", 91}, {"lceil", 8968}, {"ldquo", 8220}, {"le", 8804}, {"lfloor", 8970}, {"lowast", 8727},
    {"lowbar", 95}, {"loz", 9674}, {"lpar", 40}, {"lrm", 8206}, {"lsaquo", 8249}, {"lsquo", 8216}, {"lt", 60},
    {"macr", 175}, {"mdash", 8212}, {"micro", 181}, {"middot", 183}, {"minus", 8722}, {"mu", 956}, {"nabla", 8711},
    {"nbsp", 160}, {"ndash", 8211}, {"ne", 8800}, {"ni", 8715}, {"not", 172}, {"notin", 8713}, {"nsub", 8836},
    {"ntilde", 241}, {"nu", 957}, {"num", 35}, {"oacute", 243}, {"ocirc", 244}, {"oelig", 339}, {"ograve", 242},
    {"oline", 8254}, {"omega", 969}, {"omicron", 959}, {"oplus", 8853}, {"or", 8744}, {"ordf", 170}, {"ordm", 186},
    {"oslash", 248}, {"otilde", 245}, {"otimes", 8855}, {"ouml", 246}, {"para", 182}, {"part", 8706}, {"percnt", 37},
    {"period", 46}, {"permil", 8240}, {"perp", 8869}, {"phi", 966}, {"phone", 9742}, {"pi", 960}, {"piv", 982},
    {"plus", 43}, {"plusmn", 177}, {"pound", 163}, {"prime", 8242}, {"prod", 8719}, {"prop", 8733}, {"psi", 968},
    {"quest", 63}, {"quot", 34}, {"rArr", 8658}, {"radic", 8730}, {"rang", 9002}, {"raquo", 187}, {"rarr", 8594},
    {"rbrace", 125}, {"rbrack", 93}, {"rceil", 8969}, {"rdquo", 8221}, {"real", 8476}, {"reg", 174}, {"rfloor", 8971},
    {"rho", 961}, {"rlm", 8207}, {"rpar", 41}, {"rsaquo", 8250}, {"rsquo", 8217}, {"sbquo", 8218}, {"scaron", 353},
    {"sdot", 8901}, {"sect", 167}, {"semi", 59}, {"shy", 173}, {"sigma", 963}, {"sigmaf", 962}, {"sim", 8764},
    {"sol", 47}, {"spades", 9824}, {"star", 9734}, {"starf", 9733}, {"sub", 8834}, {"sube", 8838}, {"sum", 8721},
    {"sup", 8835}, {"sup1", 185}, {"sup2", 178}, {"sup3", 179}, {"supe", 8839}, {"szlig", 223}, {"tau", 964},
    {"there4", 8756}, {"theta", 952}, {"thetasym", 977}, {"thinsp", 8201}, {"thorn", 254}, {"tilde", 732},
    {"times", 215}, {"trade", 8482}, {"uArr", 8657}, {"uacute", 250}, {"uarr", 8593}, {"ucirc", 251}, {"ugrave", 249},
    {"uml", 168}, {"upsih", 978}, {"upsilon", 965}, {"uuml", 252}, {"vert", 124}, {"weierp", 8472}, {"xi", 958},
    {"yacute", 253}, {"yen", 165}, {"yuml", 255}, {"zeta", 950}, {"zwj", 8205}, {"zwnj", 8204},
    // clang-format on
};

/// What browsers read for numbers of a code page that are none of Unicode.
constexpr char16_t kWindows1252[] = {0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021,
                                     0x2C6,  0x2030, 0x160,  0x2039, 0x152,  0x8D,   0x17D,  0x8F,
                                     0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                     0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};

char32_t numbered_character(std::string_view reference, bool is_html) {
  const bool is_hexadecimal = reference.starts_with('x') || reference.starts_with('X');
  if (is_hexadecimal) reference.remove_prefix(1);
  if (reference.empty()) return 0;
  char32_t code = 0;
  for (const char c : reference) {
    uint32_t digit = 0;
    if (c >= '0' && c <= '9')
      digit = static_cast<uint32_t>(c - '0');
    else if (is_hexadecimal && c >= 'a' && c <= 'f')
      digit = static_cast<uint32_t>(c - 'a' + 10);
    else if (is_hexadecimal && c >= 'A' && c <= 'F')
      digit = static_cast<uint32_t>(c - 'A' + 10);
    else
      return 0;
    code = code * (is_hexadecimal ? 16 : 10) + digit;
    if (code > 0x10FFFF) return 0;
  }
  if (is_html && code >= 0x80 && code < 0xA0) return kWindows1252[code - 0x80];
  const bool is_space = code == 0x9 || code == 0xA || code == 0xD;
  if ((code < 0x20 && !is_space) || (code >= 0xD800 && code < 0xE000) || code == 0xFFFE || code == 0xFFFF) return 0;
  return code;
}

}  // namespace

DecodedEntity decode_entity(std::string_view text, EntitySet set) {
  const bool is_html = set == EntitySet::kHtml;
  size_t end = 1;
  while (end < text.size() && end < 32 &&
         (is_ascii_letter(text[end]) || (text[end] >= '0' && text[end] <= '9') || (text[end] == '#' && end == 1)))
    ++end;
  const bool is_complete = end < text.size() && text[end] == ';';
  const std::string_view name = text.substr(1, end - 1);
  const size_t length = end + is_complete;
  if (name.starts_with('#')) {
    const char32_t code = is_complete || is_html ? numbered_character(name.substr(1), is_html) : 0;
    return code ? DecodedEntity{code, length} : DecodedEntity{};
  }
  const auto* found =
      std::lower_bound(std::begin(kNamed), std::end(kNamed), name,
                       [](const NamedCharacter& entry, std::string_view other) { return entry.name < other; });
  if (found == std::end(kNamed) || found->name != name) return {};
  const bool is_ascii_xml = name == "amp" || name == "lt" || name == "gt" || name == "quot" || name == "apos";
  if (set == EntitySet::kXml && !is_ascii_xml) return {};
  // Names of the first HTML may lack their semicolon.
  const bool is_old = found->code >= 0xA0 && found->code < 0x100;
  if (!is_complete && !(is_html && (is_old || (is_ascii_xml && name != "apos")))) return {};
  return {found->code, length};
}

std::string encode_entities(std::string_view text, char quote) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
      case '\'':
        if (c == quote)
          out += c == '"' ? "&quot;" : "&#39;";
        else
          out += c;
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string decode_entities(std::string_view text, EntitySet set) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto entity = text[i] == '&' ? decode_entity(text.substr(i), set) : DecodedEntity{};
    if (entity.length == 0) {
      out += text[i++];
    } else {
      out += to_utf8(std::u32string(1, entity.code));
      i += entity.length;
    }
  }
  return out;
}

size_t scan_tag(std::string_view document, size_t begin, std::vector<Attribute>* attributes) {
  size_t i = begin;
  const size_t size = document.size();
  while (i < size) {
    const char c = document[i];
    if (c == '>') return i + 1;
    if (is_markup_space(c) || c == '/') {
      ++i;
      continue;
    }
    Attribute attribute;
    attribute.name.begin = i++;  // whatever it is: a name may begin with '='
    while (i < size && !is_markup_space(document[i]) && document[i] != '/' && document[i] != '>' && document[i] != '=')
      ++i;
    attribute.name.end = i;
    attribute.value = {i, i};
    size_t after = i;
    while (after < size && is_markup_space(document[after])) ++after;
    if (after < size && document[after] == '=') {
      i = after + 1;
      while (i < size && is_markup_space(document[i])) ++i;
      if (i == size) return kNone;
      attribute.has_value = true;
      if (document[i] == '"' || document[i] == '\'') {
        attribute.quote = document[i++];
        attribute.value.begin = i;
        i = document.find(attribute.quote, i);
        if (i == document.npos) return kNone;
        attribute.value.end = i++;
      } else {
        attribute.value.begin = i;
        while (i < size && !is_markup_space(document[i]) && document[i] != '>') ++i;
        attribute.value.end = i;
      }
    }
    if (attributes) attributes->push_back(attribute);
  }
  return kNone;
}

std::vector<Attribute> attributes_of(const MarkupTokens& markup, const Token& tag) {
  std::vector<Attribute> attributes;
  scan_tag(markup.document.substr(0, tag.bytes.end), tag.name.end, &attributes);
  return attributes;
}

std::optional<std::string_view> attribute_value(const MarkupTokens& markup, const Token& tag, std::string_view name) {
  for (const auto& attribute : attributes_of(markup, tag))
    if (lower_name(markup.text(attribute.name)) == name) return markup.text(attribute.value);
  return std::nullopt;
}

}  // namespace nmt::documents
