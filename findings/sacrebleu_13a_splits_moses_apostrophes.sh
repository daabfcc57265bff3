#!/usr/bin/env bash
# sacreBLEU 2.6.0: BLEU's default tokenizer turns Moses' &quot; back into a sign, and cuts &apos; into four tokens.
#
# What one expects: escapes of the Moses tokenizer (IWSLT's talks as most toolkits prepare them) are all undone or all
# kept. Seen: 13a knows &quot; &amp; &lt; &gt;, and neither &apos; nor &#91;. A right "&apos;t" counts as four tokens in a row: two
# sentences that share nothing else have 41 BLEU instead of 0, and of two systems the one that writes more apostrophes gains.
# Exit code 0: still so. 1: it has changed. 77: the package cannot be had.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python && python/bin/python -m pip install -q sacrebleu==2.6.0 || exit 77
python/bin/python - <<'PYTHON' | tee seen
from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
cut = Tokenizer13a()
for text in ("say &quot; no &quot;", "you don &apos;t"):
    print(text, "->", cut(text))
for form in ("none", "13a"):
    score = BLEU(tokenize=form, force=True, smooth_method="none").corpus_score(["he didn &apos;t sing"], [["they can &apos;t read"]])
    print(form, f"{score.score:.2f}")
PYTHON
diff seen - <<'TEXT'
say &quot; no &quot; -> say " no "
you don &apos;t -> you don & apos ; t
none 0.00
13a 41.11
TEXT
