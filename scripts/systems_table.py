#!/usr/bin/env python3
"""The model of every preset on equal terms: the same small size, corpus and training. Prints a Markdown table.

    scripts/systems_table.py [--programs build] [--work runs/systems_table] [--epochs N] [PRESET ...]

Of each preset only the section `model` is taken, brought to one small size; data and training are those of
configs/quickstart.yaml (its corpus: data_scripts/make_builtin_corpus.py). What is finished is not run again.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]

# One preset a system of docs/systems.md; the others have the same model in other sizes.
PRESETS = ["kyubyong2019_iwslt16", "kyubyong2017_iwslt16", "vaswani_base", "prenorm_small", "learned_positions_small",
           "multi30k_trevett", "deep_encoder_6_2", "bahdanau2015", "luong2015_general", "rnn_cosine",
           "rnn_attention_small", "rnn_plain", "rnn_multi30k"]

SMALL = {"d_model": 128, "dropout_rate": 0.1}
SMALL_TRANSFORMER = {"d_ff": 512, "num_blocks": 2, "num_heads": 4, "max_positions": 512}
SMALL_RECURRENT = {"num_blocks": 1, "embedding_size": 128, "encoder_size": 128, "attention_size": 128,
                   "readout_size": 128}


def run(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def model_section(programs, preset):
    """The preset's model, as lines of YAML, complete and without its sizes and rates."""
    lines = run(programs / "nmt-prepro", "-c", SOURCE / "configs" / f"{preset}.yaml", "--print-config").splitlines()
    begin = lines.index("model:") + 1
    section = {}
    for line in lines[begin:]:
        if line and not line.startswith(" "):
            break
        if ":" in line and not line.strip().startswith("#"):
            name, value = line.split("#")[0].strip().split(":", 1)
            section[name] = value.strip()
    section.update(SMALL)
    section.update(SMALL_RECURRENT if section["architecture"] == "recurrent" else SMALL_TRANSFORMER)
    if section.get("bidirectional") == "true" and section["attention_score"] in ("cosine", "scaled_cosine", "dot", "scaled_dot"):
        section["encoder_size"] = SMALL["d_model"] // 2  # such scores want keys, of both directions, as wide as queries
    deep = preset.startswith("deep_encoder")
    section["encoder_blocks"], section["decoder_blocks"] = (6, 2) if deep else ("null", "null")
    return [f"  {name}: {value}" for name, value in section.items()]


def train_and_score(programs, work, preset, epochs):
    folder = work / preset
    result = folder / "result.json"
    if result.exists():
        return json.loads(result.read_text())
    folder.mkdir(parents=True, exist_ok=True)
    quickstart = (SOURCE / "configs" / "quickstart.yaml").read_text().splitlines()
    model, training = quickstart.index("model:"), quickstart.index("training:")
    config = folder / "config.yaml"
    config.write_text("\n".join([*quickstart[:model], "model:", *model_section(programs, preset), "",
                                 *quickstart[training:]]) + "\n")
    settings = ["--set", f"data.dir={work / 'prepared'}", "--set", f"run.dir={folder / 'run'}", "--set", "run.threads=1",
                "--set", f"training.num_epochs={epochs}", "--set", "run.tensorboard=false"]
    if not (work / "prepared" / "manifest.json").exists():
        run(programs / "nmt-prepro", "-c", config, *settings)
    begin = time.process_time(), time.time()
    run(programs / "nmt-train", "-c", config, *settings)
    seconds = time.time() - begin[1]
    scores = {}
    for beam in (1, 4):
        report = folder / f"report{beam}.json"
        lines = run(programs / "nmt-eval", "-c", config, *settings, "--beam-size", beam, "--report", report, "-q")
        scores[beam] = next(float(line.split(" = ")[1].split()[0]) for line in lines.splitlines() if "BLEU|" in line)
    parameters = json.loads((folder / "run" / "best" / "model.json").read_text()).get("parameters")
    found = {"preset": preset, "parameters": parameters, "seconds": seconds, "greedy": scores[1], "beam": scores[4]}
    result.write_text(json.dumps(found))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "runs" / "systems_table")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("presets", nargs="*", metavar="PRESET")
    options = parser.parse_args()
    if not (SOURCE / "data" / "builtin" / "train.de").exists():
        run(sys.executable, SOURCE / "data_scripts" / "make_builtin_corpus.py", "--out", SOURCE / "data" / "builtin")
    print("| model of preset | BLEU, greedy | BLEU, beam 4 | training, s |\n| --- | --- | --- | --- |", flush=True)
    for preset in options.presets or PRESETS:
        row = train_and_score(options.programs.resolve(), options.work.resolve(), preset, options.epochs)
        print(f"| `{preset}` | {row['greedy']:.2f} | {row['beam']:.2f} | {row['seconds']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
