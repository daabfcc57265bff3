#!/usr/bin/env python3
"""What augmentation (training.augment_*, data.spm_upper) brings for text in capitals, with typos and so on. Prints a table.

    bench/data/augmentation.py --data multi30k --test test_2016_flickr --work /tmp/augmentation [--updates 10000]
                               [--upper 0.15] [--title 0.05] [--typos 0.1] [--no-end-mark 0.05] [--joined 0.05] [--spm-upper 0.3]

Two trainings from German to English with the preset small_text, without and with it; BLEU of lower-cased text of the test set as
it is and under each change (nmt-eval --robust).
"""

import argparse
import json
import pathlib
import sys

import synthetic

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measuring import conditions  # noqa: E402

CHANGES = {"upper": 0.15, "title": 0.05, "typos": 0.1, "no_end_mark": 0.05, "joined": 0.05}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    synthetic.add_options(parser)
    parser.add_argument("--test", default="test")
    for name, share in CHANGES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=share, help=f"training.augment_{name}")
    parser.add_argument("--spm-upper", type=float, default=0.3, help="data.spm_upper")
    options = parser.parse_args()
    bench, work = synthetic.Bench(options), options.work
    files = {f"train{side}": [options.data / f"train.{code}.gz"] for side, code in ((1, "de"), (2, "en"))}
    capitals = ["--set", f"data.spm_upper={options.spm_upper}", "--set", "data.byte_fallback=true"]
    changes = [word for name in CHANGES for word in ("--set", f"training.augment_{name}={getattr(options, name)}")]
    rows = {}
    for name, prepared, trained in (("plain", [], []), ("augmented", capitals, [*capitals, *changes])):
        bench.prepare(name, "de", "en", files, prepared)
        model = bench.train(name, trained)
        report = work / f"{name}.json"
        bench.run("nmt-eval", "-m", model, "--source", options.data / f"{options.test}.de.gz", "--reference",
                  options.data / f"{options.test}.en.gz", "--robust", "--no-loss", "--report", report, "--threads", options.threads)
        rows[name] = {tested["test_set"]["name"]: tested["systems"][0]["scores"][0]["score"]
                      for tested in json.loads(report.read_text(encoding="utf-8"))["test_sets"]}
    print(f"{conditions(options.threads, 1)}\n")
    names = list(rows["plain"])
    print(f"| training | {' | '.join(names)} |\n|{' -- |' * (1 + len(names))}")
    for training, scores in rows.items():
        print(f"| {training} | {' | '.join(f'{scores[name]:.2f}' for name in names)} |")


if __name__ == "__main__":
    main()
