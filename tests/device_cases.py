"""Fails where a pattern of a GoogleTest filter names no case of a program.

    device_cases.py PROGRAM FILTER
"""

import subprocess
import sys

program, pattern_list = sys.argv[1:]
for pattern in pattern_list.split("-")[0].split(":"):
    listed = subprocess.run([program, f"--gtest_filter={pattern}", "--gtest_list_tests"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    if not any(line.startswith("  ") for line in listed.splitlines()):
        sys.exit(f"{program}: {pattern} names no case")
