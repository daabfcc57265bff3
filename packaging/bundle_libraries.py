"""Puts the shared libraries that the programs of a folder load into its lib/nmt, all but the C library's own.

    bundle_libraries.py FOLDER VERSION README

FOLDER has bin/ with the programs, perhaps lib/ with libnmt, and lib/nmt/ with LibTorch's libraries and libnmt_torch.so. What
is copied is written, with the Debian package that it comes from, to share/doc/nmt/libraries.tsv, and the package's copyright
to share/doc/nmt/licences. README.txt, made of README beside this script, says which glibc the whole needs at least. Ends with
exit code 1 where a library is missing.
"""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

# These parts of glibc belong to the kernel's loader and must be the system's.
OF_THE_SYSTEM = re.compile(r"^(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|resolv|util|mvec|anl|nsl|nss_\w+))\.so")


def output_of(*command):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, text=True,
                          env={**environment, "LC_ALL": "C"}).stdout


def loaded(program):
    """Name to path of the libraries that the dynamic linker takes for a program; None for one that it does not find."""
    found = {}
    for line in output_of("ldd", program).splitlines():
        if match := re.match(r"\s*(\S+) => (?:(not found)|(/.*) \(0x\w+\))", line):
            found[match.group(1)] = None if match.group(2) else pathlib.Path(match.group(3))
    return found


def package_of(path):
    """The Debian package of a file, with its version."""
    for name in (path, pathlib.Path(str(path).removeprefix("/usr")), pathlib.Path("/usr" + str(path))):
        done = subprocess.run(["dpkg-query", "-S", str(name)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if done.returncode == 0:
            package = done.stdout.split(": ")[0].split(",")[0]
            return package.split(":")[0], output_of("dpkg-query", "-W", "-f=${Version}", package)
    raise SystemExit(f"{path}: no Debian package has this file, so its licence is not known")


def glibc_of(path):
    versions = re.findall(r"\bGLIBC_(\d+)\.(\d+)", output_of("objdump", "-T", path))
    return max((tuple(map(int, version)) for version in versions), default=(0, 0))


def main():
    folder, version = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    libraries, documents = folder / "lib" / "nmt", folder / "share" / "doc" / "nmt"
    programs = [*sorted((folder / "bin").iterdir()), *sorted((folder / "libexec").glob("*/*")),
                *sorted((folder / "lib").glob("**/libnmt.so.*.*.*")), *libraries.glob("libnmt_torch.so")]
    rows = []
    wanted = {}
    for program in programs:
        wanted.update(loaded(program))
    for name, path in sorted(wanted.items()):
        if path is None:
            raise SystemExit(f"{name}: not found")
        if OF_THE_SYSTEM.match(name) or path.resolve().is_relative_to(folder):
            continue
        path = path.resolve()
        shutil.copyfile(path, libraries / name)
        (libraries / name).chmod(0o644)
        package, package_version = package_of(path)
        rows.append((name, package, package_version))
        (documents / "licences").mkdir(exist_ok=True)
        shutil.copyfile(f"/usr/share/doc/{package}/copyright", documents / "licences" / f"{package}.copyright")
    (documents / "libraries.tsv").write_text("library\tpackage\tversion\n" + "".join("\t".join(row) + "\n" for row in rows))
    for program in programs:
        for name, path in loaded(program).items():
            if path is None or not (OF_THE_SYSTEM.match(name) or path.resolve().is_relative_to(folder)):
                raise SystemExit(f"{program.name}: would load {name} from {path}")
    needed = max(glibc_of(path) for path in [*programs, *libraries.iterdir()])
    text = (pathlib.Path(__file__).parent / sys.argv[3]).read_text()
    for key, value in (("VERSION", version), ("MACHINE", platform.machine()), ("GLIBC", ".".join(map(str, needed)))):
        text = text.replace(f"@{key}@", value)
    (folder / "README.txt").write_text(text)


if __name__ == "__main__":
    main()
