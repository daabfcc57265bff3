#!/usr/bin/env bash
# Training speed beside OpenNMT-py, JoeyNMT and plain PyTorch, one after the other on this machine: see compare.py.
#   bench/training/compare.sh --peers DIR [--size small|base] [--threads 2] ...
exec python3 "$(dirname "${BASH_SOURCE[0]}")/compare.py" "$@"
