"""Fails where a pattern of a GoogleTest filter names no case of a program.

    device_cases.py PROGRAM FILTER
"""

import os
import subprocess
import sys

# A list would be written under the name of the results, too, which scripts/count_tests.py counts.
environment = {name: value for name, value in os.environ.items() if name != "GTEST_OUTPUT"}
program, pattern_list = sys.argv[1:]
for pattern in pattern_list.split("-")[0].split(":"):
    listed = subprocess.run([program, f"--gtest_filter={pattern}", "--gtest_list_tests"], check=True, text=True,
                            stdout=subprocess.PIPE, env=environment).stdout
    if not any(line.startswith("  ") for line in listed.splitlines()):
        sys.exit(f"{program}: {pattern} names no case")
