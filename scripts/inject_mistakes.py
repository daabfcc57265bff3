#!/usr/bin/env python3
"""Puts mistakes of the kinds that only show on a GPU into the sources, one at a time, and looks whether the tests on the
simulated device find each of them, every time (docs/gpu.md).

    scripts/inject_mistakes.py [--build build] [--times 10] [NAME ...]

Each is looked for --times times; where work runs in a random order, it is another one each time. First all the tests have
to pass without a mistake. Prints a table in Markdown; exit code 1 where one was missed. A mistake takes a compilation of one
part and some seconds of tests. The sources are put back, also after an interruption. Python's standard library only.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
PRESETS = "All/EveryPreset.TrainsAsOnTheCpu/vaswani_base:All/EveryPreset.TrainsAsOnTheCpu/rnn_multi30k"

# (class, mistake, file, what stands there, what is put in its place, the tests that have to fail, of which program)
MISTAKES = [
    ("host access", "numbers of the device are read where they are", "src/search/torch_step.cpp",
     "at::stack({device_values.to(torch::kFloat64), device_ids.to(torch::kFloat64)}).cpu()",
     "at::stack({device_values.to(torch::kFloat64), device_ids.to(torch::kFloat64)})",
     "OnDeviceDecoding.Transformer", "test_on_device"),
    ("missing copy", "rows of packed words stay on the host", "src/nn/layers/recurrent_layer.cpp",
     "return {copy_to_device(numbers(rows), device)", "return {numbers(rows)", PRESETS, "test_on_device"),
    ("missing wait", "a bucket's sum is not waited for", "src/training/distributed/device_process_group.cpp",
     "    if (sum_) sum_->wait();", "    if (false) sum_->wait();", "DeviceProcessGroupTest.SumsAndShares", "test_on_device"),
    ("hidden synchronisation", "the host asks whether an update counts", "src/training/loop/train_update.cpp",
     "  parts.optimizer.step_unless(update.skipped, learning_rate);",
     "  if (update.skipped.item<float>() == 0) parts.optimizer.step(learning_rate);", PRESETS, "test_on_device"),
    ("wrong dtype", "cu_seqlens in int64", "src/nn/ops/packed_rows.cpp", "copy_to_device(cu_seqlens, device)",
     "copy_to_device(cu_seqlens.to(torch::kInt64), device)", "AttentionInputs.PackedAttentionKeepsThemAndIsThePlainOne",
     "test_on_device"),
    ("lost overflow", "a step of a gradient that is no number is not taken back", "src/training/optimizers/optimizer.cpp",
     "at::where(taken_back, before[i], changed[i].second)", "changed[i].second",
     "OnDevice.AnUpdateThatIsNoNumberChangesNothing", "test_on_device"),
    ("host access", "a kernel of the CPU gets a tensor of the device", "src/nn/device/cpu_kernels.h",
     "return x.device().is_cpu() && (x", "return (x", PRESETS, "test_on_device"),
    ("host access", "the figures of an update are read before they are there", "src/training/loop/train_update.cpp",
     "  add(stats, sums.cpu());",
     "  add(stats, at::empty_like(sums, torch::kCPU).pin_memory().copy_(sums, true));", PRESETS, "test_on_device"),
    ("missing copy", "lengths of the host beside a tensor of the device", "src/nn/attention/attention.cpp",
     "copy_to_device(lengths, device)", "lengths", "OnDeviceDecoding.EveryPresetStepsAsItsFullPass", "test_on_device"),
    ("missing wait", "gradients are taken before their sums are there", "src/training/distributed/gradient_buckets.cpp",
     "    bucket.sum->wait_finished();\n", "", "DeviceProcessGroupTest.UpdatesAreThoseOfOneProcess", "test_on_device"),
    ("missing wait", "a communicator's stream does not wait for the backward pass",
     "tests/on_device/device_process_group_test.cpp",
     "if (!meeting_.forgets_to_wait) before.block", "if (false) before.block", "DeviceProcessGroupTest.SumsAndShares",
     "test_on_device"),
    ("hidden synchronisation", "a copy that is not pinned", "src/nn/device/device.cpp",
     "x.contiguous().pin_memory().to(device, /*non_blocking=*/true)", "x.to(device)", PRESETS, "test_on_device"),
    ("wrong dtype", "a first state in float32 beside words in 16 bits", "src/nn/layers/recurrent_layer.cpp",
     "packed.sentences.size(0), size}, x.options())", "packed.sentences.size(0), size}, floats)",
     "All/EveryPreset.TrainsInBfloat16AsOnTheCpu/rnn_multi30k", "test_on_device"),
    ("lost overflow", "nobody looks at the norm of the gradients", "src/training/loop/train_update.cpp",
     ".logical_and(at::isfinite(update.norm))", "", "Float16.EachOverflowIsFound", "test_training"),
    ("lost overflow", "the scale of the loss does not fall", "src/training/loop/train_update.cpp",
     "  if (parts.loss_scale) parts.loss_scale->follow(update.skipped);\n", "", "Float16.EachOverflowIsFound", "test_training"),
]


def run(build, program, tests, turn):
    """Whether the tests pass, and in a few words what they say if they do not."""
    environment = os.environ | {"NMT_SOURCE_DIR": str(SOURCE), "NMT_TEST_SEED": str(turn)}
    done = subprocess.run([build / "tests" / program, "--gtest_brief=1", f"--gtest_filter={tests}"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", env=environment, timeout=300)
    if done.returncode == 0:
        return True, ""
    lines = done.stdout.splitlines()
    said = next((line for line in lines if line.startswith("simulated device:")), None)
    if said is None:
        match = re.search(r'exception with description "(.*)', done.stdout)
        failures = (after if after != "Failed" else last for line, after, last in zip(lines, lines[1:], lines[2:]) if ": Failure" in line)
        said = match.group(1) if match else next(failures, "")
    if done.returncode < 0:
        said = f"{signal.Signals(-done.returncode).name}: {said}"
    return False, re.sub(r"\s+", " ", said.replace("|", "/"))[:110]


def compile_tests(build, programs):
    return subprocess.run(["cmake", "--build", build, "--target", *programs, "-j", str(os.cpu_count())], capture_output=True,
                          text=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("names", nargs="*", help="parts of classes or mistakes; default: all")
    options = parser.parse_args()
    build = options.build.resolve()
    chosen = [mistake for mistake in MISTAKES
              if not options.names or any(part in f"{mistake[0]}: {mistake[1]}" for part in options.names)]
    for _, name, file, there, *_ in chosen:
        if (SOURCE / file).read_text().count(there) != 1:
            sys.exit(f"{file}: not once: {there} ({name})")

    programs = sorted({mistake[6] for mistake in chosen})
    built = compile_tests(build, programs)
    if built.returncode != 0:
        sys.exit(f"the tests do not compile:\n{built.stdout[-2000:]}")
    for program, tests in sorted({(mistake[6], mistake[5]) for mistake in chosen}):
        passed, said = run(build, program, tests, 1)
        if not passed:
            sys.exit(f"{program} --gtest_filter={tests} fails without a mistake: {said}")

    print("| class | mistake | found | what is said |\n| --- | --- | --- | --- |", flush=True)
    missed = False
    for kind, name, file, there, instead, tests, program in chosen:
        path = SOURCE / file
        whole = path.read_text()
        try:
            path.write_text(whole.replace(there, instead))
            built = compile_tests(build, [program])
            if built.returncode != 0:
                sys.exit(f"does not compile: {name}\n{built.stdout[-2000:]}")
            outcomes = [run(build, program, tests, turn) for turn in range(1, options.times + 1)]
        finally:
            path.write_text(whole)
        found = [said for passed, said in outcomes if not passed]
        missed |= len(found) < options.times
        print(f"| {kind} | {name} | {len(found)} of {options.times} | {found[0] if found else ''} |", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
