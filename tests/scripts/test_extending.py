"""What docs/extending.md says of a decoding option, done to a copy of src/: the files that it touches, and that they
compile. The option is the frequency penalty of tests/extending/frequency_penalty.h.

The compiler is that of the build folder NMT_BUILD_DIR (or build/), where there is one with compile_commands.json.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULE = "src/search/frequency_penalty.h"
MAKE = """  static std::shared_ptr<const LogitsRule> make(const SearchOptions& options) {
    return options.frequency_penalty > 0 ? std::make_shared<FrequencyPenalty>(options.frequency_penalty) : nullptr;
  }
"""
# Of each file the line before which something is put.
CHANGES = {
    "src/config/config.h": [("  bool ban_unknown = false;", "  double frequency_penalty = 0;  // 0 = off\n")],
    "src/config/option_table.cpp": [
        ("      NMT_DECODING(ban_unknown,",
         '      NMT_DECODING(frequency_penalty, between(0, 100), kOfSearch, "logits of tokens fall by it for each use"),\n')],
    "src/search/logits_rules.cpp": [
        ('#include "search/logits_rules.h"', '#include "search/frequency_penalty.h"\n'),
        ("    RepetitionPenalty::make,", "    FrequencyPenalty::make,\n")],
}


def with_option(folder):
    """src/ in the folder with the option; returns the files that have changed."""
    shutil.copytree(ROOT / "src", folder / "src")
    rule = (ROOT / "tests/extending/frequency_penalty.h").read_text(encoding="utf-8")
    before, after = rule.split("  explicit FrequencyPenalty")
    (folder / RULE).write_text(before + MAKE + "  explicit FrequencyPenalty" + after, encoding="utf-8")
    for name, insertions in CHANGES.items():
        text = (folder / name).read_text(encoding="utf-8")
        for line, new in insertions:
            if text.count("\n" + line) + text.startswith(line) != 1:
                raise AssertionError(f"{name}: {line.strip()} does not begin one line")
            at = text.index(line)
            text = text[:at] + new + text[at:]
        (folder / name).write_text(text, encoding="utf-8")
    return {RULE, *CHANGES}


def command_for(folder, name):
    """The command that checks src/NAME of the folder, with the flags that its library is compiled with; None without a
    build folder."""
    build = pathlib.Path(os.environ.get("NMT_BUILD_DIR", ROOT / "build"))
    if not (build / "compile_commands.json").exists():
        return None
    library = name.split("/")[1]
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if f"nmt_{library}.dir" not in entry.get("output", entry["command"]):
            continue
        words = entry["command"].split()
        flags = [word.replace(f"{ROOT}/src", f"{folder}/src") for word in words[1:words.index("-o")]]
        compiler = [word for word in words[:2] if not word.endswith("ccache")][0]
        return [compiler, *[flag for flag in flags if flag != compiler], "-fsyntax-only", str(folder / name)], build
    return None


class ADecodingOption(unittest.TestCase):
    def test_touches_four_files_which_compile(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            changed = with_option(folder)
            self.assertLessEqual(len(changed), 4)
            for file in sorted(changed):
                if not file.endswith(".cpp"):
                    continue
                command = command_for(folder, file)
                if not command:
                    self.skipTest("no build folder: only the number of files was looked at")
                done = subprocess.run(command[0], cwd=command[1], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])


if __name__ == "__main__":
    unittest.main()
