"""What the measurements of synthetic and of noisy text share: runs of the programs, small models, BLEU."""
import gzip
import os
import pathlib
import subprocess
import sys
import time

SIDES = ("de", "en")


def lines_of(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().splitlines()


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")


def folded(text):
    """Without case, signs and spaces."""
    return "".join(character for character in text.casefold() if character.isalnum())


class Bench:
    def __init__(self, options):
        self.options, self.work = options, options.work
        self.work.mkdir(parents=True, exist_ok=True)

    def run(self, program, *arguments):
        """Runs it, its output to WORK/log.txt, and returns the seconds."""
        command = [str(self.options.programs / program), *map(str, arguments)]
        start = time.monotonic()
        with open(self.work / "log.txt", "a", encoding="utf-8") as log:
            log.write(" ".join(command) + "\n")
            log.flush()
            code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode
        if code != 0:
            sys.exit(f"{' '.join(command)}: exit code {code}; see {self.work}/log.txt")
        return time.monotonic() - start

    def prepare(self, name, source, target, texts, settings=()):
        """Writes WORK/NAME.yaml for texts {train1, ...: [files]} in a direction, and prepares its data."""
        rows = "".join(f"  {key}: [{', '.join(map(str, files))}]\n" for key, files in texts.items())
        sets = "".join(f"  {key}{side}: {self.options.data}/{part}.{code}.gz\n" for key, part in (("eval", "val"), ("test", self.options.test))
                       for side, code in ((1, source), (2, target)))
        (self.work / f"{name}.yaml").write_text(
            f"base: small_text\ndata:\n  dir: {self.work}/{name}.data\n  source_language: {source}\n  target_language: {target}\n"
            f"{rows}{sets}run:\n  dir: {self.work}/{name}\n  threads: {self.options.threads}\n  seed: {self.options.seed}\n"
            f"  tensorboard: false\n", encoding="utf-8")
        self.run("nmt-prepro", "-c", self.work / f"{name}.yaml", "--overwrite", *settings)

    def train(self, name, settings=(), folder=None):
        """Trains WORK/NAME.yaml for --updates, or until five validations in a row are no better, into WORK/FOLDER and returns
        its model directory."""
        folder = self.work / (folder or name)
        self.run("nmt-train", "-c", self.work / f"{name}.yaml", "--run-dir", folder, "--restart", "--set",
                 f"training.max_updates={self.options.updates}", "--set", "training.num_epochs=0", *settings)
        return folder / "best"

    def bleu(self, model):
        """BLEU of sacreBLEU on the test set."""
        sides = [self.options.data / f"{self.options.test}.{side}.gz" for side in SIDES]
        hypotheses, reference = model.parent / "test.hyp", model.parent / "test.ref"
        self.run("nmt-translate", "-m", model, "-q", "-i", sides[0], "-o", hypotheses, "--threads", self.options.threads)
        write_lines(reference, lines_of(sides[1]))
        done = subprocess.run([self.options.programs / "nmt-score", reference, "-i", hypotheses, "-b", "-w",
                               "2"], stdout=subprocess.PIPE, check=True)
        return float(done.stdout)


def add_options(parser):
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of {train,val,...}.{de,en}.gz")
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for everything that is made")
    parser.add_argument("--updates", type=int, default=10000, help="of each training, at most")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
