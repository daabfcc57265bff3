"""Generator of the built-in German-English toy corpus (see make_builtin_corpus.py)."""
