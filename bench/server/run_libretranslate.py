"""LibreTranslate's side of compare.py: LibreTranslate's own options in, the server runs until it is ended.

Its sentence splitter would download a model, so here texts are handed on whole: less work for it than in real life.
"""

import sys

import argostranslate.sbd


class WholeTexts(argostranslate.sbd.ISentenceBoundaryDetectionModel):
    def __init__(self, package):
        self.pkg = package

    def split_sentences(self, text):
        return [text]


argostranslate.sbd.MiniSBDSentencizer = WholeTexts  # before argostranslate.translate takes the name over

from libretranslate.main import main  # noqa: E402

sys.argv[0] = "libretranslate"
main()
