"""Draws phrases and clauses that make sense: who does what, with which things, where and when."""

from . import modifiers, nouns, phrases, verbs
from .clauses import Clause

_STATE_MODALS = {"verstehen": ("können",), "sehen": ("können",), "hören": ("können",),
                 "haben": ("möchten", "wollen"), "vertrauen": ("können",), "glauben": ("können",)}
_DRESSING = ("tragen", "ziehen")
_MODALS = [("können", 4), ("müssen", 4), ("wollen", 4), ("dürfen", 2), ("sollen", 2), ("möchten", 3),
           ("können+past", 2), ("müssen+past", 2), ("wollen+past", 2)]
_FAMILY_OWNERS = ("mein", "mein", "dein", "unser")


class Sampler:
    """Draws from the lexicon and notes what it used, so that combinations can be held out.

    After `begin()`, `relations` collects the pairs of lemmas that belong together in the sentence: (verb, object
    noun) and (conjunction, verb).
    """

    def __init__(self, dice):
        self.dice = dice
        self.adjectives = modifiers.load_adjectives(nouns.of_class)
        self.objects = {id(v): nouns.of_class(v.objects) for v in verbs.VERBS if v.objects}
        self.people = nouns.of_class("person")
        self.family = nouns.of_class("family")
        self.animals = nouns.of_class("animal")
        self.by_lemma = {}
        for verb in verbs.VERBS:
            self.by_lemma.setdefault(verb.lemma.replace(" ", "_"), verb)
        self.begin()

    def begin(self):
        self.relations = set()

    # Noun phrases -----------------------------------------------------------------------------------------

    def adjective(self, noun, probability):
        fitting = self.adjectives.get(noun.lemma)
        return self.dice.pick(fitting) if fitting and self.dice.chance(probability) else None

    def name(self):
        gender = self.dice.pick("mf")
        return phrases.name(self.dice.pick(modifiers.NAMES[gender]), gender)

    def noun(self, noun, det="der", plural=False, adjective=0.0, own=(), count=None):
        return phrases.noun_phrase(noun, det, plural, self.adjective(noun, adjective), own, count)

    def relative(self):
        noun = self.dice.pick(self.family)
        return self.noun(noun, self.dice.pick(_FAMILY_OWNERS), not noun.is_a("one") and self.dice.chance(0.15))

    def count(self, large=0.2):
        return modifiers.number_words(2 + self.dice.below(90 if self.dice.chance(large) else 9))

    def person(self, adjective=0.12, simple=False):
        """A person in the third person: a name, a relative or a noun."""
        kind = self.dice.weighted([("name", 22), ("relative", 12), ("noun", 66)])
        if kind == "name":
            return self.name()
        if kind == "relative":
            return self.relative()
        noun = self.dice.pick(self.people)
        det = self.dice.weighted([("der", 60), ("plural", 14), ("dies", 7), ("ein", 0 if simple else 7),
                                  ("num", 0 if simple else 4), ("viel", 0 if simple else 3),
                                  ("einig", 0 if simple else 2), ("all", 0 if simple else 2),
                                  ("jed", 0 if simple else 2)])
        if det == "plural":
            return self.noun(noun, "der", True, adjective)
        if det == "num":
            return self.noun(noun, "num", True, 0, count=self.count(large=0))
        return self.noun(noun, det, det in ("viel", "einig", "all"), adjective)

    def couple(self):
        first, second = self.name(), self.name()
        return phrases.joined(first, second) if first.en != second.en else first

    def subject(self, verb=None, formal=False):
        """A subject that fits the verb."""
        if verb is not None and verb.subject == "both" and self.dice.chance(0.35):
            return self.animal(0.2)
        kind = self.dice.weighted([("pronoun", 30), ("person", 65), ("couple", 5), ("formal", 5 if formal else 0)])
        if kind == "formal":
            return phrases.SIE
        if kind == "pronoun":
            return self.dice.pick(phrases.SUBJECT_PRONOUNS)
        return self.couple() if kind == "couple" else self.person()

    def animal(self, adjective=0.0, classes=""):
        noun = self.dice.pick(nouns.of_class(classes) if classes else self.animals)
        return self.noun(noun, "der", self.dice.chance(0.25), adjective)

    def object_of(self, verb, subject, negated=False, adjective=0.25, pronouns=True, simple=False):
        """The direct (or only) object of a verb, with determiner and number that suit it."""
        dice, case = self.dice, "dat" if "dat" in (verb.frame, verb.case) else "acc"
        pool = self.objects[id(verb)]
        if verb.infinitive in _DRESSING and subject.gender in ("m", "pl"):
            pool = [n for n in pool if n.lemma not in ("Kleid", "Rock")]
        pool = [n for n in pool if n.lemma not in subject.lemmas]
        noun = dice.pick(pool)
        personal = noun.is_a("person", "family")
        if personal and dice.chance(0.35) and "person" in verb.objects.split():
            # A bare name after a noun would read as one phrase: 'unser Bruder Max'.
            nameless = (subject.kind == "noun" or subject.plural) and verb.preposition in ("", "-")
            pool = phrases.DATIVE_PRONOUNS if case == "dat" else phrases.ACCUSATIVE_PRONOUNS
            pool = [p for p in pool if p.person != subject.person] if subject.person != 3 else pool[:2] + pool[-1:]
            if nameless or (pronouns and dice.chance(0.5)):
                return dice.pick([p for p in pool if p.person != 3 or subject.person != 3] or [phrases.I])
            found = self.name()
            return found if found.en not in subject.en else dice.pick([phrases.I, phrases.WE] if subject.person != 1
                                                                      else [phrases.DU])
        self.relations.add((verb.lemma, noun.lemma))
        if noun.is_a("family"):
            own = subject.own if subject.own and dice.chance(0.7) else ()
            return self.noun(noun, "own" if own else self.family_owner(subject), False, 0, own)
        if noun.mass:
            det = self._mass_determiner(verb, negated)
            return self.noun(noun, det, False, adjective)
        return self._countable(noun, verb, subject, negated, adjective, simple)

    def _mass_determiner(self, verb, negated):
        if negated:
            return "der" if verb.known else "kein"
        return self.dice.weighted([("", 0 if verb.known else 70), ("der", 24), ("dies", 6)])

    def _countable(self, noun, verb, subject, negated, adjective, simple):
        dice, many = self.dice, not verb.one
        if verb.infinitive == "zählen":
            det = dice.pick(["der", "der", "dies", "mein" if noun.is_a("dishes") else "der"])
            return self.noun(noun, det, True, adjective)
        if negated and not verb.known and not verb.case and dice.chance(0.6):
            return self.noun(noun, "kein", many and dice.chance(0.35), adjective / 2)
        loose = 0 if verb.known or negated else 1
        own = subject.own if verb.owned and not noun.is_a("person", "wild", "art", "plant", "lesson") else ()
        if subject.plural and noun.is_a("clothes") and verb.infinitive in _DRESSING:
            return self.noun(noun, "own" if own else "der", True, adjective, own)
        if subject.plural and noun.is_a("clothes"):
            own = ()
        det = dice.weighted([
            ("der", 34), ("dies", 6), ("ein", 32 * loose), ("own", 26 if own else 0), ("plural", 14 * loose * many),
            ("die", 9 * many), ("num", 9 * loose * many * (not simple)), ("viel", 3 * loose * many),
            ("einig", 3 * loose * many)])
        if det == "plural":
            return self.noun(noun, "", True, adjective)
        if det == "die":
            return self.noun(noun, "der", True, adjective)
        if det == "num":
            large = 0.25 if noun.is_a("farm", "fruit", "read", "dishes") else 0
            return self.noun(noun, "num", True, adjective / 2, count=self.count(large))
        return self.noun(noun, det, det in ("viel", "einig"), adjective, own)

    def reaction(self, state, against):
        """(verb, negated) for what one does, or against expectation does, in a state of modifiers.REACTIONS."""
        does, leaves = (text.split() for text in modifiers.REACTIONS[state])
        if against:
            does, leaves = leaves, does
        negated = self.dice.chance(0.35)
        return self.by_lemma[self.dice.pick(leaves if negated else does)], negated

    # Clauses ----------------------------------------------------------------------------------------------

    def verb(self):
        """A verb; frames with many verbs come up more often."""
        return self.dice.pick(self.dice.weighted([
            (verbs.ACCUSATIVE, 46), (verbs.SEPARABLE, 20), (verbs.INTRANSITIVE, 10), (verbs.DATIVE, 6),
            (verbs.PREPOSITIONAL, 8), (verbs.DITRANSITIVE, 8), (verbs.MOTION, 6)]))

    def tense(self, verb):
        dice = self.dice
        if verb.state:
            modals = _STATE_MODALS.get(verb.lemma, ())
            return dice.weighted([("present", 60), ("preterite", 25),
                                  *((m, 12 / len(modals)) for m in modals)])
        if verb.accident:
            return dice.weighted([("past", 70), ("preterite", 18), ("future", 12)])
        kind = dice.weighted([("present", 26), ("progressive", 0 if verb.sudden else 11), ("past", 30),
                              ("preterite", 7), ("future", 6), ("soon", 6), ("gern", 8 if verb.gern else 0), ("modal", 22)])
        return dice.weighted(_MODALS) if kind == "modal" else kind

    def time(self, tense, verb):
        """(time, frequency) that go with the tense; either may be None."""
        dice = self.dice
        if verb is not None and verb.state:
            return None, None
        if tense in ("past", "preterite") or tense.endswith("+past"):
            pool, probability = modifiers.PAST_TIMES, 0.45
        elif tense == "future":
            pool, probability = modifiers.FUTURE_TIMES, 0.5
        elif tense == "soon":
            pool, probability = modifiers.FUTURE_TIMES, 1.0
        elif tense == "present":
            if dice.chance(0.3):
                return None, dice.pick(modifiers.FREQUENCIES)
            pool, probability = modifiers.HABIT_TIMES, 0.4
        elif tense in ("gern", "progressive"):
            return None, None
        else:
            pool, probability = modifiers.OPEN_TIMES + modifiers.FUTURE_TIMES[:3], 0.3
        if not dice.chance(probability):
            return None, None
        if tense != "soon" and dice.chance(0.15):
            return modifiers.clock_time(dice), None
        if pool is modifiers.PAST_TIMES:
            kind = dice.below(12)
            if kind == 0:
                day = dice.pick(modifiers.WEEKDAYS)
                return (f"letzten {day[0]}", f"last {day[1]}"), None
            if kind == 1:
                _, dative, english = dice.pick(modifiers.SPANS)
                german, number = modifiers.number_words(2 + dice.below(6))
                return (f"vor {german} {dative}", f"{number} {english} ago"), None
        elif dice.chance(0.15):
            day = dice.pick(modifiers.WEEKDAYS)
            word = ("jeden", "every") if pool is modifiers.HABIT_TIMES else ("am", "on")
            return (f"{word[0]} {day[0]}", f"{word[1]} {day[1]}"), None
        return dice.pick(pool), None

    def clause(self, subject=None, verb=None, tense=None, brief=False, negation=0.14, formal=False, pronouns=True):
        """A whole clause; `brief` leaves out most adverbs and adjectives."""
        dice = self.dice
        verb = verb or self.verb()
        subject = subject or self.subject(verb, formal)
        tense = tense or self.tense(verb)
        if tense == "preterite" and subject.person == 2:
            tense = "past"  # nobody says 'ihr spieltet'
        time, frequency = (None, None) if brief and tense != "soon" else self.time(tense, verb)
        if verb.frame in ("intr", "acc") and not subject.human and verb.infinitive != "hören":
            places = modifiers.ANIMAL_PLACES
        else:
            places = modifiers.places_of(verb.places)
        settled = frequency or time == ("bald", "soon") or (time and tense == "present") or tense == "progressive"
        negated = not settled and dice.chance(negation)
        made = Clause(subject, verb, tense, time=time, frequency=frequency, negated=negated)
        self._fill(made, brief, pronouns, places)
        if made.object is not None and not made.object.definite and not made.object.negated:
            made.negated = False
        return made

    def _fill(self, made, brief, pronouns, places):
        dice, verb = self.dice, made.verb
        if id(verb) in self.objects:
            made.object = self.object_of(verb, made.subject, made.negated, 0.08 if brief else 0.25,
                                         pronouns and verb.frame != "ditr", brief)
            if made.tense == "gern":
                made.object = self._for_pleasure(made)
        if verb.frame == "ditr":
            made.indirect = self.recipient(made.subject)
        elif verb.frame == "dir":
            made.direction, made.manner = self.direction(verb)
        elif verb.places and dice.chance(0.1 if brief else 0.25):
            made.place = dice.pick(places)

    def _for_pleasure(self, made):
        """'gern' goes with things in general: bare plurals, mass nouns, one's own family."""
        phrase = made.object
        if phrase.kind != "noun" or made.verb.known:
            return phrase
        noun = nouns.BY_LEMMA[next(iter(phrase.lemmas))]
        if noun.is_a("family", "person"):
            return phrase
        return self.noun(noun, "", not noun.mass)

    def family_owner(self, subject):
        """Whose relative an object is when it is not the subject's own."""
        stems = {1: ("dein",), 2: ("mein", "unser")}.get(subject.person, _FAMILY_OWNERS)
        return self.dice.pick(stems)

    def recipient(self, subject):
        dice = self.dice
        kind = dice.weighted([("pronoun", 30), ("name", 15), ("family", 25), ("noun", 30)])
        if kind == "pronoun":
            pool = [p for p in phrases.DATIVE_PRONOUNS if p.person != subject.person]
            return dice.pick(pool)
        if kind == "name" and subject.kind != "noun" and not subject.plural:
            found = self.name()
            return found if found.en not in subject.en else self.noun(dice.pick(self.people))
        if kind in ("family", "name"):
            noun = dice.pick(self.family)
            own = subject.own if subject.own and dice.chance(0.75) else ()
            return self.noun(noun, "own" if own else self.family_owner(subject), False, 0, own)
        noun = dice.pick(self.people)
        return self.noun(noun, "der", dice.chance(0.15), 0.1)

    def direction(self, verb):
        """(direction, manner) of a verb of motion."""
        dice = self.dice
        city = dice.pick(modifiers.CITIES)
        to_city = (f"nach {city[0]}", f"to {city[1]}")
        if verb.infinitive == "fliegen":
            return to_city, None
        if verb.infinitive == "fahren":
            manner = dice.pick(modifiers.VEHICLES) if dice.chance(0.5) else None
            target = to_city if dice.chance(0.6) else dice.pick(modifiers.DIRECTIONS)
            return target, manner
        return dice.pick(modifiers.DIRECTIONS), None
