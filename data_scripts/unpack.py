"""Unpacks tar, zip and gzip archives that nobody vouches for: no member leaves the target folder."""

import gzip
import pathlib
import shutil
import tarfile
import zipfile
import zlib

ENDINGS = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip", ".gz")


class UnpackError(Exception):
    """One line that says which archive is bad and why."""


def is_archive(path):
    return path.name.lower().endswith(ENDINGS)


def _inside(target, name, archive):
    """The path of a member below the target; refuses absolute names, '..' and drive letters."""
    parts = pathlib.PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or name[1:2] == ":":
        raise UnpackError(f"{archive}: member '{name}' points outside the archive; nothing was unpacked")
    return target.joinpath(*parts.parts)


def _plan(names, target, archive, wanted):
    """(member name, path) of the wanted members; checks every name first, wanted or not."""
    plan = [(name, _inside(target, name, archive)) for name in names]
    return [(name, path) for name, path in plan if wanted(path.name)]


def _copy(stream, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as out:
        shutil.copyfileobj(stream, out, 1 << 20)


def _unpack_tar(archive, target, wanted):
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
        by_name = {member.name: member for member in members}
        for member in members:
            _inside(target, member.name, archive)
        # Links and devices are never made; a wanted file that is one is then reported as missing.
        files = [member.name for member in by_name.values() if member.isfile()]
        for name, path in _plan(files, target, archive, wanted):
            with tar.extractfile(by_name[name]) as stream:
                _copy(stream, path)


def _unpack_zip(archive, target, wanted):
    with zipfile.ZipFile(archive) as pack:
        names = [info.filename for info in pack.infolist() if not info.is_dir()]
        for name, path in _plan(names, target, archive, wanted):
            with pack.open(name) as stream:
                _copy(stream, path)


def unpack(archive, target, wanted=lambda name: True):
    """Unpacks the members whose file name `wanted` accepts below the folder `target`.

    A plain .gz file becomes one file without the ending. Throws UnpackError for a damaged archive and for one
    with a member that would land outside; such an archive is refused as a whole.
    """
    name = archive.name.lower()
    try:
        if name.endswith(".zip"):
            _unpack_zip(archive, target, wanted)
        elif name.endswith(".gz") and not name.endswith(".tar.gz"):
            with gzip.open(archive) as stream:
                _copy(stream, target / archive.name[:-3])
        else:
            _unpack_tar(archive, target, wanted)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, gzip.BadGzipFile, zlib.error, RuntimeError) as error:
        raise UnpackError(f"{archive}: not a sound archive ({error}); fetch it again") from error
