#!/usr/bin/env bash
# clang-tidy (Debian 12's, 14) with the checks of .clang-tidy: every library that does without LibTorch, as the build
# compiles it, and of the others the files that changed since a commit.
#   scripts/lint.sh [COMMIT]     (default: the commit before this one)
# Exit code 1 where it finds something. Without a clang-tidy of that version it says so and checks nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tidy=$(command -v clang-tidy-14 || true)
if [ -z "$tidy" ]; then
  say "no clang-tidy 14: nothing is checked (apt-get install clang-tidy-14)"
  exit 0
fi
since=${1:-HEAD~1}
configure_release
database=$build_folder/lint
mkdir -p "$database"
if ! git -c core.quotePath=off diff --name-only --diff-filter=d "$since" -- \
  'src/*.cpp' 'interfaces/*.cpp' 'apps/*.cpp' >"$database/changed"; then
  [ $# -eq 0 ] || die "git cannot tell what changed since $since: see above"
  # The source of a release, or a clone of one commit.
  say "git cannot tell what changed since $since: of the libraries with LibTorch nothing is checked"
  : >"$database/changed"
fi
# Compiled as by the build, in files of several sources each, but without the precompiled header of another compiler.
python3 - "$build_folder" "$database" <<'PYTHON'
import json, os, re, shlex, sys

build, out = sys.argv[1:]
torch_free = ("base", "config", "text", "scoring", "report", "data", "archive", "compat", "convert", "documents", "language", "server")
commands = json.load(open(f"{build}/compile_commands.json"))
for command in commands:
    command["command"] = re.sub(r" -Winvalid-pch| -include \S*cmake_pch\S*", "", command["command"])
targets = [f"/nmt_{name}.dir/" for name in torch_free] + ["/nmt-document.dir/"]
wanted = [c for c in commands if any(target in c["command"] for target in targets)]
changed = [os.path.abspath(line.rstrip("\n")) for line in open(f"{out}/changed")]
with_torch = next(c for c in commands if "/nmt_library_training.dir/" in c["command"] and "cmake_pch" not in c["file"])
others = [path for path in changed if not re.search(rf"/(src|interfaces)/({'|'.join(torch_free)})/(?!models/|training/)|/kernels/", path)]
for path in others:
    command = re.sub(r" -o \S+ -c \S+", lambda _: f" -o lint.o -c {shlex.quote(path)}", with_torch["command"])
    wanted.append({"directory": with_torch["directory"], "command": command, "file": path})
json.dump(wanted, open(f"{out}/compile_commands.json", "w"))
open(f"{out}/files", "w").write("".join(c["file"] + "\n" for c in wanted))
PYTHON
# LibTorch's headers want OpenMP's, which clang 14 brings in a package of its own, and of g++'s it understands nothing.
mkdir -p "$database/include"
printf 'extern "C" int omp_%s(void);\n' get_max_threads get_num_threads get_thread_num in_parallel >"$database/include/omp.h"
printf 'extern "C" void omp_set_num_threads(int);\n' >>"$database/include/omp.h"
say "clang-tidy: $(wc -l <"$database/files") files"
xargs -a "$database/files" -d '\n' -P "$(build_jobs)" -n 1 "$tidy" -p "$database" --quiet \
  --extra-arg=-isystem --extra-arg="$PWD/$database/include" --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-everything 2>"$database/log" || die "clang-tidy: see above"
