"""Writes moses.json beside this file: lines as sacremoses 0.2.0 tokenises and detokenises them, and sums over the classes of
characters that it uses.

    .deps/dev/bin/python tests/text/golden/make_moses_golden.py
"""

import json
import pathlib

from sacremoses import MosesDetokenizer, MosesTokenizer
from sacremoses.util import is_cjk

LINES = [
    "",
    " ",
    ".",
    "..",
    "...",
    "'",
    "a",
    "\x00",
    "a\x00b \x01 c\x1b d\x7fe",
    "a\tb\x0bc\x1cd\x85e\u00a0f\u2003g\u3000h\u200bi\ufeffj",
    "Das ist ein Satz.",
    "This is a sentence. And this is one more",
    "Er kam am 3. Oktober 1990, z.B. mit Dr. Müller, Prof. Schmidt u.a. nach St. Pauli usw.",
    "Usw. und usw. Und Nr. 5 oder No. 5 der Art. 3 abs. 2. 17. Mai, 100. Mal, 99. Mal, 0. Mal",
    "Mr. Smith lives in the U.S. and Mrs. Jones, e.g. in No. 10 Downing St. No. He said Art. 5 pp. 3-5 pp. x",
    "Jan. Mai. rev. X. x. v. V. vs. II. xx. approx. 5 approx. Yes approx. no",
    "It costs $1,000.50, or 1.000,50 €, i.e. 5,300 pounds, A,B,C,D,E ,,, 1,,2 a,, 5, 6,",
    "don't can't 'tis Jones' house the 1990's '90s rock'n'roll o'clock'",
    "a'b'c 'a' ''a'' 1'2 1's 's' it's. 'It's'",
    "He said 'yes.'",
    "He said ' yes .'",
    "He said \"yes\". „Ja“, sagte er, »nein« ‚doch‘ “English” ‘quotes’ ``old'' `x`",
    "foo-bar foo--bar -foo bar- 1-2 a-b-c ä-ß foo - bar @-@ foo @-@ bar",
    "wait... what.. no....yes .. . ... ........",
    "DOTMULTI DOTDOTMULTI xDOTMULTI DOT... MULTI DODOTMULTIDOTMULTI. DOTMULTI.",
    "http://www.example.org/a/b.html?q=1&r=[2]#x user@host.de #tag @name C++ a/b 50% 3°C §5",
    "<b>bold</b> & &amp; &apos; &#91; | [x] {y} (z) \\ / * + = ~ ^ _",
    "¿Qué? ¡No! $ 5 ( a ) [ b ] { c } , ; : ! ? % €5 5€ £ ¥",
    "中文 和 English 日本 語 한국 어 カタカナ ｶﾀ が",
    "\U0001f600 \U0001d41a. \U0001d41a \U00010428x a\u0308b \u0915\u094d\u0937 \u0bb8\u0bcd Ⅷ. ½ ² ٣,٤ ⅷ,ⅸ",
    "x. y. z. X. Y. Z. 1. 2. 12. 99. 100. A.B. A.b 1.2. 1.a. .a. a..b.",
    "( \" a \" ' b ' ) „ c “ ` d ` `` e '' ''' f '''",
    "the Jones ' house , James ' s 's 'll n't 're ' s ' x",
    "a &lt; b &gt; c &quot; d &#124; e &bar; f &bra; g &ket; h &amp;lt; i &am&bar;p; j &unknown; k",
    "a @-@ b @-@ c @-@ @-@ d @-@",
    "THISISPROTECTED000 x",
    "\u25cc x. \u25cc \u0345a \u00aa. \u00aa",
    "Zum Beispiel: \"Das\" 'ist' es -- oder? Ja! Nein; gut.)",
    "L'été, c'est-à-dire qu'aujourd'hui l'on n'a qu'1 ou 2 « amis » : qui ? Toi ! Moi ; 50 % d'eux.",
    "Cf. vol. 3, pp. 5-9, éd. Dupont etc. MM. X et Y. Mme. Z a. Il b. Tél. 01 ; tél. 02, fém. Fig. fig. 1 R.-V. ch.-l. x",
    "l' eau d' or ' a ' qu' 1 c'' 'l'l' s' ?! ? ! : ; % \\ ( ? ) jusqu' à l' « un » '",
    "I'm, he's: \"it\"?! (We'd) [they'll] {you've} 5's 5'x x'5",
]
LINES += [line.lower() for line in LINES if line != line.lower()]


def sums(predicate):
    """Number and sum of the characters of a class."""
    members = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and predicate(chr(c))]
    return [len(members), sum(members)]


def main():
    rows = []
    for language in ("de", "en", "fr"):
        tokenizer, detokenizer = MosesTokenizer(language), MosesDetokenizer(language)
        for line in LINES:
            tokens = tokenizer.tokenize(line, return_str=True)
            rows.append({
                "language": language,
                "line": line,
                "tokens": tokens,
                "dashes": tokenizer.tokenize(line, return_str=True, aggressive_dash_splits=True),
                "plain": tokenizer.tokenize(line, return_str=True, escape=False),
                "joined": detokenizer.detokenize(tokens.split()),
                "line joined": detokenizer.detokenize(line.split()),
                "line joined as it is": detokenizer.detokenize(line.split(), unescape=False),
            })
    letters, marked = set(MosesDetokenizer.IsAlpha), set(MosesTokenizer.IsAlpha)
    words, numbers = set(MosesTokenizer.IsAlnum), set(MosesTokenizer.IsN) - {"\n"}
    lower, currency = set(MosesTokenizer.IsLower), set(MosesTokenizer.IsSc) - {"\n"}
    classes = {
        "letter": sums(letters.__contains__),
        "letter or mark": sums(marked.__contains__),
        "letter, mark or digit": sums(words.__contains__),
        "number": sums(numbers.__contains__),
        "lower case": sums(lower.__contains__),
        "currency": sums(currency.__contains__),
        "ideograph": sums(is_cjk),
    }
    with open(pathlib.Path(__file__).with_name("moses.json"), "w", encoding="ascii") as file:
        json.dump({"lines": rows, "characters": classes}, file, indent=1)
        file.write("\n")


main()
