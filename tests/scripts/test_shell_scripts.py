"""scripts/common.sh, setup.sh, lint.sh, gpu_check.sh and .ci/run in small trees, with stand-ins for the programs that they call."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ShellScripts(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()
        self.root = self.folder / "project"
        (self.root / "scripts").mkdir(parents=True)
        self.bin = self.folder / "bin"
        self.bin.mkdir()

    def script(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def copy(self, *names):
        for name in names:
            (self.root / name).parent.mkdir(exist_ok=True)
            shutil.copy2(ROOT / name, self.root / name)

    def run_script(self, *command, cwd=None, **environment):
        """(exit code, output)"""
        environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", **environment}
        done = subprocess.run(command, cwd=cwd or self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=environment)
        return done.returncode, done.stdout

    def test_an_exported_cdpath_leads_nowhere(self):
        self.copy("scripts/common.sh", ".ci/run")
        self.script(self.root / "scripts/test.sh", "pwd")
        other = self.folder / "other"
        for name in ("scripts", ".ci"):
            (other / name).mkdir(parents=True)
        self.script(other / "scripts/test.sh", "pwd")
        where = ["bash", "-c", "source scripts/common.sh; pwd"]
        self.assertEqual(self.run_script(*where, CDPATH=str(other)), (0, f"{self.root}\n"))
        self.script(self.bin / "python3", "")
        self.assertEqual(self.run_script(".ci/run", CDPATH=str(other)), (0, 2 * f"{self.root}\n"))

    def test_a_failed_set_up_leaves_nothing(self):
        self.copy("scripts/common.sh", "scripts/setup.sh")
        # Nothing is installed: every package is there. No network: pip fails.
        self.script(self.bin / "dpkg-query", "printf installed")
        self.script(self.bin / "cmake", "echo cmake version 3.31.0")
        self.script(self.bin / "c++", "[ \"$1\" = --version ] || echo 14.0.0")
        self.script(self.bin / "python3", f"""
            [ "$1 $2" = "-m venv" ] || exit 0
            mkdir -p "$3/bin" && printf '#!/bin/sh\\nexit 1\\n' >"$3/bin/python" && chmod +x "$3/bin/python" """)
        code, output = self.run_script("scripts/setup.sh")
        self.assertEqual(code, 1, output)
        self.assertIn("pip could not download sentencepiece", output)
        self.assertEqual(list((self.root / ".deps").iterdir()), [])

    def test_an_interrupt_ends_the_set_up(self):
        self.copy("scripts/common.sh", "scripts/setup.sh")
        (self.root / ".deps/sentencepiece-0.2.1").mkdir(parents=True)
        (self.root / ".deps/sentencepiece-0.2.1/VERSION.txt").touch()
        self.script(self.bin / "dpkg-query", "printf installed")
        self.script(self.bin / "cmake", "echo cmake version 3.31.0")
        self.script(self.bin / "c++", "[ \"$1\" = --version ] || echo 14.0.0")
        # pip catches the signal and fails, as it does for want of a package.
        self.script(self.bin / "python3", f"""
            [ "$1 $2" = "-m venv" ] || exit 0
            shift 3 && mkdir -p "$1/bin"
            printf '#!/bin/sh\\ntrap "exit 1" INT\\necho "$@" >>{self.folder}/asked\\nsleep 20 & wait\\n' >"$1/bin/python"
            chmod +x "$1/bin/python" """)
        process = subprocess.Popen(["scripts/setup.sh"], cwd=self.root, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True,
                                   env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"})
        deadline = time.monotonic() + 20
        while not (self.folder / "asked").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.wait(10), 130)
        self.assertEqual(len((self.folder / "asked").read_text().splitlines()), 1)
        self.assertFalse((self.root / ".deps/torch.partial").exists())

    def lint(self, *arguments):
        torch = self.folder / "torch"
        torch.mkdir(exist_ok=True)
        (torch / "TorchConfigVersion.cmake").write_text('set(PACKAGE_VERSION "2.13.0")\n')
        return self.run_script("scripts/lint.sh", *arguments, Torch_DIR=str(torch))

    def test_lint_says_where_git_cannot_tell_what_changed(self):
        self.copy("scripts/common.sh", "scripts/lint.sh")
        (self.root / "CMakePresets.json").write_text("{}")
        (self.root / "build").mkdir()
        (self.root / "build/compile_commands.json").write_text(f"""[
            {{"directory": "{self.root}", "file": "{self.root}/a b/x.cpp", "command": "c++ /nmt_base.dir/ -o x.o -c x.cpp"}},
            {{"directory": "{self.root}", "file": "y.cpp", "command": "c++ /nmt_library_training.dir/ -o y.o -c y.cpp"}}]""")
        self.script(self.bin / "cmake", "exit 0")
        self.script(self.bin / "clang-tidy-14", f'printf "%s|" "$@" >>"{self.folder}/seen"')
        code, output = self.lint()
        self.assertEqual(code, 0, output)
        self.assertIn("git cannot tell what changed since HEAD~1: of the libraries with LibTorch nothing is checked", output)
        self.assertIn(f"|{self.root}/a b/x.cpp|", (self.folder / "seen").read_text())
        code, output = self.lint("v1")
        self.assertEqual(code, 1, output)
        self.assertIn("git cannot tell what changed since v1", output)

    def gpu_check(self, card, kernels, *arguments):
        """(exit code, the lines of report.md's table) of the kernels' step, whose command is `kernels`."""
        self.copy("scripts/common.sh", "scripts/gpu_check.sh")
        script = self.root / "scripts/gpu_check.sh"
        script.write_text(script.read_text().replace("step kernels 180", "step kernels 2"))
        self.script(self.bin / "nvidia-smi", "echo card" if card else "exit 9")
        self.script(self.bin / "python3", kernels)
        code, output = self.run_script("scripts/gpu_check.sh", "--kernels", *arguments)
        report = (self.root / "gpu_check/report.md").read_text()
        return code, re.findall(r"(?m)^\| (kernels .*?) \|(?: \d s)? \|$", report), output

    def test_without_a_card_each_step_is_skipped(self):
        code, lines, output = self.gpu_check(False, "exit 1")
        self.assertEqual((code, lines), (2, ["kernels beside their twins | skipped: no card"]), output)

    def test_a_step_on_a_card_reports_what_it_found(self):
        code, lines, output = self.gpu_check(True, "echo report: attention 1e-3")
        self.assertEqual((code, lines), (0, ["kernels beside their twins | ok attention 1e-3;"]), output)
        code, lines, output = self.gpu_check(True, "echo not near enough; exit 1")
        self.assertEqual(code, 1, output)
        self.assertEqual(lines, ["kernels beside their twins | **failed**, see kernels.log: not near enough"])

    def test_a_step_ends_with_its_processes_at_its_limit(self):
        code, lines, output = self.gpu_check(True, f"echo $$ >{self.folder}/process; sleep 60")
        self.assertEqual(code, 1, output)
        self.assertEqual(lines, ["kernels beside their twins | **failed**, see kernels.log: took more than 2 s"])
        state = pathlib.Path("/proc", (self.folder / "process").read_text().strip(), "stat")
        deadline = time.monotonic() + 10  # of 60 that it would run on
        while state.exists() and ") Z " not in state.read_text():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_a_bundle_that_is_not_whole_is_refused(self):
        self.copy("scripts/common.sh", "scripts/gpu_check.sh")
        bundle = self.folder / "nmt-gpu"
        (bundle / "build").mkdir(parents=True)
        self.script(bundle / "build/nmt-train", "exit 0")
        (bundle / "kernels").mkdir()
        (bundle / "kernels/compiled.z").write_bytes(b"whole")
        files = subprocess.run("sha256sum build/nmt-train kernels/compiled.z", shell=True, cwd=bundle, check=True,
                               stdout=subprocess.PIPE).stdout
        (bundle / "files.sha256").write_bytes(files)
        self.script(self.bin / "nvidia-smi", "exit 9")
        self.script(self.bin / "python3", "exit 0")  # no torch: what is asked for next
        check = ["scripts/gpu_check.sh", "--kernels", "--offline", str(bundle)]
        self.assertIn("python3 has no torch", self.run_script(*check)[1])
        (bundle / "kernels/compiled.z").write_bytes(b"cut")
        code, output = self.run_script(*check)
        self.assertEqual(code, 2, output)
        self.assertIn("kernels/compiled.z: FAILED", output)
        self.assertIn(f"gpu_check.sh: {bundle}: damaged or not whole, see above: carry it once more", output)


if __name__ == "__main__":
    sys.exit(unittest.main())
