"""Clauses: word order, negation and tense in German and English from one description."""

import dataclasses

from . import english, german

_MODALS = ("können", "müssen", "wollen", "dürfen", "sollen", "möchten")


@dataclasses.dataclass
class Clause:
    """One clause. Pairs are (German, English); absent parts are None.

    tense: present, progressive, past (perfect), preterite, pluperfect, future, soon (German present with a
    future time), since (German present, English present perfect), gern, a modal verb, or a modal + '+past'.
    """

    subject: object
    verb: object  # verbs.Verb, or None for a predicate after 'sein'
    tense: str = "present"
    indirect: object = None
    object: object = None
    predicate: tuple = None
    place: tuple = None
    direction: tuple = None
    manner: tuple = None
    time: tuple = None
    frequency: tuple = None
    negated: bool = False
    reflexive: bool = False

    def __post_init__(self):
        if self.object is not None and self.object.negated:
            self.negated = True

    # German -----------------------------------------------------------------------------------------------

    def _finite_and_tail(self):
        subject, tense = self.subject, self.tense
        agree = (subject.person, subject.plural)
        modal, _, past = tense.partition("+")
        verb = self.verb
        if verb is None:
            infinitive, participle, auxiliary, simple = "sein", "gewesen", "sein", ""
        else:
            infinitive, participle = verb.full_infinitive, verb.full_participle
            auxiliary, simple = verb.auxiliary, verb.prefix or verb.idiom
        if modal in _MODALS:
            form = german.preterite(modal, "", *agree) if past else german.present(modal, "", *agree)
            return form, infinitive
        if tense == "future":
            return german.present("werden", "", *agree), infinitive
        if tense in ("past", "pluperfect") and verb is not None:
            conjugate = german.preterite if tense == "pluperfect" else lambda v, _, *a: german.present(v, "", *a)
            return conjugate(auxiliary, "", *agree), participle
        if verb is None:
            past = tense in ("past", "preterite")
            return (german.preterite if past else german.present)("sein", "", *agree), simple
        return (verb.preterite if tense == "preterite" else verb.present)(*agree), simple

    def _german_object(self):
        """(text, is_pronoun, after_negation) of the direct or prepositional object."""
        phrase, verb = self.object, self.verb
        if phrase is None:
            return None
        case = "dat" if verb.frame == "dat" else verb.case or "acc"
        text = phrase.de[case]
        if verb.preposition not in ("", "-"):
            plain_article = phrase.kind == "noun" and text.startswith(("dem ", "das ", "der "))
            text = german.contract(verb.preposition, text) if plain_article else f"{verb.preposition} {text}"
            return text, False, True
        return text, phrase.kind == "pronoun", False

    def _middle(self, skip=()):
        """The German words between the finite verb (or subject) and the end of the clause."""
        part = {key: value[0] for key in ("time", "frequency", "place", "direction", "manner", "predicate")
                if (value := getattr(self, key)) and key not in skip}
        found = self._german_object() if "object" not in skip else None
        text, pronoun, prepositional = found or ("", False, False)
        indirect = ""
        if self.indirect is not None and "indirect" not in skip:
            indirect = self.indirect.de["dat"]
        adverbs = [part.get("time", ""), part.get("frequency", "")]
        if self.tense == "progressive":
            adverbs.append("gerade")
        gern = "gern" if self.tense == "gern" else ""
        use_nicht = self.negated and not (self.object is not None and self.object.negated)
        nicht = ("nicht " + gern).strip() if use_nicht else gern
        object_first = use_nicht and text and not prepositional
        words = [text if pronoun else "", indirect]
        if object_first and not pronoun:
            words += [text, *adverbs, nicht]
        elif pronoun or prepositional:
            words += [*adverbs, nicht]
        else:
            words += [*adverbs, nicht, text]
        words += [part.get("manner", ""), text if prepositional else "", part.get("place", ""),
                  part.get("direction", ""), part.get("predicate", "")]
        return [word for word in words if word]

    def german_main(self, front=None, skip=()):
        """Verb second: `front` (a text) or the subject comes first."""
        finite, tail = self._finite_and_tail()
        subject = [] if "subject" in skip else [self.subject.de["nom"]]
        words = [front, finite, *subject] if front else [*subject, finite]
        return " ".join([w for w in [*words, *self._middle(skip), tail] if w])

    def german_verb_first(self, skip=()):
        finite, tail = self._finite_and_tail()
        middle, subject = self._middle(skip), [self.subject.de["nom"]]
        if self.indirect is not None and self.indirect.kind == "pronoun" and not self.subject.human:
            subject.insert(0, middle.pop(0))  # 'Gefällt dir das Bild?'
        return " ".join(w for w in [finite, *subject, *middle, tail] if w)

    def german_verb_final(self, skip=(), opening=""):
        """Subordinate order; `opening` is the conjunction or relative pronoun."""
        finite, tail = self._finite_and_tail()
        if self.verb is not None and tail == self.verb.prefix:
            finite, tail = tail + finite, ""
        subject = "" if "subject" in skip else self.subject.de["nom"]
        return " ".join(w for w in [opening, subject, *self._middle(skip), tail, finite] if w)

    def german_zu(self):
        """Infinitive clause without its subject."""
        verb = "zu sein" if self.verb is None else self.verb.zu_infinitive
        return " ".join([*self._middle(), verb])

    # English ----------------------------------------------------------------------------------------------

    def _english_verb(self, support):
        verb = english.BE if self.verb is None else self.verb.english
        tense = {"soon": "future"}.get(self.tense, self.tense)
        if self.subject.formal:
            return english.verb_group(verb, _You, tense, support)
        return english.verb_group(verb, self.subject, tense, support)

    def _english_rest(self, skip=()):
        """Everything after the main verb."""
        part = {key: value[1] for key in ("time", "place", "direction", "manner", "predicate")
                if (value := getattr(self, key)) and key not in skip}
        words = [part.get("predicate", "")]
        if self.verb is not None:
            words += self._english_object("object" in skip, "indirect" in skip)
        words += [part.get("place", ""), part.get("direction", ""), part.get("manner", ""), part.get("time", "")]
        return [word for word in words if word]

    def _english_object(self, without_object, without_indirect):
        verb = self.verb.english
        particle, phrase = verb.particle, self.object
        if self.indirect is not None and not without_indirect:
            indirect = [self.indirect.object_form]
        else:
            indirect = []
        if phrase is None or without_object:
            preposition = verb.preposition if without_object else ""
            return [*indirect, particle, preposition]
        text = phrase.object_form
        if verb.preposition:
            return [particle, verb.preposition, text]
        return [*indirect, text, particle] if phrase.kind == "pronoun" else [*indirect, particle, text]

    def english_statement(self, front="", skip=()):
        """Statement order, also of subordinate clauses."""
        auxiliary, main = self._english_verb(support=self.negated)
        often = self.frequency[1] if self.frequency else ""
        negation = "not" if self.negated else ""
        subject = "" if "subject" in skip else self.subject.en
        words = [front, subject, auxiliary, negation, often, main, *self._english_rest(skip)]
        return " ".join(word for word in words if word)

    def english_question(self, opening="", skip=()):
        """Question order after an optional question word."""
        auxiliary, main = self._english_verb(support=True)
        often = self.frequency[1] if self.frequency else ""
        negation = "not" if self.negated else ""
        words = [opening, auxiliary, self.subject.en, negation, often, main, *self._english_rest(skip)]
        return " ".join(word for word in words if word)

    def english_to(self):
        """'to' and the infinitive with what follows it."""
        base = "be" if self.verb is None else self.verb.english.base
        return " ".join(["to", base, *self._english_rest()])


class _You:
    """Agreement of English 'you' where the German subject is the formal Sie."""

    person = 2
    plural = en_plural = True
