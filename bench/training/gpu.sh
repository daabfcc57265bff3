#!/usr/bin/env bash
# Training speed and model-FLOP utilisation on a GPU, all in one go: see gpu.py.
#   bench/training/gpu.sh --data DIR [--peak-tflops 989] ...
exec python3 "$(dirname "${BASH_SOURCE[0]}")/gpu.py" "$@"
