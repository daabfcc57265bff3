#!/usr/bin/env bash
# Decoding speed on a GPU, beside CTranslate2 on the same card: see gpu.py.
#   bench/decoding/gpu.sh --model DIR --source FILE [--programs build] [--python PYTHON] ...
exec python3 "$(dirname "${BASH_SOURCE[0]}")/gpu.py" "$@"
