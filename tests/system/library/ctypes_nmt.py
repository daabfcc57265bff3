"""nmt.h through ctypes, as another language would use it: ctypes_nmt.py LIBNMT MODEL < SOURCE prints the translations."""

import ctypes
import json
import sys


class NmtError(Exception):
    pass


class Nmt:
    """The few functions that this test needs."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        pointer, text, answer = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)
        self.declare("nmt_error", text)
        self.declare("nmt_version", text)
        self.declare("nmt_free", None, pointer)
        self.declare("nmt_translator_create", ctypes.c_int, text, answer)
        self.declare("nmt_translator_free", None, pointer)
        self.declare("nmt_translator_translate", ctypes.c_int, pointer, text, pointer, pointer, answer)
        self.declare("nmt_score", ctypes.c_int, text, answer)

    def declare(self, name, result, *arguments):
        function = getattr(self.library, name)
        function.restype, function.argtypes = result, list(arguments)

    def call(self, name, *arguments):
        """What the function made."""
        made = ctypes.c_void_p()
        if getattr(self.library, name)(*arguments, ctypes.byref(made)) != 0:
            raise NmtError(self.library.nmt_error().decode())
        return made

    def answer(self, name, *arguments):
        made = self.call(name, *arguments)
        try:
            return json.loads(ctypes.cast(made, ctypes.c_char_p).value)
        finally:
            self.library.nmt_free(made)

    def translate(self, model, lines, **options):
        translator = self.call("nmt_translator_create", json.dumps({"models": [model], "threads": 1}).encode())
        try:
            request = json.dumps({"texts": lines, **options}).encode()
            return self.answer("nmt_translator_translate", translator, request, None, None)["translations"]
        finally:
            self.library.nmt_translator_free(translator)


def main():
    nmt = Nmt(sys.argv[1])
    translations = nmt.translate(sys.argv[2], sys.stdin.read().splitlines(), beam_size=3)
    texts = [translation["text"] for translation in translations]
    for translation in translations:
        assert all(alternative["score"] <= 0 for alternative in translation["alternatives"])
        print(translation["text"])
    score = nmt.answer("nmt_score", json.dumps({"metric": "bleu", "hypotheses": texts, "references": [texts]}).encode())
    assert abs(score["score"] - 100) < 1e-9 and score["text"].startswith("BLEU|nrefs:1|"), score
    for arguments, options, expected in ((("no/such/folder", ["a"]), {}, "no/such/folder"),
                                         ((sys.argv[2], ["a"]), {"beam_size": "wide"}, "beam_size")):
        try:
            nmt.translate(*arguments, **options)
        except NmtError as error:
            assert expected in str(error), error
        else:
            raise AssertionError(expected)


if __name__ == "__main__":
    main()
