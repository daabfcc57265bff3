#!/usr/bin/env bash
# transformers 5.23.0 (sentencepiece 0.2.0), M2M100Tokenizer: no file of a saved folder holds its language tokens, and len()
# does not count them.
#
# What one expects: tokens that the tokenizer puts before each text stand in the folder (vocab.json, tokenizer_config.json,
# added_tokens.json), and no id is len(tokenizer) or more, since an embedding is made or resized to that length. Seen: the
# folder has three files, of which none has "__de__"; its id is beyond len(). They are told by the word "m2m100" in
# tokenizer_config.json alone, whose list and order stand in transformers' code. Another program that reads such a folder has
# to bring that list.
# Exit code 0: still so. 1: it has changed. 77: the packages cannot be had.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python && python/bin/python -m pip install -q transformers==5.23.0 sentencepiece==0.2.0 || exit 77
cat >tokens.py <<'PYTHON'
import itertools
import json
import pathlib
import sentencepiece
from transformers import M2M100Tokenizer

words = "Rom Rad Rabe Tal Turm alt rot rund klar city wheel bird old red".split()
pathlib.Path("text.txt").write_text("\n".join(" ".join(order) for order in itertools.permutations(words, 3)))
sentencepiece.SentencePieceTrainer.train(input="text.txt", model_prefix="own", vocab_size=60, minloglevel=2,
                                         hard_vocab_limit=False)
model = sentencepiece.SentencePieceProcessor(model_file="own.model")
ids = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
for piece in map(model.id_to_piece, range(model.get_piece_size())):
    ids.setdefault(piece, len(ids))
pathlib.Path("vocab.json").write_text(json.dumps(ids))

tokenizer = M2M100Tokenizer("vocab.json", "own.model", src_lang="de", tgt_lang="en")
first = tokenizer("alt rot")["input_ids"][0]
print("the text begins with", tokenizer.convert_ids_to_tokens(first))
print("its id is below len():", first < len(tokenizer), "- and below len(vocab.json):", first < len(ids))
tokenizer.save_pretrained("saved")
for file in sorted(pathlib.Path("saved").iterdir()):
    print(file.name, "has __de__:", b"__de__" in file.read_bytes())
print("language_codes:", json.loads(pathlib.Path("saved/tokenizer_config.json").read_text())["language_codes"])
PYTHON
python/bin/python tokens.py 2>errors | tee seen || { tail -3 errors >&2; exit 1; }
cat >expected <<'TEXT'
the text begins with __de__
its id is below len(): False - and below len(vocab.json): False
sentencepiece.bpe.model has __de__: False
tokenizer_config.json has __de__: False
vocab.json has __de__: False
language_codes: m2m100
TEXT
diff expected seen
