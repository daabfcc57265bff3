"""nmt.h through ctypes, as another language would use it: ctypes_nmt.py LIBNMT MODEL < SOURCE prints the translations."""

import ctypes
import sys


class NmtError(Exception):
    pass


class Nmt:
    """The few functions that this test needs."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
        self.declare("nmt_error_message", text)
        self.declare("nmt_version", text)
        self.declare("nmt_options_new", pointer)
        self.declare("nmt_options_set", ctypes.c_int, pointer, text, text)
        self.declare("nmt_options_free", None, pointer)
        self.declare("nmt_translator_new", ctypes.c_int, text, pointer, ctypes.POINTER(pointer))
        self.declare("nmt_translator_free", None, pointer)
        self.source_type = ctypes.CFUNCTYPE(ctypes.c_int, pointer, ctypes.POINTER(text), ctypes.POINTER(size))
        self.sink_type = ctypes.CFUNCTYPE(ctypes.c_int, pointer, ctypes.c_int64, pointer)
        self.declare("nmt_translator_stream", ctypes.c_int, pointer, self.source_type, pointer, self.sink_type, pointer,
                     pointer, pointer, ctypes.POINTER(ctypes.c_int64))
        self.declare("nmt_translations_best", text, pointer, size, ctypes.POINTER(size))
        self.declare("nmt_translations_score_of", ctypes.c_double, pointer, size, size)
        self.declare("nmt_scorer_new", ctypes.c_int, text, pointer, ctypes.POINTER(pointer))
        self.declare("nmt_scorer_corpus", ctypes.c_int, pointer, ctypes.POINTER(text), size, ctypes.POINTER(text), size, pointer,
                     ctypes.POINTER(pointer))
        self.declare("nmt_record_number", ctypes.c_double, pointer, text)
        self.declare("nmt_record_text", text, pointer, text)

    def declare(self, name, result, *arguments):
        function = getattr(self.library, name)
        function.restype, function.argtypes = result, list(arguments)

    def check(self, status):
        if status != 0:
            raise NmtError(self.library.nmt_error_message().decode())

    def options(self, **values):
        options = self.library.nmt_options_new()
        for name, value in values.items():
            self.check(self.library.nmt_options_set(options, name.encode(), str(value).encode()))
        return options

    def translate(self, model, lines, **values):
        translator = ctypes.c_void_p()
        self.check(self.library.nmt_translator_new(model.encode(), self.options(threads=1), ctypes.byref(translator)))
        results, waiting, kept = [], iter(lines), []

        def source(_, line, length):
            text = next(waiting, None)
            if text is None:
                return 0
            kept[:] = [text.encode()]  # stays until the next call
            line[0], length[0] = kept[0], len(kept[0])
            return 1

        def sink(_, number, translations):
            assert number == len(results)
            results.append((self.library.nmt_translations_best(translations, 0, None).decode(),
                            self.library.nmt_translations_score_of(translations, 0, 0)))
            return 1

        count = ctypes.c_int64()
        options = self.options(**values)
        try:
            self.check(self.library.nmt_translator_stream(translator, self.source_type(source), None, self.sink_type(sink), None,
                                                          options, None, ctypes.byref(count)))
        finally:
            self.library.nmt_options_free(options)
            self.library.nmt_translator_free(translator)
        assert count.value == len(results)
        return results

    def bleu(self, hypotheses, references):
        scorer, score = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.library.nmt_scorer_new(b"bleu", None, ctypes.byref(scorer)))
        texts = ctypes.c_char_p * len(hypotheses)
        self.check(self.library.nmt_scorer_corpus(scorer, texts(*[line.encode() for line in hypotheses]), len(hypotheses),
                                                  texts(*[line.encode() for line in references]), 1, None, ctypes.byref(score)))
        return (self.library.nmt_record_number(score, b"score"), self.library.nmt_record_text(score, b"text").decode())


def main():
    nmt = Nmt(sys.argv[1])
    lines = sys.stdin.read().splitlines()
    translations = nmt.translate(sys.argv[2], lines, beam_size=3)
    for text, score in translations:
        assert score <= 0 or not text, score
        print(text)
    score, text = nmt.bleu([text for text, _ in translations], [text for text, _ in translations])
    assert abs(score - 100) < 1e-9 and text.startswith("BLEU|nrefs:1|"), text
    try:
        nmt.translate("no/such/folder", ["a"])
    except NmtError as error:
        assert "no/such/folder" in str(error), error
    else:
        raise AssertionError("a model that is not there")
    try:
        nmt.translate(sys.argv[2], ["a"], beam_size="wide")
    except NmtError as error:
        assert "beam_size: 'wide' is no whole number" in str(error), error
    else:
        raise AssertionError("a beam size that is no number")


if __name__ == "__main__":
    main()
