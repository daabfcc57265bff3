#!/usr/bin/env bash
# Our translation server beside LibreTranslate, both under the load of wrk on this machine, with one model: see compare.py.
#   bench/server/compare.sh --model DIR --source FILE [--programs before=DIR --programs ours=DIR]
#                            [--libretranslate-python PYTHON] [--clients 1 8 32 128] [--seconds 15] [--rounds 3] ...
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/compare.py" "$@"
