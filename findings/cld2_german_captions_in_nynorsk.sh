#!/usr/bin/env bash
# pycld2 0.42 (CLD2 with its large tables): plain German captions that it calls Norwegian Nynorsk, "reliable", 97 %.
#
# What one expects: isReliable says that a verdict may be used, for instance to drop pairs in the wrong language from a
# training corpus; and a caller who says hintLanguage="de" gets German where the text is German. Seen: eight German words
# of a caption ("Ein Mann im Pullover, der ein Brot isst.") are Nynorsk, reliable, with the hint as well; two words more
# at the front make a German text of it. A filter that trusts the flag drops good pairs.
# Exit code 0: still so. 1: it has changed. 77: the package cannot be had.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python && python/bin/python -m pip install -q --only-binary :all: pycld2==0.42 || exit 77
cat >captions.py <<'PYTHON'
import pycld2

for text in ("Ein Mann im Pullover, der ein Brot isst.", "Ein Mann im Sweatshirt isst ein Sandwich.",
             "Da sitzt ein Mann im Sweatshirt, der ein Sandwich isst."):
    for hint in (None, "de"):
        reliable, _, languages = pycld2.detect(text, hintLanguage=hint)
        print(text, hint, languages[0][1], "reliable" if reliable else "not reliable", languages[0][2])
PYTHON
python/bin/python captions.py | tee seen
cat >expected <<'TEXT'
Ein Mann im Pullover, der ein Brot isst. None nn reliable 97
Ein Mann im Pullover, der ein Brot isst. de nn reliable 97
Ein Mann im Sweatshirt isst ein Sandwich. None un not reliable 0
Ein Mann im Sweatshirt isst ein Sandwich. de de reliable 97
Da sitzt ein Mann im Sweatshirt, der ein Sandwich isst. None de reliable 98
Da sitzt ein Mann im Sweatshirt, der ein Sandwich isst. de de reliable 98
TEXT
diff expected seen
