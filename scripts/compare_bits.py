#!/usr/bin/env python3
"""Whether two builds compute the same bits: trains the same updates and translates the same sentences with both.

    scripts/compare_bits.py BEFORE AFTER [--work FOLDER] [--updates N] [--sentences N]

BEFORE and AFTER are build folders, of a commit before and after a change that may change no result. The built-in corpus
is prepared by BEFORE alone. Then each build makes N updates of five presets (checkpoints, best/ with its weights), and
translates N sentences in every search mode and precision with the first model of BEFORE. A line for each comparison;
exit code 1 if one differs. Python's standard library only.
"""

import argparse
import hashlib
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
PRESETS = ("quickstart", "multi30k_de_en", "multi30k_de_en_rotary", "rnn_multi30k", "iwslt14_de_en_rdrop")

# Options of nmt-translate. int8 and bf16 run on every processor, through plain arithmetic where it has no instruction.
SEARCHES = {
    "greedy": ["--beam-size", "1"],
    "beam 4": ["--beam-size", "4"],
    "beam 4, one at a time": ["--beam-size", "4", "--batch-size", "1"],
    "n-best with scores": ["--beam-size", "4", "--n-best", "4", "--scores", "--token-scores"],
    "optimal stopping": ["--beam-size", "4", "--stopping", "optimal"],
    "diverse beams": ["--beam-size", "4", "--diversity-groups", "2", "--diversity-strength", "0.5"],
    "coverage penalty": ["--beam-size", "4", "--coverage-penalty", "0.2"],
    "no repeated trigrams": ["--beam-size", "4", "--no-repeat-ngram-size", "3", "--repetition-penalty", "1.2"],
    "prefix": ["--beam-size", "4", "--prefix", "The"],
    "phrase that must appear": ["--beam-size", "4", "--must", "the"],
    "phrase that must not appear": ["--beam-size", "4", "--must-not", "the"],
    "sampling": ["--beam-size", "1", "--sampling", "--seed", "7", "--top-k", "20", "--temperature", "0.8"],
    "alignment": ["--beam-size", "4", "--alignment", "pharaoh"],
}
PRECISIONS = ("fp32", "bf16", "int8")


def run(command, **settings):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **settings)
    if done.returncode != 0:
        sys.exit(f"compare_bits: {' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def settings_of(work, name, build, updates):
    """Each preset has prepared data of its own: its options of the data section are part of what it computes."""
    values = {"data.dir": work / "prepared" / name, "data.vocab_size": 2000, "run.dir": work / build / name, "run.threads": 1,
              "training.max_updates": updates, "training.checkpoint_every": updates // 2,
              "validation.every": updates // 2, "validation.max_sentences": 20}
    return [argument for key, value in values.items() for argument in ("--set", f"{key}={value}")]


def corpus_settings(work):
    files = {"train1": "train.de", "train2": "train.en", "eval1": "valid.de", "eval2": "valid.en", "test1": "test.de",
             "test2": "test.en"}
    return [argument for key, file in files.items() for argument in ("--set", f"data.{key}={work / 'corpus' / file}")]


def weights(run_directory):
    """Digest of each file of weights that a run left."""
    files = sorted(run_directory.glob("**/*.safetensors"))
    return {str(path.relative_to(run_directory)): digest(path.read_bytes()) for path in files}


class Comparison:
    def __init__(self):
        self.different = 0

    def add(self, name, before, after):
        same = before == after and bool(before)
        self.different += not same
        print(f"{'same     ' if same else 'DIFFERENT'} {name}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("bits"), help="folder for what is made")
    parser.add_argument("--updates", type=int, default=50)
    parser.add_argument("--sentences", type=int, default=1000)
    options = parser.parse_args()
    work = options.work.resolve()
    builds = {"before": options.before.resolve(), "after": options.after.resolve()}
    comparison = Comparison()

    if not (work / "corpus" / "train.de").exists():
        run([sys.executable, SOURCE / "data_scripts" / "make_builtin_corpus.py", "--out", work / "corpus", "--pairs", "6000"])

    for preset in PRESETS:
        made = {}
        run([builds["before"] / "nmt-prepro", "-c", SOURCE / "configs" / f"{preset}.yaml", *corpus_settings(work),
             *settings_of(work, preset, "before", options.updates)])
        for name, build in builds.items():
            run([build / "nmt-train", "-c", SOURCE / "configs" / f"{preset}.yaml", "--restart", *corpus_settings(work),
                 *settings_of(work, preset, name, options.updates)])
            made[name] = weights(work / name / preset)
        comparison.add(f"{options.updates} updates of {preset}: {len(made['before'])} files", made["before"], made["after"])

    lines = (work / "corpus" / "train.de").read_bytes().splitlines(keepends=True)[:options.sentences]
    text = b"".join(lines)
    model = work / "before" / PRESETS[0] / "best"
    recurrent = work / "before" / "rnn_multi30k" / "best"
    cases = [(f"{name}, {precision}", [*arguments, "--precision", precision], [model])
             for precision in PRECISIONS for name, arguments in SEARCHES.items()]
    cases += [("ensemble of two", ["--beam-size", "4"], [model, work / "before" / PRESETS[0] / "best"]),
              ("recurrent, greedy", ["--beam-size", "1"], [recurrent]), ("recurrent, beam 4", ["--beam-size", "4"], [recurrent])]
    for name, arguments, models in cases:
        made = [run([build / "nmt-translate", "--quiet", *(part for model in models for part in ("-m", model)), *arguments], input=text) for build in builds.values()]
        comparison.add(f"{len(lines)} sentences: {name}", *map(digest, made))

    print(f"{comparison.different} different")
    return 1 if comparison.different else 0


if __name__ == "__main__":
    sys.exit(main())
