"""What the scripts of public corpora share: cache, download, verification, unpacking and the finished folder.

A script describes a Corpus and calls main(). A download goes to the cache under a temporary name and is renamed
when it is complete and its checksum is right. Where no checksum is published, the file comes over https only, and
the SHA-256 of the first download is kept beside it (FILE.sha256) and checked whenever the cached file is used again.
The folder given by --out appears whole or not at all.
"""

import argparse
import contextlib
import dataclasses
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import text
import unpack

_TIMEOUT = 30  # seconds without a byte


@dataclasses.dataclass(frozen=True)
class Archive:
    """One file to download; `urls` are tried in order. `sha256` and `md5` are published checksums, where there are any:
    each is compared, and addresses of http:// are used only where there is one of them."""

    urls: tuple
    name: str  # in the cache
    md5: str = ""
    sha256: str = ""
    folder: str = ""  # of the cache, for archives that several corpora share; else the corpus's name


@dataclasses.dataclass(frozen=True)
class Corpus:
    """A public corpus.

    `files` are the names that the layout needs from the archives; `layout(find, folder)` writes the plain files,
    where find(name) gives the path of one of `files`, and returns {set: number of pairs}. `expected` are the
    numbers of pairs of the original release, for a notice only. `sha256` are checksums of the plain files: what is
    downloaded must come to them; other text given by --from may differ, with a notice.
    """

    name: str
    about: str
    archives: tuple
    files: tuple
    layout: object
    expected: dict = dataclasses.field(default_factory=dict)
    sha256: dict = dataclasses.field(default_factory=dict)
    nested: str = ""  # an archive inside the archive that holds the files


class FetchError(Exception):
    """One line that tells the user what to fix. `files`: the names of those that it is about, where they are known."""

    def __init__(self, message, files=()):
        super().__init__(message)
        self.files = tuple(files)


def _digest(path, kind):
    made = hashlib.new(kind, usedforsecurity=False)
    with open(path, "rb") as data:
        while block := data.read(1 << 20):
            made.update(block)
    return made.hexdigest()


# Download ---------------------------------------------------------------------------------------------------


def _is_open_to_others(url):
    """Whether somebody on the way could change what comes from this address."""
    parts = urllib.parse.urlsplit(url)
    return parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "::1", "localhost")


class _OnlyByHttps(urllib.request.HTTPRedirectHandler):
    """Refuses each step of a redirection that others could change: whoever answers there chooses the next one."""

    def redirect_request(self, request, answer, code, message, headers, url):
        if _is_open_to_others(url):
            raise FetchError("leads to an address without https, and no checksum is known")
        return super().redirect_request(request, answer, code, message, headers, url)


@contextlib.contextmanager
def _network():
    """What the other side or the way to it fails at, such as an ssl.SSLError: another address may do."""
    try:
        yield
    except OSError as error:
        raise FetchError(_reason(error)) from error


def _receive(url, path, has_checksum):
    """Downloads to `path`; a shorter file than announced is an error."""
    request = urllib.request.Request(url, headers={"User-Agent": "nmt-data-scripts/1"})
    if not has_checksum and _is_open_to_others(url):
        raise FetchError("not over https, and no checksum is known")
    opener = urllib.request.build_opener(*([] if has_checksum else [_OnlyByHttps]))
    with _network():
        answer = opener.open(request, timeout=_TIMEOUT)
    with answer, open(path, "wb") as out:
        announced = answer.headers.get("Content-Length")
        while True:
            with _network():  # not around the writing: a full disk is full for each address
                block = answer.read(1 << 20)
            if not block:
                break
            out.write(block)
    size = path.stat().st_size
    if announced is not None and int(announced) != size:
        raise FetchError(f"connection ended after {size} of {announced} bytes")


def _reason(error):
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code}"
    reason = getattr(error, "reason", error)
    if isinstance(reason, socket.gaierror):
        return "host not found"
    return str(getattr(reason, "strerror", None) or reason) or type(reason).__name__


def _check_published(archive, path):
    """Throws FetchError where a file has not the published checksums; False where there are none."""
    for kind, published in (("sha256", archive.sha256), ("md5", archive.md5)):
        if published and _digest(path, kind) != published:
            name = {"sha256": "SHA-256", "md5": "MD5"}[kind]
            raise FetchError(f"its {name} is not the published {published}")
    return bool(archive.sha256 or archive.md5)


def _verify(archive, path):
    """Compares a cached file with the published checksums, or with the one recorded at its first download."""
    try:
        if _check_published(archive, path):
            return
    except FetchError as error:
        raise FetchError(f"{path}: {error}; delete it and fetch it again, or use it all the same with --from") from error
    recorded = path.with_name(path.name + ".sha256")
    found = _digest(path, "sha256")
    if not recorded.exists():
        recorded.write_text(f"{found}  {path.name}\n", encoding="utf-8")
        print(f"{path.name}: no checksum is published for it; SHA-256 {found} recorded", file=sys.stderr)
    elif recorded.read_text(encoding="utf-8").split()[:1] != [found]:
        raise FetchError(f"{path}: changed since it was first fetched ({recorded.name} has another SHA-256); delete "
                         "both to fetch it again")


def obtain(archive, cache):
    """The path of a verified archive in the cache, downloaded if it is not there."""
    path = cache / archive.name
    if path.exists():
        _verify(archive, path)
        return path
    cache.mkdir(parents=True, exist_ok=True)
    reasons = []
    for url in archive.urls:
        print(f"fetching {url}", file=sys.stderr)
        handle, part = tempfile.mkstemp(prefix=f".{archive.name}.", suffix=".part", dir=cache)
        os.close(handle)
        part = pathlib.Path(part)
        try:
            _receive(url, part, bool(archive.sha256 or archive.md5))
            _check_published(archive, part)
            part.chmod(0o644)
            os.replace(part, path)
            break
        except (http.client.HTTPException, FetchError) as error:
            reasons.append(_reason(error))
        finally:
            part.unlink(missing_ok=True)
    else:
        raise FetchError(f"cannot download {' or '.join(archive.urls)} ({'; '.join(reasons)}): fetch it by hand and "
                         f"put it at {path}, or name the file with --from")
    _verify(archive, path)
    return path


def _obtain_all(corpus, cache):
    """(paths of the archives in the cache, {path: whether it was downloaded now} of those that nobody vouches for)."""
    paths, unproven = [], {}
    for archive in corpus.archives:
        folder = cache / (archive.folder or corpus.name)
        is_new = not (folder / archive.name).exists()
        paths.append(obtain(archive, folder))
        if not archive.sha256 and not archive.md5:
            unproven[paths[-1]] = is_new
    return paths, unproven


@contextlib.contextmanager
def _dropping(unproven):
    """Where they turn out not to be the corpus, downloads that nobody vouches for go: a page that asks for a password,
    say, would be taken from the cache each time. What was there before may be the user's own."""
    try:
        yield
    except (FetchError, unpack.UnpackError, text.LayoutError) as error:
        names = {name.removesuffix(".gz") for name in getattr(error, "files", ())}
        blamed = [path for path in unproven if path.name.removesuffix(".gz") in names] or list(unproven)
        if not blamed:
            raise
        new = [path for path in blamed if unproven[path]]
        old = [path for path in blamed if not unproven[path]]
        for path in new:
            path.unlink(missing_ok=True)
            path.with_name(path.name + ".sha256").unlink(missing_ok=True)
        hints = [f"no checksum vouches for {', '.join(map(str, new))}: deleted, to be fetched again"] if new else []
        hints += [f"delete {', '.join(map(str, old))} and the .sha256 beside it to fetch it again"] if old else []
        raise FetchError(f"{error}; {'; '.join(hints)}") from error


# Finding the files ------------------------------------------------------------------------------------------


def _index(folders):
    """{file name: path} below the folders; the path with the fewest folders wins."""
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*"), key=lambda p: (len(p.parts), str(p))):
            if path.is_file():
                found.setdefault(path.name, path)
    return found


def _unpack_gzipped(names, folders, scratch):
    """Files that an archive holds as NAME.gz, as giga-fren.tar does: unpacked to a folder of their own."""
    found = _index(folders)
    packed = [found[f"{name}.gz"] for name in sorted(names) if name not in found and f"{name}.gz" in found]
    return _unpack_all(packed, scratch, lambda name: True)


def _unpack_all(archives, scratch, wanted):
    folders = []
    for number, archive in enumerate(archives):
        folder = scratch / f"unpacked-{number}"
        folder.mkdir(parents=True)
        unpack.unpack(archive, folder, wanted)
        folders.append(folder)
    return folders


def gather(corpus, given, scratch):
    """{name: path} of the corpus's files, from --from paths or from downloads."""
    nested = corpus.nested.rsplit("/", 1)[-1]
    names = set(corpus.files) | ({nested} if nested else set())
    folders = [path for path in given if path.is_dir()]
    archives = [path for path in given if not path.is_dir()]
    for folder in folders:  # a folder may hold the archives, or the files with .gz
        present = _index([folder])
        for archive in corpus.archives:
            if archive.name in present:
                archives.append(present[archive.name])
        archives += [present[n + ".gz"] for n in corpus.files if n not in present and n + ".gz" in present
                     and present[n + ".gz"] not in archives]
    unpacked = _unpack_all(archives, scratch / "outer", lambda name: name.removesuffix(".gz") in names)
    folders = folders + unpacked + _unpack_gzipped(names, unpacked, scratch / "gzipped")
    found = _index(folders)
    if nested and not set(corpus.files) <= set(found):
        inner = [path for folder in folders for path in folder.rglob(nested) if path.as_posix().endswith(corpus.nested)]
        folders += _unpack_all(inner[:1], scratch / "inner", lambda name: name in names)
        found = _index(folders)
    return found


def _finder(found, where):
    def find(name):
        if name not in found:
            raise FetchError(
                f"{where}: no file '{name}' in it; give all archives of the corpus, each with its own --from")
        return found[name]
    return find


# The finished folder ----------------------------------------------------------------------------------------


def _in_place(out, corpus, given):
    try:
        manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
        return (manifest["corpus"] == corpus.name and (not given or manifest["from"] == given)
                and all(_digest(out / name, "sha256") == sha for name, sha in manifest["sha256"].items()))
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False


def _compare_text(corpus, sums, given):
    """Whether the plain files are those that the results in docs/results.md were made with."""
    different = [name for name, published in corpus.sha256.items() if sums.get(name) != published]
    if different and not given:
        raise FetchError(f"{', '.join(different)}: not the text of the release (another SHA-256); use it all the same "
                         "by giving the files with --from", different)
    for name in different:
        print(f"notice: {name} is not the text of the release (another SHA-256)", file=sys.stderr)


def _make(corpus, options, given, out):
    scratch = pathlib.Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        where = ", ".join(options.source) or corpus.name
        archives, unproven = (given, {}) if given else _obtain_all(corpus, pathlib.Path(options.cache).expanduser())
        folder = scratch / "folder"
        folder.mkdir()
        with _dropping(unproven):
            found = gather(corpus, archives, scratch)
            counts = corpus.layout(_finder(found, where), folder)
            sums = {path.name: _digest(path, "sha256") for path in sorted(folder.iterdir())}
            _compare_text(corpus, sums, given)
        manifest = {"corpus": corpus.name, "about": corpus.about, "from": options.source, "pairs": counts,
                    "sha256": sums}
        body = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
        (folder / "manifest.json").write_text(body, encoding="utf-8", newline="\n")
        if out.exists():
            os.replace(out, scratch / "before")
        os.replace(folder, out)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return counts


def _parse(corpus, arguments):
    parser = argparse.ArgumentParser(description=corpus.about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=f"data/{corpus.name}", help="folder to write (default: %(default)s)")
    parser.add_argument("--cache", default="~/.cache/nmt", help="where downloads are kept (default: %(default)s)")
    parser.add_argument("--from", dest="source", action="append", default=[], metavar="PATH",
                        help="an archive or a folder that you already have; give it again for every further one")
    parser.add_argument("--force", action="store_true", help="replace what --out holds")
    return parser.parse_args(arguments)


def _run(corpus, options):
    out = pathlib.Path(options.out).absolute()
    if _in_place(out, corpus, options.source):
        print(f"{options.out}: already in place, nothing to do")
        return 0
    if out.exists() and not (out.is_dir() and not any(out.iterdir())) and not options.force:
        raise FetchError(
            f"{options.out}: holds something else already; add --force to replace it or give another --out")
    given = [pathlib.Path(path) for path in options.source]
    for path in given:
        if not path.exists():
            raise FetchError(f"--from {path}: no such file or folder")
        if path.is_file() and not unpack.is_archive(path):
            raise FetchError(f"--from {path}: not an archive ({', '.join(unpack.ENDINGS)}) and not a folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    counts = _make(corpus, options, given, out)
    print(f"{options.out}: " + ", ".join(f"{name} {count}" for name, count in counts.items()) + " pairs")
    for name, expected in corpus.expected.items():
        if counts.get(name) != expected:
            print(f"notice: {name} has {counts.get(name)} pairs, the original release {expected}", file=sys.stderr)
    return 0


@contextlib.contextmanager
def _ending_on_sigterm():
    """SIGTERM ends the program as an exception does, so that nothing half-written is left."""
    def end(number, _):
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main(corpus, arguments=None):
    """Runs one corpus script. Returns 0, 2 where the user must change something, 1 where the machine failed."""
    options = _parse(corpus, arguments)
    try:
        with _ending_on_sigterm():
            return _run(corpus, options)
    except (FetchError, unpack.UnpackError, text.LayoutError) as error:
        print(f"{corpus.name}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{corpus.name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):
            print(f"{corpus.name}: stopped", file=sys.stderr)
        return 130
