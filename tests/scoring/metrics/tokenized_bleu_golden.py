"""Prints the figures of tokenized_bleu_test.cpp: sacreBLEU without tokenisation on what sacremoses made of the lines.

    .deps/dev/bin/python tests/scoring/metrics/tokenized_bleu_golden.py
"""

import re

from sacrebleu.metrics import BLEU
from sacremoses import MosesTokenizer

HYPOTHESES = {
    "en": ["The dog doesn't bark, said Dr. Jones.", "It costs $1,000.50 & more!", "we are HERE"],
    "de": ["Am 3. Mai sagte er: \"Das ist's.\"", "Es kostet 1.000,50 Euro (z.B. hier).", "wir sind HIER"],
    "fr": ["L'été dernier, M. Dupont n'est pas venu !", "Cela coûte 1.000,50 euros (p.ex. ici).", "nous sommes ICI"],
}
REFERENCES = {
    "en": ["the dog does not bark, said Dr. Jones.", "It costs $1,000.50 and more!", "We are here now"],
    "de": ["Am 3. Mai sagte er: \"Das ist es.\"", "Es kostet 1.000,50 Euro (z.B. dort).", "Wir sind jetzt hier"],
    "fr": ["L'été dernier M. Dupont n'est pas parti !", "Cela coûte 1.000,50 euros (p.ex. là).", "Nous sommes ici"],
}

for language, hypotheses in HYPOTHESES.items():
    tokenizer = MosesTokenizer(language)
    tokens = [tokenizer.tokenize(line, return_str=True) for line in hypotheses]
    references = [tokenizer.tokenize(line, return_str=True) for line in REFERENCES[language]]
    for lowercase in (False, True):
        metric = BLEU(tokenize="none", lowercase=lowercase)
        print(language, lowercase, metric.corpus_score(tokens, [references]).format(width=4), metric.get_signature())

# Compounds: Perl's s{(\S)-(\S)}{$1 ##AT##-##AT## $2}g on bytes, after the tokenizer.
COMPOUNDS = {
    "de": (["Der rich-text-Editor ist Open-Source-Software für a-b-c.", "Ein U-Boot - und -mehr- in Süd-Österreich", "\u00e4-\u00f6-\u00fc"],
           ["Der Rich-Text-Editor ist eine Open-Source-Software für a-b-c.", "Ein U-Boot - und mehr in Süd-Österreich", "\u00e4-\u00f6-\u00fc"]),
}


def split_compounds(line):
    return re.sub(rb"(\S)-(\S)", rb"\1 ##AT##-##AT## \2", line.encode()).decode(errors="replace")


for language, (hypotheses, references) in COMPOUNDS.items():
    tokenizer = MosesTokenizer(language)
    tokens = [[split_compounds(tokenizer.tokenize(line, return_str=True)) for line in side] for side in (hypotheses, references)]
    print(*tokens[0], sep="\n")
    metric = BLEU(tokenize="none")
    print(language, "compounds", metric.corpus_score(tokens[0], [tokens[1]]).format(width=4), metric.get_signature())

# Text that is tokenised already.
TOKENS = (["The dog does n't bark , said Dr. Jones .", "It costs $ 1,000.50 &amp; more !", "we are HERE"],
          ["the dog does not bark , said Dr. Jones .", "It costs $ 1,000.50 and more !", "We are here now"])
for lowercase in (False, True):
    metric = BLEU(tokenize="none", lowercase=lowercase)
    print("as it is", lowercase, metric.corpus_score(TOKENS[0], [TOKENS[1]]).format(width=4), metric.get_signature())
