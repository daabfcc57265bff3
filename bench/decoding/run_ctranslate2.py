"""CTranslate2's side of compare.py and gpu.py: one task as JSON in, {"lines": [...], "tokens_per_second": x} out."""

import json
import sys
import time

import ctranslate2
import sentencepiece

task = json.loads(sys.argv[1])
source, target = (sentencepiece.SentencePieceProcessor(model_file=f"{task['model']}/{name}.spm")
                  for name in ("source", "target"))
with open(task["source"], encoding="utf-8") as file:
    lines = [line.rstrip("\n") for line in file]
translator = ctranslate2.Translator(task["model"], device=task.get("device", "cpu"), compute_type=task["precision"],
                                    inter_threads=task["workers"], intra_threads=task["threads"])
# Its beam search does not count </s> among the tokens of the limit.
limit = task["limit"] if task["beam"] == 1 else task["limit"] - 1


def translate(sentences):
    """Text to text: (lines, tokens with </s>)."""
    results = translator.translate_batch(source.encode(sentences, out_type=str), max_batch_size=task["batch_size"],
                                         beam_size=task["beam"], length_penalty=0, min_decoding_length=0,
                                         max_decoding_length=limit)
    best = [result.hypotheses[0] for result in results]
    # SentencePiece writes an unknown piece as " ⁇ ", nmt-translate as the piece is called.
    return ([target.decode_pieces(one).replace(" ⁇ ", "<unk>") for one in best], sum(len(one) + 1 for one in best))


clock = time.process_time if task["cpu_seconds"] else time.perf_counter
translate(lines[:64])
start = clock()
if task["one_by_one"]:
    parts = [translate([line]) for line in lines]
else:
    parts = [translate(lines)]
seconds = clock() - start
print(json.dumps({"lines": [line for part, _ in parts for line in part],
                  "tokens_per_second": sum(tokens for _, tokens in parts) / seconds}))
