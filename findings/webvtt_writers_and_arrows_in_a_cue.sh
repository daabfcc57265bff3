#!/usr/bin/env bash
# pysubs2 1.8.1 and webvtt-py 0.6.0: an arrow ("-->") in the text of a subtitle, written as WebVTT and read again.
#
# What one expects: WebVTT (W3C, "WebVTT cue text span") lets no cue text hold "-->", so a writer escapes it (--&gt;) and
# the text survives. Seen: pysubs2 writes it as it stands; pysubs2 itself reads the text back whole, webvtt-py reads an
# empty cue from the same file. Whoever moves subtitles between the two loses the line in silence.
# Exit code 0: still so. 1: it has changed. 77: the packages cannot be had.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python && python/bin/python -m pip install -q pysubs2==1.8.1 webvtt-py==0.6.0 || exit 77
cat >arrow.py <<'PYTHON'
import pysubs2
import webvtt

film = pysubs2.SSAFile()
for number, text in enumerate(("See page two.", "See page --> three.", "The end.")):
    film.append(pysubs2.SSAEvent(start=1000 * number, end=1000 * number + 900, text=text))
film.save("film.vtt")
lines = [line for line in open("film.vtt", encoding="utf-8").read().splitlines() if "page" in line]
print("pysubs2 writes:", lines)
print("pysubs2 reads:", [event.text for event in pysubs2.load("film.vtt")])
print("webvtt-py reads:", [caption.text for caption in webvtt.read("film.vtt")])
PYTHON
python/bin/python arrow.py | tee seen
cat >expected <<'TEXT'
pysubs2 writes: ['See page two.', 'See page --> three.']
pysubs2 reads: ['See page two.', 'See page --> three.', 'The end.']
webvtt-py reads: ['See page two.', '', 'The end.']
TEXT
diff expected seen
