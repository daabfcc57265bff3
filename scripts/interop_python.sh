#!/usr/bin/env bash
# Makes the Python environment of the tests of nmt-export, .deps/interop, and prints its python: transformers and
# CTranslate2, with the torch that LibTorch came with. For development only. Where it cannot be made those tests are
# skipped, with a notice here and exit code 1.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

requirements=(ctranslate2==4.8.5 sentencepiece==0.2.0 transformers==5.23.0)
environment=.deps/interop
python=$environment/bin/python
made=$environment/made-with.txt  # written last

torch_packages=$(ls -d "$PWD/$torch_environment"/lib/python3*/site-packages 2>/dev/null | head -n 1) || true
if [ -z "$torch_packages" ]; then
  say "no Python package torch in $torch_environment: tests of nmt-export beside other toolkits are skipped"
  exit 1
fi

if [ "$(cat "$made" 2>/dev/null)" != "${requirements[*]}" ]; then
  say "making $environment: ${requirements[*]}"
  if ! { python3 -m venv --clear "$environment" &&
    for folder in "$environment"/lib/python3*/site-packages; do printf '%s\n' "$torch_packages" >"$folder/torch.pth"; done &&
    "$python" -m pip install -q --disable-pip-version-check "${requirements[@]}" &&
    "$python" -c 'import ctranslate2, sentencepiece, torch, transformers'; } >&2; then
    say "no $environment (see above): tests of nmt-export beside other toolkits are skipped"
    exit 1
  fi
  printf '%s\n' "${requirements[*]}" >"$made"
fi
printf '%s\n' "$PWD/$python"
