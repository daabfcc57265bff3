#!/usr/bin/env python3
"""Preparing a corpus: nmt-prepro with one and two threads beside `spm_encode` and OpenNMT-py, with one BPE vocabulary, in turns.

    bench/data/compare.sh --source FILE --target FILE --peers DIR [--pairs 500000] [--vocabulary 16000] [--rounds 3]

The pairs of the files are repeated until there are as many as wanted. `nmt-prepro` reads, checks, counts, finds duplicates,
encodes and writes what training reads; its stage "encoding" is given apart. `spm_encode` (where it is installed) writes
pieces of both sides, one side after the other, on one thread. DIR/venv has OpenNMT-py: `onmt_build_vocab` applies its
SentencePiece transform to the whole corpus and counts the pieces, which training does once more in each epoch.
"""
import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measuring import conditions, median, spread  # noqa: E402


def run(command, cwd, **options):
    """(seconds, maximum resident memory in MB, what it printed)."""
    start = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, **options)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {status}\n{output[-2000:]}")
    return seconds, usage.ru_maxrss / 1024, output


def write_corpus(sources, targets, pairs, work):
    lines = {}
    for side, files in (("src", sources), ("tgt", targets)):
        lines[side] = list(itertools.chain.from_iterable(file.read_text(encoding="utf-8").splitlines() for file in files))
    if len(lines["src"]) != len(lines["tgt"]):
        sys.exit(f"{len(lines['src'])} lines of the source, {len(lines['tgt'])} of the target")
    for side, own in lines.items():
        with open(work / f"train.{side}", "w", encoding="utf-8") as file:
            for line in itertools.islice(itertools.cycle(own), pairs):
                file.write(line + "\n")
        (work / f"valid.{side}").write_text("\n".join(own[:500]) + "\n", encoding="utf-8")


def our_config(work, name, threads, vocabulary):
    file = work / f"{name}.yaml"
    file.write_text(f"""data:
  dir: {work / name}
  train1: {work / 'train.src'}
  train2: {work / 'train.tgt'}
  eval1: {work / 'valid.src'}
  eval2: {work / 'valid.tgt'}
  joint_vocabulary: true
  {vocabulary}
run:
  threads: {threads}
""", encoding="utf-8")
    return file


class Comparison:
    def __init__(self, arguments, work):
        self.arguments, self.work = arguments, work
        self.programs = arguments.programs.resolve()
        write_corpus(arguments.source, arguments.target, arguments.pairs, work)
        learned = our_config(work, "learned", 2, f"spm_type: bpe\n  vocab_size: {arguments.vocabulary}")
        run([self.programs / "nmt-prepro", "-c", learned], work)
        shutil.copy(work / "learned" / "spm.model", work / "spm.model")
        shutil.rmtree(work / "learned")

    def ours(self, threads):
        name = f"threads{threads}"
        config = our_config(self.work, name, threads, f"spm_model1: {self.work / 'spm.model'}")
        seconds, memory, output = run([self.programs / "nmt-prepro", "-c", config], self.work)
        shutil.rmtree(self.work / name)
        return {"seconds": seconds, "memory": memory,
                "encoding": float(re.search(r"([\d.]+) s +encoding", output).group(1))}

    def spm_encode(self):
        seconds, memory = 0, 0
        for side in ("src", "tgt"):
            own, most, _ = run(["spm_encode", f"--model={self.work / 'spm.model'}", f"--input={self.work / f'train.{side}'}",
                                f"--output={self.work / f'pieces.{side}'}"], self.work)
            seconds, memory = seconds + own, max(memory, most)
        return {"seconds": seconds, "memory": memory, "encoding": seconds}

    def opennmt(self):
        config = self.work / "opennmt.yaml"
        config.write_text(f"""save_data: {self.work / 'opennmt'}
src_vocab: {self.work / 'opennmt.src'}
tgt_vocab: {self.work / 'opennmt.tgt'}
share_vocab: true
overwrite: true
src_subword_model: {self.work / 'spm.model'}
tgt_subword_model: {self.work / 'spm.model'}
data:
  corpus: {{path_src: {self.work / 'train.src'}, path_tgt: {self.work / 'train.tgt'}, transforms: [sentencepiece]}}
""", encoding="utf-8")
        seconds, memory, _ = run([self.arguments.peers / "venv/bin/onmt_build_vocab", "-config", config, "-n_sample", "-1",
                                  "-num_threads", "2"], self.work)
        return {"seconds": seconds, "memory": memory, "encoding": seconds}

    def main(self):
        runs = {"nmt-prepro, 1 thread": lambda: self.ours(1), "nmt-prepro, 2 threads": lambda: self.ours(2)}
        if shutil.which("spm_encode"):
            runs["spm_encode, both sides one after the other"] = self.spm_encode
        if self.arguments.peers:
            runs["onmt_build_vocab, SentencePiece transform, 2 threads"] = self.opennmt
        found = {name: [] for name in runs}
        print(f"{self.arguments.pairs:,} pairs, {(self.work / 'train.src').stat().st_size / 1e6:.0f} + "
              f"{(self.work / 'train.tgt').stat().st_size / 1e6:.0f} MB; {conditions(2, self.arguments.rounds)}\n", flush=True)
        for number in range(self.arguments.rounds):
            for name, function in runs.items():
                found[name].append(function())
                print(f"round {number + 1}, {name}: {found[name][-1]['seconds']:.1f} s", file=sys.stderr, flush=True)
        print("| program | seconds | of these encoding | maximum resident MB |\n| --- | --- | --- | --- |")
        for name, rounds in found.items():
            print(f"| {name} | {spread([one['seconds'] for one in rounds], '{:.1f}')} "
                  f"| {spread([one['encoding'] for one in rounds], '{:.1f}')} | {median([one['memory'] for one in rounds]):.0f} |")
        one, two = (median([r["encoding"] for r in found[f"nmt-prepro, {n} thread{'s' * (n > 1)}"]]) for n in (1, 2))
        print(f"\nEncoding with two threads: {one / two:.2f} times as fast as with one.")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, nargs="+", required=True, help="plain text, a sentence a line")
    parser.add_argument("--target", type=Path, nargs="+", required=True)
    parser.add_argument("--peers", type=Path, help="has venv/bin/onmt_build_vocab")
    parser.add_argument("--programs", type=Path, default=HERE.parents[1] / "build")
    parser.add_argument("--pairs", type=int, default=500_000)
    parser.add_argument("--vocabulary", type=int, default=16_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.peers:
        arguments.peers = arguments.peers.resolve()
    return arguments


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Comparison(parse_arguments(), Path(folder)).main()
