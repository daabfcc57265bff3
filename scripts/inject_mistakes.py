#!/usr/bin/env python3
"""Puts mistakes of the kinds that only show on a GPU into the sources, one at a time, and looks whether the tests on the
simulated device find each of them, every time (docs/gpu.md).

    scripts/inject_mistakes.py [--build build] [--times 10] [NAME ...]

Each takes a compilation of one part and some seconds of tests. The sources are put back, also after an interruption.
Python's standard library only.
"""

import argparse
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
PRESETS = "All/EveryPreset.TrainsAsOnTheCpu/vaswani_base:All/EveryPreset.TrainsAsOnTheCpu/rnn_multi30k"

# name: (file, what stands there, what is put in its place, the tests that have to fail)
MISTAKES = {
    "hidden synchronisation: a copy that is not pinned": (
        "src/nn/device/device.cpp", "x.contiguous().pin_memory().to(device, /*non_blocking=*/true)", "x.to(device)", PRESETS),
    "hidden synchronisation: a question of the host": (
        "src/training/loop/train_update.cpp", "  parts.optimizer.step_unless(update.skipped, learning_rate);",
        "  if (update.skipped.item<float>() == 0) parts.optimizer.step(learning_rate);", PRESETS),
    "missing copy: lengths of the host beside a tensor of the device": (
        "src/nn/attention/attention.cpp", "copy_to_device(lengths, device)", "lengths",
        "OnDeviceDecoding.EveryPresetStepsAsItsFullPass"),
    "host access: numbers of the device read where they are": (
        "src/search/rules/best_tokens.cpp", "at::stack({device_values.to(torch::kFloat64), device_ids.to(torch::kFloat64)}).cpu()",
        "at::stack({device_values.to(torch::kFloat64), device_ids.to(torch::kFloat64)})", "OnDeviceDecoding.Transformer"),
    "host access: a kernel of the CPU for a tensor of the device": (
        "src/nn/ops/kernel_support.h", "return x.device().is_cpu() && (x", "return (x", PRESETS),
    "wrong type: cu_seqlens in int64": (
        "src/nn/ops/packed_rows.cpp", "copy_to_device(cu_seqlens, device)", "copy_to_device(cu_seqlens.to(torch::kInt64), device)",
        "AttentionInputs.PackedAttentionKeepsThemAndIsThePlainOne"),
    "lost overflow: a step that is not taken back": (
        "src/training/optimizers/optimizer.cpp", "at::where(taken_back, before[i], changed[i].second)", "changed[i].second",
        "OnDevice.AnUpdateThatIsNoNumberChangesNothing"),
    "missing wait: a sum of gradients is not waited for": (
        "src/training/distributed/device_process_group.cpp", "    if (sum_) sum_->wait();", "    if (false) sum_->wait();",
        "DeviceProcessGroupTest.SumsAndShares"),
    "early read: the host does not wait for the figures": (
        "src/training/loop/train_update.cpp", "  add(stats, sums.cpu());",
        "  add(stats, at::empty_like(sums, torch::kCPU).pin_memory().copy_(sums, true));", PRESETS),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("names", nargs="*", help="parts of names; default: all")
    options = parser.parse_args()
    build = ["cmake", "--build", options.build, "--target", "test_on_device", "-j", str(os.cpu_count())]
    environment = os.environ | {"NMT_SOURCE_DIR": str(SOURCE)}
    missed = 0
    for name, (file, there, instead, tests) in MISTAKES.items():
        if options.names and not any(part in name for part in options.names):
            continue
        path = SOURCE / file
        whole = path.read_text()
        if whole.count(there) != 1:
            sys.exit(f"{file}: not once: {there}")
        try:
            path.write_text(whole.replace(there, instead))
            built = subprocess.run(build, capture_output=True, text=True)
            if built.returncode != 0:
                print(f"does not compile: {name}\n{built.stdout[-2000:]}", flush=True)
                missed += 1
                continue
            found = sum(subprocess.run([options.build / "tests" / "test_on_device", "--gtest_brief=1",
                                        f"--gtest_filter={tests}"], capture_output=True, env=environment,
                                       timeout=300).returncode != 0 for _ in range(options.times))
        finally:
            path.write_text(whole)
        missed += found < options.times
        print(f"found {found} of {options.times}: {name}", flush=True)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
