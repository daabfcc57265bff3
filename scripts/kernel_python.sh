#!/usr/bin/env bash
# Runs the Python that compiles and tests the kernels of the card, .deps/kernels, in the repository root; makes it first where
# it is not there: Triton and a NumPy that Triton's interpreter works with, and the torch that the toolkit is built with. For
# development only: programs hold compiled kernels.
#   scripts/kernel_python.sh [ARGUMENTS OF PYTHON]     without arguments: only makes it, and prints its python
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

requirements=(triton==3.6.0 numpy==2.3.5)
environment=.deps/kernels
python=$environment/bin/python
torch=$(find_torch) || die "no LibTorch: run scripts/setup.sh"
packages=$(cd "$torch/../../../.." && pwd)  # of the Python package torch
made="${requirements[*]} $packages"

if [ "$(cat "$environment/made-with.txt" 2>/dev/null)" != "$made" ]; then
  say "making $environment: ${requirements[*]}"
  if ! { python3 -m venv --clear "$environment" &&
    "$python" -m pip install -q --disable-pip-version-check "${requirements[@]}"; } >&2; then
    say "no $environment (see above): the kernels of the card are neither compiled nor tested"
    exit 1
  fi
  # Behind its own packages: torch is not installed once more.
  printf '%s\n' "$packages" >"$(echo "$environment"/lib/python3*/site-packages)/torch.pth"
  printf '%s\n' "$made" >"$environment/made-with.txt"
fi
if [ $# -eq 0 ]; then printf '%s\n' "$PWD/$python"; else exec "$python" -B "$@"; fi
