#!/usr/bin/env python3
"""What a model gains and forgets when it is adapted to other text: wholly, wholly with old text beside the new, and by adapters
of training.lora_rank (Hu et al. 2022). Prints a table.

    bench/training/adaptation.py --model DIR --data NEW --old OLD --work /tmp/adaptation [--updates 800] [--ranks 8 64]

NEW and OLD are folders of {train,valid,test}.{de,en}.gz, as --parts and --old-parts name them. All see as many batches.
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "data")]
import synthetic  # noqa: E402
from measuring import conditions  # noqa: E402


def files(folder, part):
    return [folder / f"{part}.{side}.gz" for side in synthetic.SIDES]


def evaluate(bench, model, tests, adapter, options):
    """(BLEU, chrF2) on each test set."""
    scores = []
    for folder, part in tests:
        source, reference = files(folder, part)
        report = options.work / "report.json"
        bench.run("nmt-eval", "-m", model, *(["--adapter", adapter] if adapter else []), "--source", source, "--reference",
                  reference, "--no-loss", "--beam-size", 4, "--report", report, "--threads", options.threads)
        tested = json.loads(report.read_text(encoding="utf-8"))["systems"][0]
        scores.append([score["score"] for score in tested["scores"]])
    return scores


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    synthetic.add_options(parser)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--old", type=pathlib.Path, required=True, help="what the model was trained on")
    parser.add_argument("--parts", nargs=3, default=["train", "valid", "test"])
    parser.add_argument("--old-parts", nargs=3, default=["train", "val", "test_2016_flickr"])
    parser.add_argument("--ranks", nargs="*", type=int, default=[8, 64])
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--adapter-lr", type=float, default=2e-3)
    options = parser.parse_args()
    bench, work = synthetic.Bench(options), options.work
    new, old = files(options.data, options.parts[0]), files(options.old, options.old_parts[0])
    variants = {"all weights": ([new], options.lr, 0), "all weights, old text beside": ([new, old], options.lr, 0)}
    variants |= {f"adapter of rank {rank}": ([new], options.adapter_lr, rank) for rank in options.ranks}
    tests = [(options.data, options.parts[2]), (options.old, options.old_parts[2])]
    rows = [("before", 0, evaluate(bench, options.model, tests, None, options))]
    for number, (name, (texts, rate, rank)) in enumerate(variants.items()):
        sides = {f"train{i + 1}": ", ".join(str(text[i]) for text in texts) for i in range(2)}
        valid = files(options.data, options.parts[1])
        (work / f"{number}.yaml").write_text(
            f"data: {{dir: {work}/{number}.data, source_language: de, target_language: en, train1: [{sides['train1']}], "
            f"train2: [{sides['train2']}], eval1: {valid[0]}, eval2: {valid[1]}}}\n"
            f"training: {{batch_type: tokens, batch_size: 2048, lr: {rate}, schedule: constant, warmup_steps: 50, num_epochs: 0, "
            f"max_updates: {options.updates}, checkpoint_every: 0, clip_norm: 1, smoothing: 0.1, lora_rank: {rank}}}\n"
            f"validation: {{every: {max(1, options.updates // 4)}, best_metric: bleu}}\n"
            f"run: {{dir: {work}/{number}, threads: {options.threads}, seed: {options.seed}, tensorboard: false}}\n", encoding="utf-8")
        configuration = ("-c", work / f"{number}.yaml", "--from-model", options.model)
        bench.run("nmt-prepro", *configuration, "--overwrite")
        bench.run("nmt-train", *configuration, "--restart")
        best = work / str(number) / "best"
        adapter = best / "adapter.safetensors" if rank else None
        weights = adapter or best / "model.safetensors"
        rows.append((name, weights.stat().st_size, evaluate(bench, options.model if rank else best, tests, adapter, options)))
    print(f"{conditions(options.threads, 1)}; {options.updates} updates each\n")
    print("| model | bytes | new text: BLEU | chrF2 | old text: BLEU | chrF2 |\n| -- | -- | -- | -- | -- | -- |")
    for name, size, scores in rows:
        print(f"| {name} | {size or ''} | {' | '.join(f'{score:.2f}' for pair in scores for score in pair)} |")


if __name__ == "__main__":
    main()
