"""English morphology: plurals, articles, verb forms and the verb group with do-support."""

import dataclasses
import re

_VOWELS = "aeiou"
_CONSONANT_SOUND = ("university", "useful", "one")


def pluralize(noun):
    """Regular plural of the last word of a noun."""
    if re.search(r"(s|x|z|ch|sh)$", noun):
        return noun + "es"
    if re.search(r"[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + "s"


def with_article(words):
    """'a' or 'an' before the given words."""
    first = words.split()[0]
    vowel = first[0].lower() in _VOWELS and not first.startswith(_CONSONANT_SOUND)
    return f"{'an' if vowel else 'a'} {words}"


def possessive(words, plural):
    """Genitive with apostrophe: 'the teacher's', 'the teachers''."""
    return words + ("'" if plural and words.endswith("s") else "'s")


def _doubles(base):
    return base == "forget" or bool(re.fullmatch(r"[^aeiou]*[aeiou][bdgmnpt]", base))


@dataclasses.dataclass(frozen=True)
class EnglishVerb:
    """Forms of one verb; `particle` ('up') may follow an object, `preposition` ('for') precedes it always."""

    base: str
    past: str
    participle: str
    particle: str = ""
    preposition: str = ""

    @property
    def third(self):
        if self.base == "have":
            return "has"
        if self.base == "be":
            return "is"
        return "goes" if self.base == "go" else pluralize(self.base)

    @property
    def ing(self):
        if self.base.endswith("ie"):
            return self.base[:-2] + "ying"
        if self.base.endswith("e") and not self.base.endswith(("ee", "be")):
            return self.base[:-1] + "ing"
        return self.base + (self.base[-1] if _doubles(self.base) else "") + "ing"


def make_verb(forms, particle="", preposition=""):
    """'buy bought' or 'take took taken' or a regular 'need'."""
    words = forms.split()
    if len(words) == 1:
        base = words[0]
        if base.endswith("e"):
            past = base + "d"
        elif re.search(r"[^aeiou]y$", base):
            past = base[:-1] + "ied"
        else:
            past = base + (base[-1] if _doubles(base) else "") + "ed"
        words.append(past)
    if len(words) == 2:
        words.append(words[1])
    return EnglishVerb(words[0], words[1], words[2], particle, preposition)


BE = EnglishVerb("be", "was", "been")


def be(subject, past=False):
    """The form of 'be' for a subject with .person and .plural (English agreement)."""
    if past:
        return "were" if subject.en_plural or subject.person == 2 else "was"
    if subject.en_plural or subject.person == 2:
        return "are"
    return "am" if subject.person == 1 else "is"


def third_singular(subject):
    return subject.person == 3 and not subject.en_plural


# Modal-like tenses written with 'to': present form, base, past form.
_WITH_TO = {
    "müssen": ("have", "has", "had"),
    "wollen": ("want", "wants", "wanted"),
    "gern": ("like", "likes", "liked"),
}


def verb_group(verb, subject, tense, support):
    """(auxiliary, main verb) of a clause; the auxiliary is '' where none is needed.

    `support` asks for an auxiliary to carry 'not' or to stand before the subject (do-support).
    """
    third = third_singular(subject)
    if tense in ("past", "preterite"):
        return _past_group(verb, subject, support)
    if tense == "present":
        if verb.base == "be":
            return be(subject), ""
        if support:
            return ("does" if third else "do"), verb.base
        return "", verb.third if third else verb.base
    if tense == "progressive":
        return be(subject), verb.ing
    if tense == "future":
        return "will", verb.base
    if tense == "pluperfect":
        return "had", verb.participle
    if tense == "since":
        return ("has" if third else "have"), verb.participle
    return _modal_group(verb, subject, tense, support)


def _past_group(verb, subject, support):
    if verb.base == "be":
        return be(subject, past=True), ""
    return ("did", verb.base) if support else ("", verb.past)


def _modal_group(verb, subject, tense, support):
    modal, _, past = tense.partition("+")
    simple = {"können": ("can", "could"), "sollen": ("should", "should")}
    if modal in simple:
        return simple[modal][bool(past)], verb.base
    if modal == "möchten":
        return "would", f"like to {verb.base}"
    if modal == "dürfen":
        return be(subject, past=bool(past)), f"allowed to {verb.base}"
    plain, third, preterite = _WITH_TO[modal]
    if support:
        auxiliary = "did" if past else "does" if third_singular(subject) else "do"
        return auxiliary, f"{plain} to {verb.base}"
    form = preterite if past else third if third_singular(subject) else plain
    return "", f"{form} to {verb.base}"
