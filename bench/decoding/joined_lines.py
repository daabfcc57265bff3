#!/usr/bin/env python3
"""What several sentences in a line cost a model of sentences: BLEU and time of a test set whose lines are joined by ones,
twos and threes, translated as they are and sentence by sentence, and the requests a second of a service both ways.

joined_lines.py --model DIR --source FILE --reference FILE [--beam-size 4] [--requests 300] [--programs build]

References are joined in the same way, so figures of one row compare; those of different rows do so only about. Texts are
plain or gzip.
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import measuring


def lines_of(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def joined(lines, number):
    return [" ".join(lines[begin:begin + number]) for begin in range(0, len(lines) // number * number, number)]


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, pathlib.Path(folder)

    def program(self, name):
        return str(pathlib.Path(self.arguments.programs) / name)

    def of_model(self):
        return [self.program("nmt-translate"), "-m", self.arguments.model, "--beam-size", str(self.arguments.beam_size)]

    def write(self, name, lines):
        path = self.folder / name
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return str(path)

    def translate(self, source, *options):
        """BLEU against the references and seconds, the time to load the model among them."""
        out = str(self.folder / "out")
        start = time.monotonic()
        subprocess.run([*self.of_model(), "-q", "-i", source, "-o", out, *options], check=True)
        seconds = time.monotonic() - start
        score = subprocess.run([self.program("nmt-score"), str(self.folder / "reference"), "-i", out, "-b"], check=True,
                               capture_output=True, text=True)
        return float(score.stdout), seconds

    def requests_a_second(self, lines, **fields):
        """Of one client of a service, a line each."""
        command = [*self.of_model(), "--serve", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            url = server.stdout.readline().strip() + "/translate"
            try:
                start = time.monotonic()
                for i in range(self.arguments.requests):
                    source, target = self.arguments.languages
                    body = {"q": lines[i % len(lines)], "source": source, "target": target} | fields
                    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
                    with urllib.request.urlopen(request) as reply:
                        reply.read()
                return self.arguments.requests / (time.monotonic() - start)
            finally:
                server.terminate()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--model", "--source", "--reference"):
        parser.add_argument(name, required=True)
    parser.add_argument("--beam-size", type=int, default=4)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--languages", nargs=2, default=("de", "en"), help="codes of the model's languages")
    parser.add_argument("--programs", default="build")
    arguments = parser.parse_args()
    source, reference = lines_of(arguments.source), lines_of(arguments.reference)
    print(measuring.conditions("all", 1))
    print("| lines joined by | BLEU whole | sentence by sentence | seconds whole | sentence by sentence "
          "| requests/s whole | sentence by sentence |\n| -- | -- | -- | -- | -- | -- | -- |")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, folder)
        for number in (1, 2, 3):
            lines = joined(source, number)
            path = bench.write("source", lines)
            bench.write("reference", joined(reference, number))
            whole, split = bench.translate(path), bench.translate(path, "--split-sentences")
            rates = [bench.requests_a_second(lines, split_sentences=value) for value in (False, True)]
            print(f"| {number} | {whole[0]:.2f} | {split[0]:.2f} | {whole[1]:.1f} | {split[1]:.1f} "
                  f"| {rates[0]:.1f} | {rates[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
