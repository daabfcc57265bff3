"""Puts the data scripts on the path and gives the tests a folder of their own."""

import contextlib
import io
import pathlib
import sys
import tarfile
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "data_scripts"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS))


class FolderTest(unittest.TestCase):
    """Each test gets an empty folder and a way to run a script's main()."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def run_main(self, main, *arguments):
        """(exit code, standard output, standard error)"""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(*arguments)
            except SystemExit as stop:
                code = stop.code
        return code, out.getvalue(), err.getvalue()

    def left_overs(self, folder=None):
        """Hidden names: what an unfinished run would leave."""
        return [path.name for path in (folder or self.folder).rglob("*") if path.name.startswith(".")]


def lines(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def tar_bytes(files, mode="w:gz"):
    """A tar archive of {member name: text or bytes}."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:
        for name, body in files.items():
            data = body if isinstance(body, bytes) else body.encode("utf-8")
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def layout_one(find, folder):
    """The layout of a corpus of one file."""
    (folder / "a.de").write_bytes(find("a.de").read_bytes())
    return {"a": 1}
