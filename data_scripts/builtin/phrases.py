"""Noun phrases and pronouns: both languages at once, with the agreement features that clauses need."""

import dataclasses

from . import english, german

# Stem of the German possessive and the English one, by the possessor's features.
_OWN = {"1s": ("mein", "my"), "2s": ("dein", "your"), "1p": ("unser", "our"), "2p": ("euer", "your"),
        "m": ("sein", "his"), "f": ("ihr", "her"), "pl": ("ihr", "their"), "formal": ("Ihr", "your")}
_DETERMINERS_EN = {"der": "the", "viel": "many", "einig": "some", "all": "all", "jed": "every", "": "",
                   "mein": "my", "dein": "your", "unser": "our", "sein": "his", "welch": "which"}


@dataclasses.dataclass(frozen=True)
class Phrase:
    """A noun phrase; `de` maps case to text, `en` is the English subject form, `en_object` the object form."""

    de: dict
    en: str
    person: int = 3
    plural: bool = False
    gender: str = "m"
    en_object: str = ""
    en_plural: bool = False
    kind: str = "noun"  # noun, name, pronoun
    definite: bool = True
    negated: bool = False  # carries 'kein'
    lemmas: frozenset = frozenset()
    own: tuple = ()  # possessive stems that refer back to it; empty where German and English disagree
    human: bool = True
    formal: bool = False

    @property
    def object_form(self):
        return self.en_object or self.en

    @property
    def clause_gender(self):
        return "pl" if self.plural else self.gender


def _pronoun(nom, acc, dat, en, en_object, person, plural, own, gender="m", formal=False):
    return Phrase(de={"nom": nom, "acc": acc, "dat": dat}, en=en, en_object=en_object, person=person, plural=plural,
                  en_plural=plural, gender=gender, kind="pronoun", own=_OWN[own], formal=formal)


I = _pronoun("ich", "mich", "mir", "I", "me", 1, False, "1s")
DU = _pronoun("du", "dich", "dir", "you", "you", 2, False, "2s")
HE = _pronoun("er", "ihn", "ihm", "he", "him", 3, False, "m")
SHE = _pronoun("sie", "sie", "ihr", "she", "her", 3, False, "f", gender="f")
WE = _pronoun("wir", "uns", "uns", "we", "us", 1, True, "1p")
IHR = _pronoun("ihr", "euch", "euch", "you", "you", 2, True, "2p")
THEY = _pronoun("sie", "sie", "ihnen", "they", "them", 3, True, "pl")
SIE = _pronoun("Sie", "Sie", "Ihnen", "you", "you", 3, True, "formal", formal=True)

SUBJECT_PRONOUNS = [I, I, DU, HE, SHE, WE, IHR, THEY]
# 'sie' as an object may be her or them, so it is left out here.
ACCUSATIVE_PRONOUNS = [I, DU, HE, WE]
DATIVE_PRONOUNS = [I, DU, HE, SHE, WE, THEY]


def name(word, gender):
    return Phrase(de={"nom": word, "acc": word, "dat": word}, en=word, gender=gender, kind="name", own=_OWN[gender])


def noun_phrase(noun, det="der", plural=False, adjective=None, own=(), count=None):
    """A noun with its determiner.

    det: a stem of german.determiner ('' for none), 'own' for the possessive given in `own`, or 'num' with
    `count` as (German, English). In English 'kein' becomes the indefinite form that follows 'not'.
    """
    stem = own[0] if det == "own" else "" if det == "num" else det
    gender = "pl" if plural else noun.gender
    forms = {case: _decline(noun, stem, gender, plural, case, adjective, count) for case in german.CASES}
    en_plural = plural or noun.is_a("pl")
    human = noun.is_a("person", "family")
    return Phrase(
        de=forms,
        en=_translate(noun, det, en_plural, adjective, own, count),
        plural=plural, en_plural=en_plural, gender=noun.gender,
        definite=det not in ("ein", "", "kein", "num", "viel", "einig"),
        negated=det == "kein",
        lemmas=frozenset([noun.lemma]),
        own=() if not human else _OWN["pl"] if plural else _OWN.get(noun.gender, ()),
        human=human,
    )


def _decline(noun, stem, gender, plural, case, adjective, count):
    words = [count[0] if count else german.determiner(stem, gender, case)]
    if adjective:
        words.append(adjective.stem + german.adjective_ending(stem, gender, case))
    words.append(german.noun(noun, plural, case))
    return " ".join(word for word in words if word)


def _translate(noun, det, plural, adjective, own, count):
    words = noun.english_plural if plural and not noun.mass else noun.english
    if adjective:
        words = f"{adjective.english} {words}"
    if det == "ein" or (det == "kein" and not plural and not noun.mass):
        return english.with_article(words)
    if det == "kein":
        return f"any {words}"
    if det == "own":
        first = own[1]
    elif det == "num":
        first = count[1]
    elif det == "dies":
        first = "these" if plural else "this"
    else:
        first = _DETERMINERS_EN[det]
    return f"{first} {words}".strip()


def extend(phrase, german_tail, english_tail, lemmas=frozenset()):
    """The phrase followed by a relative clause or another attribute in both languages."""
    return dataclasses.replace(
        phrase, de={case: f"{text} {german_tail}" for case, text in phrase.de.items()},
        en=f"{phrase.en} {english_tail}", lemmas=phrase.lemmas | lemmas)


def owned_by(noun, owner, adjective=None):
    """A noun with its owner: 'das Auto des Lehrers', 'Annas Auto', the teacher's car."""
    if owner.kind == "name":
        ending = "'" if owner.en.endswith("s") else "s"
        stem = ""
        article = {case: owner.en + ending for case in german.CASES}
        tail = ""
    else:
        stem = "der"
        article = {case: german.determiner("der", noun.gender, case) for case in german.CASES}
        tail = " " + owner.de["gen"]
    forms = {}
    for case in german.CASES:
        words = [article[case]]
        if adjective:
            words.append(adjective.stem + german.adjective_ending(stem, noun.gender, case))
        forms[case] = " ".join([*words, german.noun(noun, False, case)]) + tail
    words = f"{adjective.english} {noun.english}" if adjective else noun.english
    human = noun.is_a("person", "family")
    return Phrase(de=forms, en=f"{english.possessive(owner.en, owner.en_plural)} {words}", gender=noun.gender,
                  lemmas=frozenset([noun.lemma]) | owner.lemmas, own=_OWN.get(noun.gender, ()) if human else (),
                  human=human)


def joined(first, second, german_word="und", english_word="and"):
    """Two phrases joined: a plural subject."""
    return Phrase(
        de={case: f"{first.de[case]} {german_word} {second.de[case]}" for case in ("nom", "acc", "dat")},
        en=f"{first.en} {english_word} {second.en}",
        en_object=f"{first.object_form} {english_word} {second.object_form}",
        plural=True, en_plural=True, gender="pl", kind="name" if first.kind == "name" else "noun",
        definite=first.definite and second.definite, lemmas=first.lemmas | second.lemmas, own=_OWN["pl"],
        human=first.human and second.human)


def anaphor(phrase):
    """The pronoun that takes up a person again, or None where the languages disagree (das Mädchen)."""
    if phrase.kind == "pronoun":
        return phrase
    if phrase.plural:
        return THEY
    if phrase.human and phrase.gender in "mf":
        return HE if phrase.gender == "m" else SHE
    return None


WHO = Phrase(de={"nom": "wer", "acc": "wen", "dat": "wem"}, en="who", kind="name")
WHAT = Phrase(de={"nom": "was", "acc": "was"}, en="what", kind="name", human=False)


def relative_pronoun(phrase, case):
    """The German relative pronoun that refers to the phrase."""
    if case == "dat":
        return {"m": "dem", "f": "der", "n": "dem", "pl": "denen"}[phrase.clause_gender]
    return german.determiner("der", phrase.clause_gender, case)


def relative_subject(phrase):
    """The relative pronoun as the subject of its clause."""
    return dataclasses.replace(phrase, de={"nom": relative_pronoun(phrase, "nom")},
                               en="who" if phrase.human else "that", person=3)
