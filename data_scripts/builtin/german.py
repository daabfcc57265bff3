"""German morphology: declension of determiners, adjectives and nouns; conjugation of verbs."""

import re

CASES = ("nom", "acc", "dat", "gen")
_COLUMN = {"m": 0, "f": 1, "n": 2, "pl": 3}

_DEFINITE = {"nom": ("der", "die", "das", "die"), "acc": ("den", "die", "das", "die"),
             "dat": ("dem", "der", "dem", "den"), "gen": ("des", "der", "des", "der")}
# Endings of dieser, jeder, welcher, alle, viele, einige.
_STRONG = {"nom": ("er", "e", "es", "e"), "acc": ("en", "e", "es", "e"),
           "dat": ("em", "er", "em", "en"), "gen": ("es", "er", "es", "er")}
# Endings of ein, kein and the possessives.
_EIN = {"nom": ("", "e", "", "e"), "acc": ("en", "e", "", "e"),
        "dat": ("em", "er", "em", "en"), "gen": ("es", "er", "es", "er")}
_ADJ_WEAK = {"nom": ("e", "e", "e", "en"), "acc": ("en", "e", "e", "en"),
             "dat": ("en", "en", "en", "en"), "gen": ("en", "en", "en", "en")}
_ADJ_MIXED = {"nom": ("er", "e", "es", "en"), "acc": ("en", "e", "es", "en"),
              "dat": ("en", "en", "en", "en"), "gen": ("en", "en", "en", "en")}
_ADJ_STRONG = {"nom": ("er", "e", "es", "e"), "acc": ("en", "e", "es", "e"),
               "dat": ("em", "er", "em", "en"), "gen": ("en", "er", "en", "er")}

EIN_WORDS = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser", "euer", "Ihr")
DER_WORDS = ("der", "dies", "jed", "welch", "all")
STRONG_WORDS = ("", "viel", "einig")  # the adjective after them takes the strong endings


def determiner(word, gender, case):
    """A determiner by its stem ('der', 'dies', 'ein', 'mein', 'viel', ...); gender is m, f, n or pl."""
    column = _COLUMN[gender]
    if word == "der":
        return _DEFINITE[case][column]
    if word in EIN_WORDS:
        ending = _EIN[case][column]
        return ("eur" if word == "euer" and ending else word) + ending
    return word + _STRONG[case][column] if word else ""


def adjective_ending(word, gender, case):
    """Ending of an adjective after the given determiner stem ('' and numerals: strong)."""
    column = _COLUMN[gender]
    if word in EIN_WORDS:
        return _ADJ_MIXED[case][column]
    return (_ADJ_WEAK if word in DER_WORDS else _ADJ_STRONG)[case][column]


def _one_syllable(word):
    return len(re.findall(r"[aeiouyäöü]+", word.lower())) == 1


def noun(entry, plural, case):
    """A noun of the lexicon in number and case."""
    if plural:
        return entry.plural + ("n" if case == "dat" and entry.plural[-1] not in "ns" else "")
    if entry.weak and case != "nom":
        return entry.lemma + ("n" if entry.lemma[-1] == "e" or entry.lemma in ("Nachbar", "Bauer") else "en")
    if case == "gen" and entry.gender in "mn":
        return entry.lemma + ("es" if _one_syllable(entry.lemma) and entry.lemma != "Chef" else "s")
    return entry.lemma


_IRREGULAR_PRESENT = {
    "sein": ("bin", "bist", "ist", "sind", "seid", "sind"),
    "haben": ("habe", "hast", "hat", "haben", "habt", "haben"),
    "werden": ("werde", "wirst", "wird", "werden", "werdet", "werden"),
    "wissen": ("weiß", "weißt", "weiß", "wissen", "wisst", "wissen"),
    "können": ("kann", "kannst", "kann", "können", "könnt", "können"),
    "müssen": ("muss", "musst", "muss", "müssen", "müsst", "müssen"),
    "wollen": ("will", "willst", "will", "wollen", "wollt", "wollen"),
    "dürfen": ("darf", "darfst", "darf", "dürfen", "dürft", "dürfen"),
    "sollen": ("soll", "sollst", "soll", "sollen", "sollt", "sollen"),
    "möchten": ("möchte", "möchtest", "möchte", "möchten", "möchtet", "möchten"),
    "mögen": ("mag", "magst", "mag", "mögen", "mögt", "mögen"),
}
_PRETERITE = {"sein": "war", "haben": "hatte", "werden": "wurde", "können": "konnte", "müssen": "musste",
              "wollen": "wollte", "dürfen": "durfte", "sollen": "sollte"}


def _slot(person, plural):
    return person - 1 + (3 if plural else 0)


def _stem(infinitive):
    return infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]


def _needs_e(stem):
    return bool(re.search(r"([td]|[^aeiouäöülrhmn][mn])$", stem))


def present(infinitive, changed, person, plural):
    """Present tense; `changed` is the stem of du and er where the vowel changes, else ''."""
    slot = _slot(person, plural)
    if infinitive in _IRREGULAR_PRESENT:
        return _IRREGULAR_PRESENT[infinitive][slot]
    stem = _stem(infinitive)
    if slot in (3, 5):
        return infinitive
    if slot == 0:
        return stem[:-2] + "le" if stem.endswith("el") and infinitive.endswith("eln") else stem + "e"
    if slot == 4 or not changed:
        link = "e" if _needs_e(stem) else ""
        if slot == 1:
            return stem + (link + "st" if not re.search(r"[sßzx]$", stem) else "t")
        return stem + link + "t"
    if slot == 1:
        return changed + ("t" if re.search(r"[sßzx]$", changed) else "st")
    return changed + ("" if changed.endswith("t") else "t")


def preterite(infinitive, past_stem, person, plural):
    """Preterite from its first person singular; '' derives the weak form."""
    if infinitive in _PRETERITE:
        past_stem = _PRETERITE[infinitive]
    if not past_stem:
        stem = _stem(infinitive)
        past_stem = stem + ("ete" if _needs_e(stem) else "te")
    slot = _slot(person, plural)
    if slot in (0, 2):
        return past_stem
    if slot in (3, 5):
        return past_stem + ("n" if past_stem.endswith("e") else "en")
    link = "e" if past_stem[-1] in "td" else ""
    return past_stem + (link if slot == 4 else "") + ("st" if slot == 1 else "t")


def weak_participle(infinitive):
    stem = _stem(infinitive)
    ending = "et" if _needs_e(stem) else "t"
    inseparable = infinitive.endswith("ieren") or re.match(r"(be|ver|er|ent|zer|über)", infinitive)
    return ("" if inseparable else "ge") + stem + ending


def imperative(infinitive, changed):
    """Imperative of du: the changed stem where e becomes i ('gib', 'lies'), else the plain one."""
    stem = _stem(infinitive)
    if changed and not re.search(r"[äö]", changed):
        return changed
    if infinitive.endswith("eln"):
        return stem[:-2] + "le"
    return stem + ("e" if _needs_e(stem) or infinitive.endswith("ern") else "")


_CONTRACTIONS = {"in dem": "im", "in das": "ins", "an dem": "am", "an das": "ans", "zu dem": "zum",
                 "zu der": "zur", "von dem": "vom", "bei dem": "beim", "auf das": "auf das"}


def contract(preposition, phrase):
    """Preposition and noun phrase, with im, ins, am, zum, zur, vom, beim before the plain article."""
    first, _, rest = phrase.partition(" ")
    return f"{_CONTRACTIONS.get(f'{preposition} {first}', f'{preposition} {first}')} {rest}".strip()
