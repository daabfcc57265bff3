"""Unpacks tar, zip and gzip archives that nobody vouches for: no member leaves the target folder, and what is unpacked
has bounds."""

import gzip
import lzma
import pathlib
import tarfile
import zipfile
import zlib

ENDINGS = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip", ".gz")


_MOST_EXPANSION = 50  # text shrinks to a third or a fifth
_ALWAYS_ALLOWED = 64 << 20  # bytes
_MOST_MEMBERS = 200_000


class UnpackError(Exception):
    """One line that says which archive is bad and why. `files`: its name, for who can fetch it again."""

    def __init__(self, message, archive):
        super().__init__(message)
        self.files = (archive.name,)


def is_archive(path):
    return path.name.lower().endswith(ENDINGS)


def _inside(target, name, archive):
    """The path of a member below the target; refuses absolute names, '..' and drive letters."""
    parts = pathlib.PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or name[1:2] == ":":
        raise UnpackError(f"{archive}: member '{name}' points outside the archive; nothing was unpacked", archive)
    return target.joinpath(*parts.parts)


def _plan(names, target, archive, wanted):
    """(member name, path) of the wanted members; checks every name first, wanted or not."""
    plan = [(name, _inside(target, name, archive)) for name in names]
    return [(name, path) for name, path in plan if wanted(path.name)]


class _Room:
    """The bytes that an archive may still become: all its files together, whatever its headers say."""

    def __init__(self, archive):
        self._archive = archive
        self._most = max(_MOST_EXPANSION * archive.stat().st_size, _ALWAYS_ALLOWED)
        self._left = self._most

    def copy(self, stream, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as out:
            while block := stream.read(1 << 20):
                self._left -= len(block)
                if self._left < 0:
                    raise UnpackError(f"{self._archive}: unpacks to more than {self._most} bytes; it is not used",
                                      self._archive)
                out.write(block)


def _check_count(count, archive):
    if count > _MOST_MEMBERS:
        raise UnpackError(f"{archive}: holds more than {_MOST_MEMBERS} files; it is not used", archive)


def _unpack_tar(archive, target, wanted, room):
    with tarfile.open(archive) as tar:
        members = []
        for member in tar:
            members.append(member)
            _check_count(len(members), archive)
        while tar.fileobj.read(1 << 20):  # behind the last member are the checksums of gzip, bz2 and xz
            pass
        by_name = {member.name: member for member in members}
        for member in members:
            _inside(target, member.name, archive)
        # Links and devices are never made; a wanted file that is one is then reported as missing.
        files = [member.name for member in by_name.values() if member.isfile()]
        for name, path in _plan(files, target, archive, wanted):
            with tar.extractfile(by_name[name]) as stream:
                room.copy(stream, path)


def _unpack_zip(archive, target, wanted, room):
    with zipfile.ZipFile(archive) as pack:
        _check_count(len(pack.infolist()), archive)
        names = [info.filename for info in pack.infolist() if not info.is_dir()]
        for name, path in _plan(names, target, archive, wanted):
            with pack.open(name) as stream:
                room.copy(stream, path)


def unpack(archive, target, wanted=lambda name: True):
    """Unpacks the members whose file name `wanted` accepts below the folder `target`.

    A plain .gz file becomes one file without the ending. Throws UnpackError for a damaged archive and for one
    with a member that would land outside; such an archive is refused as a whole. So is one that becomes far more than
    text does.
    """
    name = archive.name.lower()
    room = _Room(archive)
    try:
        if name.endswith(".zip"):
            _unpack_zip(archive, target, wanted, room)
        elif name.endswith(".gz") and not name.endswith(".tar.gz"):
            with gzip.open(archive) as stream:
                room.copy(stream, target / archive.name[:-3])
        else:
            _unpack_tar(archive, target, wanted, room)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, lzma.LZMAError, zlib.error, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the machine's; those of gzip and bz2 have no number
        why = str(error).splitlines()[0].rstrip(":") if str(error) else type(error).__name__  # tarfile tells each try
        raise UnpackError(f"{archive}: not a sound archive ({why})", archive) from error
