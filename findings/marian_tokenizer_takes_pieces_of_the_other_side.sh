#!/usr/bin/env bash
# transformers 5.23.0 (sentencepiece 0.2.0), MarianTokenizer with two SentencePiece models and one vocab.json, as OPUS-MT's
# folders have them: a character that a side's own model does not know is not always <unk>.
#
# What one expects: the ids of a text are those of the pieces that the side's model cuts, and what is unknown to it is
# <unk>, as in Marian, which trained the weights with the pieces of that side. Seen: pieces are looked up by their text, so
# that an unknown character has the id of a piece of the other side's model of the same text. Two programs that read one
# folder then score and force the same reference differently.
# Exit code 0: still so. 1: it has changed. 77: the packages cannot be had.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python && python/bin/python -m pip install -q transformers==5.23.0 sentencepiece==0.2.0 sacremoses==0.2.0 ||
  exit 77
cat >tokens.py <<'PYTHON'
import itertools
import json
import pathlib
import sentencepiece
from transformers import MarianTokenizer

words = {"source": "Rom Rad Rabe Tal Turm Bach Ball alt rot rund klar neu hell und ist war".split(),
         "target": "city wheel bird vale tower stream ball old red round clear new light and is was".split()}
ids = {"</s>": 0, "<unk>": 1}
for side, some in words.items():
    lines = [" ".join(order) for order in itertools.permutations(some, 3)]
    pathlib.Path(side + ".txt").write_text("\n".join(lines))
    sentencepiece.SentencePieceTrainer.train(input=side + ".txt", model_prefix=side, vocab_size=60, minloglevel=2,
                                             hard_vocab_limit=False)
    pathlib.Path(side + ".model").rename(side + ".spm")
    model = sentencepiece.SentencePieceProcessor(model_file=side + ".spm")
    for piece in map(model.id_to_piece, range(model.get_piece_size())):
        if piece not in ("<s>", "</s>", "<unk>"):
            ids.setdefault(piece, len(ids))
ids["<pad>"] = len(ids)
pathlib.Path("vocab.json").write_text(json.dumps(ids))

tokenizer = MarianTokenizer(source_spm="source.spm", target_spm="target.spm", vocab="vocab.json", source_lang="de",
                            target_lang="en")
model = sentencepiece.SentencePieceProcessor(model_file="target.spm")
for line in ("old city", "Red city", "Xed city"):
    own = [model.id_to_piece(i) for i in model.encode(line)]
    found = tokenizer.convert_ids_to_tokens(tokenizer(text_target=line)["input_ids"])
    print(f"{line}: R or X is {'known' if '<unk>' not in own else 'unknown'} to target.spm;",
          f"MarianTokenizer has <unk>: {'<unk>' in found}; R as a piece: {'R' in found}")
PYTHON
python/bin/python tokens.py 2>errors | tee seen || { tail -3 errors >&2; exit 1; }
cat >expected <<'TEXT'
old city: R or X is known to target.spm; MarianTokenizer has <unk>: False; R as a piece: False
Red city: R or X is unknown to target.spm; MarianTokenizer has <unk>: False; R as a piece: True
Xed city: R or X is unknown to target.spm; MarianTokenizer has <unk>: True; R as a piece: False
TEXT
diff expected seen
