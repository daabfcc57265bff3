"""CTranslate2's side of compare.py: one task as JSON in, {"lines": [...], "tokens_per_second": x} out."""

import json
import sys
import time

import ctranslate2
import sentencepiece

task = json.loads(sys.argv[1])
source, target = (sentencepiece.SentencePieceProcessor(model_file=f"{task['model']}/{name}.spm")
                  for name in ("source", "target"))
with open(task["source"], encoding="utf-8") as file:
    pieces = source.encode([line.rstrip("\n") for line in file], out_type=str)
translator = ctranslate2.Translator(task["model"], compute_type=task["precision"], inter_threads=task["workers"],
                                    intra_threads=task["threads"])
# Its beam search does not count </s> among the tokens of the limit.
limit = task["limit"] if task["beam"] == 1 else task["limit"] - 1


def translate(sentences):
    return translator.translate_batch(sentences, max_batch_size=task["batch_size"], beam_size=task["beam"],
                                      length_penalty=0, min_decoding_length=0, max_decoding_length=limit)


clock = time.process_time if task["cpu_seconds"] else time.perf_counter
translate(pieces[:64])
start = clock()
results = [translate([one])[0] for one in pieces] if task["one_by_one"] else translate(pieces)
seconds = clock() - start
best = [result.hypotheses[0] for result in results]
# SentencePiece writes an unknown piece as " ⁇ ", nmt-translate as the piece is called.
print(json.dumps({"lines": [target.decode_pieces(one).replace(" ⁇ ", "<unk>") for one in best],
                  "tokens_per_second": sum(len(one) + 1 for one in best) / seconds}))
