"""Sentence patterns that say how, where and how many things are: predicates, prices, places, weather."""

from . import german, modifiers, nouns, phrases, verbs
from .clauses import Clause
from .sentences import fronted
from .verbs import plain_verb


def predicate(s):
    """'Das Haus ist alt', 'Anna war nicht müde', 'Ist der Kaffee heiß?'."""
    dice = s.dice
    tense = dice.weighted([("present", 6), ("preterite", 3), ("future", 1)])
    if dice.chance(0.45):
        subject, word = s.subject(formal=False), dice.pick(modifiers.STATES)
    else:
        noun = dice.pick([n for n in nouns.NOUNS if n.lemma in s.adjectives and not n.is_a("family")])
        det = dice.weighted([("der", 7), ("dies", 3), ("mein", 1 if noun.is_a("thing", "clothes", "pet") else 0)])
        subject = s.noun(noun, det, not noun.mass and dice.chance(0.25))
        adjective = dice.pick(s.adjectives[noun.lemma])
        word = adjective.predicate, adjective.english
        if dice.chance(0.3):
            word = f"sehr {word[0]}", f"very {word[1]}"
        elif dice.chance(0.12):
            word = f"zu {word[0]}", f"too {word[1]}"
    clause = Clause(subject, None, tense, predicate=word, negated=dice.chance(0.2))
    if tense == "preterite" and subject.human and word in modifiers.STATES and dice.chance(0.4):
        clause.time = dice.pick(modifiers.PAST_TIMES[:6])
    if dice.chance(0.2):
        return clause.german_verb_first(), clause.english_question(), "?"
    german_text, english = fronted(clause, dice)
    return german_text, english, "."


def comparison(s):
    dice = s.dice
    group = dice.pick(["building", "vehicle", "animal", "read", "clothes", "place", "art", "adult", "thing"])
    first, second = dice.pick(nouns.of_class(group)), dice.pick(nouns.of_class(group))
    shared = [a for a in s.adjectives.get(first.lemma, []) if a in s.adjectives.get(second.lemma, []) and a.comparative]
    if first is second or not shared:
        return None
    adjective = dice.pick(shared)
    left = s.noun(first, dice.pick(["der", "dies"]), dice.chance(0.15))
    right = s.noun(second)
    if dice.chance(0.7):
        word = (f"{adjective.comparative[0]} als {right.de['nom']}", f"{adjective.comparative[1]} than {right.en}")
        clause = Clause(left, None, "present", predicate=word)
    else:
        negated = dice.chance(0.5)
        so = "so" if negated else "genauso"
        word = (f"{so} {adjective.predicate} wie {right.de['nom']}", f"as {adjective.english} as {right.en}")
        clause = Clause(left, None, "present", predicate=word, negated=negated)
    return clause.german_main(), clause.english_statement(), "."


_AGES = {"Großvater": (60, 95), "Großmutter": (60, 95), "Vater": (30, 70), "Mutter": (30, 70), "Sohn": (2, 30),
         "Tochter": (2, 30)}


def _age(subject, dice):
    """A plausible age in years."""
    low, high = 18, 80
    for lemma in subject.lemmas:
        low, high = _AGES.get(lemma, (4, 17) if nouns.BY_LEMMA[lemma].is_a("young") else (20, 80))
    return low + dice.below(high - low + 1)


def price_or_age(s):
    dice = s.dice
    if dice.chance(0.4):
        subject = dice.pick([s.name(), s.relative(), s.noun(dice.pick(s.people)), phrases.I, phrases.HE, phrases.SHE])
        if subject.plural:
            return None
        german_number, english_number = modifiers.number_words(_age(subject, dice))
        if dice.chance(0.25):
            clause = Clause(subject, None, "present")
            asked = clause.english_question("how old")
            return clause.german_main("wie alt"), asked, "?"
        word = f"{german_number} Jahre alt", f"{english_number} years old"
        clause = Clause(subject, None, dice.pick(["present", "present", "preterite"]), predicate=word)
        return clause.german_main(), clause.english_statement(), "."
    noun = dice.pick(nouns.of_class("thing clothes read furniture instrument road -Foto -Nachricht -Brief -Bericht"))
    plural = dice.chance(0.15)
    subject = s.noun(noun, dice.pick(["der", "dies"]), plural, 0.25)
    if dice.chance(0.2):
        verb = "kosten" if plural else "kostet"
        return f"wie viel {verb} {subject.de['nom']}", f"how much {'do' if plural else 'does'} {subject.en} cost", "?"
    dear = noun.is_a("furniture", "instrument", "road", "device")
    amount = 110 + dice.below(89) * 10 if dear and dice.chance(0.6) else 2 + dice.below(98)
    german_number, english_number = modifiers.number_words(amount)
    if dice.chance(0.5):
        german_number = english_number = str(amount)
    clause = Clause(subject, _COST, dice.pick(["present", "present", "past"]))
    clause.predicate = f"{german_number} Euro", ""
    return clause.german_main(), f"{clause.english_statement()} {english_number} euros", "."


_COST = plain_verb("kosten", "cost cost")


def existence(s):
    """'Im Dorf gibt es eine Kirche'."""
    dice = s.dice
    place = dice.pick([("im Dorf", "in the village"), ("in der Stadt", "in the city"), ("im Park", "in the park"),
                       ("in dieser Straße", "on this street"), ("am See", "at the lake"),
                       ("im Wald", "in the forest"), ("im Garten", "in the garden"), ("am Strand", "at the beach"),
                       *((f"in {de}", f"in {en}") for de, en in modifiers.CITIES[:6])])
    if "Stadt" in place[0] or "Dorf" in place[0] or "Straße" in place[0] or place[0].startswith("in "):
        pool = nouns.of_class("building place -Strand -Wald -Dorf -Stadt -Wohnung -Garten -Flughafen")
    elif "Garten" in place[0] or "Park" in place[0]:
        pool = nouns.of_class("plant farm =Hund =Katze =Vogel -Kuh -Pferd -Schwein")
    else:
        pool = nouns.of_class("=Haus =Hotel =Turm =Restaurant =Schloss =Brücke =Boot =Baum =Hund =Ente =Blume")
    noun = dice.pick(pool)
    kind = dice.weighted([("ein", 45), ("kein", 20), ("viel", 15), ("num", 20)])
    plural = kind in ("viel", "num") or (kind == "kein" and dice.chance(0.4))
    found = s.noun(noun, kind, plural, 0.3 if kind != "num" else 0, count=s.count() if kind == "num" else None)
    verb = "are" if plural else "is"
    english = f"no {found.en.split(' ', 1)[1]}" if kind == "kein" else found.en
    if dice.chance(0.2) and kind != "kein":
        return f"gibt es {place[0]} {found.de['acc']}", f"{verb} there {found.en} {place[1]}", "?"
    if dice.chance(0.6):
        return f"{place[0]} gibt es {found.de['acc']}", f"there {verb} {english} {place[1]}", "."
    return f"es gibt {place[0]} {found.de['acc']}", f"there {verb} {english} {place[1]}", "."


_POSITIONS = [("auf", "on"), ("unter", "under"), ("neben", "next to"), ("hinter", "behind")]
_BETWEEN_PERSONS = [("neben", "next to"), ("hinter", "behind"), ("vor", "in front of")]


def position(s):
    """Two-way prepositions: 'liegt auf dem Tisch' (where) and 'legt ... auf den Tisch' (whither)."""
    dice = s.dice
    surface = dice.pick(nouns.of_class("surface =Schrank"))
    pool = [p for p in _POSITIONS if surface.lemma != "Regal" or p[0] in ("auf", "neben")]
    preposition = dice.pick(pool)
    det = dice.weighted([("der", 8), ("dies", 2)])
    target = s.noun(surface, det, False, 0.15)
    english_place = f"{preposition[1]} {target.en}"
    if dice.chance(0.45):
        verb = dice.pick(verbs.PLACING)
        clause = s.clause(verb=verb, brief=True, negation=0.1)
        clause.direction = f"{preposition[0]} {target.de['acc']}", english_place
        return (*fronted(clause, dice), ".")
    place = f"{preposition[0]} {target.de['dat']}", english_place
    if dice.chance(0.3):
        subject = s.animal(0.2, "=Hund =Katze =Kaninchen")
        verb = dice.pick([v for v in verbs.INTRANSITIVE if v.infinitive == "schlafen"] + verbs.LIVING[1:2])
    else:
        lying = dice.chance(0.5)
        pool = nouns.of_class("read clothes =Schlüssel =Handy =Messer =Foto =Karte =Bleistift" if lying
                              else "dishes =Lampe =Koffer =Kiste =Computer -Messer")
        noun = dice.pick(pool)
        verb = _LIE if lying else verbs.LIVING[2]
        subject = s.noun(noun, dice.weighted(
            [("der", 7), ("dies", 2), ("mein", 2), ("dein", 1)]), dice.chance(0.2), 0.2)
    clause = Clause(subject, verb, dice.weighted([("present", 7), ("preterite", 3)]), place=place,
                    negated=dice.chance(0.12))
    if dice.chance(0.2):
        return clause.german_verb_first(), clause.english_question(), "?"
    return (*fronted(clause, dice), ".")


_LIE = plain_verb("liegen", "lie lay lain", "- lag gelegen")


def living(s):
    """wohnen, sitzen, stehen with a place; kommen aus; seit."""
    dice = s.dice
    kind = dice.weighted([("wohnen", 4), ("sitzen", 3), ("stehen", 2), ("aus", 2), ("seit", 3)])
    city = dice.pick(modifiers.CITIES)
    subject = s.subject()
    if kind == "aus":
        clause = Clause(
    subject,
    _COME,
    "present",
    place=(
        f"aus {city[0]}",
        f"from {city[1]}"),
         negated=dice.chance(0.15))
        if dice.chance(0.2):
            return clause.german_verb_first(), clause.english_question(), "?"
        return clause.german_main(), clause.english_statement(), "."
    if kind == "seit":
        verb = dice.pick([v for v in verbs.VERBS if v.infinitive in ("wohnen", "kennen")]
                         + [v for v in verbs.INTRANSITIVE if v.infinitive == "arbeiten"])
        german_number, english_number = modifiers.number_words(2 + dice.below(15))
        span = dice.pick(modifiers.SPANS[1:4])
        time = f"seit {german_number} {span[1]}", f"for {english_number} {span[2]}"
        clause = s.clause(subject, verb, "since", brief=True, negation=0)
        clause.time = time
        if verb.infinitive == "kennen" and clause.object.kind != "pronoun":
            return None
        if verb.infinitive != "kennen":
            clause.place = f"in {city[0]}", f"in {city[1]}"
        return clause.german_main(), clause.english_statement(), "."
    verb = next(v for v in verbs.LIVING if v.infinitive == kind)
    if kind == "wohnen":
        place = dice.pick([(f"in {city[0]}", f"in {city[1]}"), ("in einem Dorf", "in a village"),
                           ("in der Stadt", "in the city"), ("am See", "at the lake"),
                           ("in einer kleinen Wohnung", "in a small apartment"),
                           ("in einem großen Haus", "in a big house"), ("in diesem Haus", "in this house")])
    elif dice.chance(0.5):
        place = dice.pick(modifiers.places_of(("out", "talk", "eat")))
    else:
        preposition = dice.pick(_BETWEEN_PERSONS)
        noun = dice.pick(nouns.of_class("adult plant young -Blume -Rose -Pflanze =Haus =Schule =Kirche =Tür =Auto"))
        other = s.noun(noun)
        if subject.lemmas & other.lemmas:
            return None
        place = f"{preposition[0]} {other.de['dat']}", f"{preposition[1]} {other.en}"
    tense = dice.weighted([("present", 5), ("preterite", 0 if subject.person == 2 else 3), ("past", 2),
                           ("wollen", 1)])
    clause = Clause(subject, verb, tense, place=place, negated=dice.chance(0.12))
    if dice.chance(0.2):
        return clause.german_verb_first(), clause.english_question(), "?"
    return clause.german_main(), clause.english_statement(), "."


_COME = plain_verb("kommen", "come came come", "- kam gekommen")


def weather(s):
    """'Morgen wird es regnen'."""
    dice = s.dice
    german_verb, plain, third, ing, past, participle = dice.pick([
        ("regnen", "rain", "rains", "raining", "rained", "geregnet"),
        ("schneien", "snow", "snows", "snowing", "snowed", "geschneit")])
    city = dice.pick(modifiers.CITIES)
    place = (f" in {city[0]}", f" in {city[1]}")
    kind = dice.below(4)
    if kind == 0:
        time = dice.pick(modifiers.PAST_TIMES)
        return f"{time[0]} hat es{place[0]} {participle}", f"{time[1]} it {past}{place[1]}", "."
    if kind == 1:
        time = dice.pick(modifiers.FUTURE_TIMES)
        return f"{time[0]} wird es{place[0]} {german_verb}", f"{time[1]} it will {plain}{place[1]}", "."
    german_third = german.present(german_verb, "", 3, False)
    if kind == 2:
        return f"es {german_third} gerade{place[0]}", f"it is {ing}{place[1]}", "."
    often = dice.pick(modifiers.FREQUENCIES)
    return f"es {german_third} {often[0]}{place[0]}", f"it {often[1]} {third}{place[1]}", "."
