#!/usr/bin/env bash
# nmt-prepro beside SentencePiece's own command and OpenNMT-py's preparation, on one corpus: see compare.py.
#   bench/data/compare.sh --source F --target F --peers DIR [--pairs 500000] [--rounds 3]
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/compare.py" "$@"
