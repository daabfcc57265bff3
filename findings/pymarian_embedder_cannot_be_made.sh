#!/usr/bin/env bash
# pymarian 1.12.42 (Marian for Python): its class Embedder cannot be made with any arguments.
#
# What one expects: Embedder("--model m.npz ...") reads a model, as Trainer, Translator and Evaluator do. Seen: AttributeError
# in its own __init__, which calls cli_string.stip() where the other three classes call strip().
# Exit code 0: still so. 1: it has changed. 77: the package cannot be had.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python && python/bin/python -m pip install -q pymarian==1.12.42 || exit 77
python/bin/python - <<'PYTHON' | tee seen
import pymarian
try:
    pymarian.Embedder("--model none.npz")
except AttributeError as error:
    print(error)
PYTHON
diff seen - <<'TEXT'
'str' object has no attribute 'stip'
TEXT
