#!/usr/bin/env bash
# Decoding speed beside CTranslate2, one after the other on this machine, with one trained model: see compare.py.
#   bench/decoding/compare.sh --model DIR --source F --reference F --python PYTHON [--widen] [--batch-sizes 1 32] ...
exec python3 "$(dirname "${BASH_SOURCE[0]}")/compare.py" "$@"
