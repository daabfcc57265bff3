#!/usr/bin/env python3
"""Speed from Python: nmt.Translator beside ctranslate2.Translator, with one model, exported by nmt-export. Each run is a
process of its own; the two take turns, several times, and the best of each counts.

    bench/python/compare.py --model DIR --source FILE --export build/nmt-export --package build/python --python PYTHON

PYTHON has ctranslate2, sentencepiece and numpy (scripts/interop_python.sh makes one) and is the Python that the package
was built for. Texts go in as str and come out as str on both sides: SentencePiece is part of the time. `batch`: lists of
--batch-size lines; `single`: one line a call. Options of the search are the same: no length penalty, translations at most
as long as --limit pieces.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PRECISIONS = {"float32": "fp32", "int8": "int8"}  # CTranslate2's names and ours


def blocks(lines, task):
    size = 1 if task["mode"] == "single" else task["batch_size"]
    return [lines[i:i + size] for i in range(0, len(lines), size)]


def nmt_translate(task):
    import nmt
    translator = nmt.Translator(task["model"], threads=task["threads"], precision=PRECISIONS[task["precision"]])
    options = {"beam_size": task["beam"], "length_penalty": 0, "max_length": task["limit"],
               "batch_size": task["batch_size"]}
    return lambda lines: [result.text for result in translator.translate(lines, **options)]


def ctranslate2_translate(task):
    import ctranslate2
    import sentencepiece
    source, target = (sentencepiece.SentencePieceProcessor(model_file=f"{task['exported']}/{name}.spm")
                      for name in ("source", "target"))
    workers = 1 if task["mode"] == "single" or task["threads"] == 1 else task["threads"]
    translator = ctranslate2.Translator(task["exported"], compute_type=task["precision"], inter_threads=workers,
                                        intra_threads=task["threads"] // workers)
    # Its beam search does not count </s> among the pieces of the limit. A list is shared out to its workers.
    options = {"beam_size": task["beam"], "length_penalty": 0, "min_decoding_length": 0,
               "max_decoding_length": task["limit"] if task["beam"] == 1 else task["limit"] - 1,
               "max_batch_size": -(-task["batch_size"] // workers)}

    def translate(lines):
        results = translator.translate_batch(source.encode(lines, out_type=str), **options)
        # SentencePiece writes an unknown piece as " ⁇ ", nmt as the piece is called.
        return [target.decode_pieces(result.hypotheses[0]).replace(" ⁇ ", "<unk>") for result in results]

    return translate


def run_task(task):
    """In the process of one side: {"seconds": per pass, "lines": [...]}."""
    translate = {"nmt": nmt_translate, "ctranslate2": ctranslate2_translate}[task["side"]](task)
    with open(task["source"], encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file][:task["lines"]]
    parts = blocks(lines, task)
    for part in parts[:4]:
        translate(part)  # packs weights, fills caches
    began = time.perf_counter()
    translations = [text for part in parts for text in translate(part)]
    return {"seconds": time.perf_counter() - began, "lines": translations}


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--task":
        print(json.dumps(run_task(json.loads(sys.argv[2]))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("model", "source", "export", "package", "python"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--single-lines", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=list(PRECISIONS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=int, default=100)
    options = parser.parse_args()
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(options.package).resolve())}
    environment.pop("OMP_NUM_THREADS", None)

    def measure(task):
        done = subprocess.run([options.python, __file__, "--task", json.dumps(task)], stdout=subprocess.PIPE, text=True,
                              env=environment)
        if done.returncode != 0:
            sys.exit(f"{task['side']} failed: see above")
        return json.loads(done.stdout.splitlines()[-1])

    print("| precision | beam | texts a call | threads | nmt, texts/s | CTranslate2, texts/s | nmt / CTranslate2 | same |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        exported = os.path.join(folder, "ct2")
        subprocess.run([options.export, "-m", options.model, "--to", "ctranslate2", "-o", exported], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for precision in options.precisions:
            for beam in options.beams:
                for mode in ("batch", "single"):
                    for threads in options.threads:
                        common = {"model": options.model, "exported": exported, "source": options.source,
                                  "precision": precision, "beam": beam, "mode": mode, "threads": threads,
                                  "batch_size": options.batch_size, "limit": options.limit,
                                  "lines": options.lines if mode == "batch" else options.single_lines}
                        best, found = {}, {}
                        for _ in range(options.repeats):
                            for side in ("nmt", "ctranslate2"):
                                outcome = measure({**common, "side": side})
                                best[side] = min(best.get(side, outcome["seconds"]), outcome["seconds"])
                                found[side] = outcome["lines"]
                        count = len(found["nmt"])
                        same = sum(a == b for a, b in zip(found["nmt"], found["ctranslate2"]))
                        print(f"| {precision} | {beam} | {1 if mode == 'single' else options.batch_size} | {threads} | "
                              f"{count / best['nmt']:.1f} | {count / best['ctranslate2']:.1f} | "
                              f"{best['ctranslate2'] / best['nmt']:.2f} | {same} of {count} |", flush=True)


if __name__ == "__main__":
    main()
