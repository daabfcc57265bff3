"""Sentence patterns around the verb: orders, datives, passive, coordination, object first, genitive."""

import dataclasses

from . import german, modifiers, nouns, phrases, verbs
from .clauses import Clause
from .sentences import fronted
from .verbs import plain_verb


def order(s):
    """Imperative of du, ihr and Sie, always with 'bitte'."""
    dice = s.dice
    verb = s.verb()
    if verb.state or verb.accident or verb.infinitive in ("bekommen", "laufen", "lachen", "lächeln", "träumen"):
        return None
    who = dice.pick([phrases.DU, phrases.SIE, phrases.IHR])
    you = dataclasses.replace(who, own=who.own)
    clause = s.clause(you, verb, "present", brief=True, negation=0)
    clause.frequency = None
    if who is phrases.IHR and clause.indirect is phrases.SHE:
        return None
    middle = clause._middle()
    if clause.object is not None and clause.object.kind == "pronoun" and not verb.preposition.strip("-"):
        middle.insert(1, "bitte")
    elif clause.indirect is not None and clause.indirect.kind == "pronoun":
        middle.insert(1, "bitte")
    else:
        middle.insert(0, "bitte")
    if who is phrases.DU:
        first = [german.imperative(verb.infinitive, verb.changed)]
    elif who is phrases.IHR:
        first = [verb.present(2, True)]
    else:
        first = [verb.infinitive, "Sie"]
    words = [*first, *middle, verb.prefix or verb.idiom]
    rest = " ".join(clause._english_rest())
    return " ".join(w for w in words if w), f"please {verb.english.base} {rest}".strip(), "!"


def dative_subject(s):
    """gefallen, gehören, schmecken: the person is the German dative."""
    dice = s.dice
    kind = dice.weighted([("gefallen", 4), ("gehören", 4), ("schmecken", 2)])
    classes = {"gefallen": "art clothes building plant read place -Bericht -Nachricht",
               "gehören": "thing clothes vehicle instrument animal building read -Zug -Bus -Nachricht -Bär -Affe"
                          " -Brücke -Kirche -Turm -Schule -Museum -Elefant",
               "schmecken": "foodmass dish drink fruit"}[kind]
    noun = dice.pick(nouns.of_class(classes))
    subject = s.noun(noun, dice.weighted([("der", 7), ("dies", 3)]), not noun.mass and dice.chance(0.2), 0.2)
    person = s.recipient(subject)
    s.relations.add((kind, noun.lemma))
    negated = dice.chance(0.2)
    tense = dice.weighted([("present", 7), ("preterite", 2)])
    verb = _DATIVE_VERBS[kind]
    clause = Clause(subject, verb, tense, indirect=person, negated=negated)
    if kind == "gehören":
        english = Clause(subject, verb, tense, place=("", f"to {person.object_form}"), negated=negated)
        texts = english.english_statement(), english.english_question()
    else:
        english = Clause(person, _LIKES, tense, object=subject, negated=negated)
        texts = english.english_statement(), english.english_question()
    if dice.chance(0.2) and person.person != 1:
        return clause.german_verb_first(), texts[1], "?"
    if dice.chance(0.25) and person.kind != "pronoun":
        return clause.german_main(person.de["dat"], ("indirect",)), texts[0], "."
    return clause.german_main(), texts[0], "."


_DATIVE_VERBS = {"gefallen": plain_verb("gefallen", "like", "gefäll gefiel gefallen"),
                 "gehören": plain_verb("gehören", "belong", "- gehörte gehört"),
                 "schmecken": plain_verb("schmecken", "like")}
_LIKES = plain_verb("mögen", "like")


def passive(s):
    """'Das Haus wurde von dem Maler gebaut', with wurde or wird."""
    dice = s.dice
    verb = dice.pick([v for v in verbs.ACCUSATIVE + verbs.SEPARABLE if v.frame == "acc" and not v.state
                      and not v.english.preposition and v.lemma not in ("tragen", "verlieren", "anziehen", "ausziehen",
                                                                       "treffen", "bekommen", "nehmen", "verpassen",
                                                                       "ansehen", "mitnehmen", "zählen")])
    noun = dice.pick(s.objects[id(verb)])
    if noun.is_a("family"):
        return None
    plural = not noun.mass and not verb.one and dice.chance(0.3)
    subject = s.noun(noun, dice.weighted([("der", 7), ("dies", 3)]), plural, 0.15)
    s.relations.add((verb.lemma, noun.lemma))
    agent = s.person(adjective=0, simple=True) if dice.chance(0.5) else None
    if agent is not None and agent.lemmas & subject.lemmas:
        return None
    negated = dice.chance(0.15)
    time = dice.pick(modifiers.PAST_TIMES[:5] + modifiers.PAST_TIMES[-3:]) if dice.chance(0.4) else None
    by = (f"von {agent.de['dat']}", f"by {agent.en}") if agent else None
    particle = f" {verb.english.particle}" if verb.english.particle else ""
    word = (f"{by[0]} {verb.full_participle}" if by else verb.full_participle,
            f"{verb.english.participle}{particle}" + (f" {by[1]}" if by else ""))
    clause = Clause(subject, _BECOME, "preterite", predicate=word, negated=negated, time=time)
    english = Clause(subject, None, "preterite", predicate=word, negated=negated, time=time)
    if dice.chance(0.15):
        return clause.german_verb_first(), english.english_question(), "?"
    if time and dice.chance(0.4):
        return clause.german_main(time[0], ("time",)), english.english_statement(time[1], ("time",)), "."
    return clause.german_main(), english.english_statement(), "."


_BECOME = plain_verb("werden", "be was been")


def coordination(s):
    """und, aber, sondern."""
    dice = s.dice
    kind = dice.weighted([("und", 4), ("aber", 3), ("sondern", 2)])
    if kind == "sondern":
        first, second = dice.pick(nouns.of_class("job")), dice.pick(nouns.of_class("job"))
        if first is second:
            return None
        subject = s.name()
        if {first.gender, second.gender} != {subject.gender}:
            return None
        one, two, kein = s.noun(first, "ein"), s.noun(second, "ein"), s.noun(first, "kein")
        return (f"{subject.en} ist {kein.de['nom']}, sondern {two.de['nom']}",
                f"{subject.en} is not {one.en} but {two.en}", ".")
    one, two = s.person(simple=True), s.person(simple=True)
    if one.de["nom"] == two.de["nom"]:
        return None
    tenses = ["present", "past", "past"]
    tense = dice.pick(tenses)
    first_verb, second_verb = s.verb(), s.verb()
    if first_verb.state or second_verb.state or first_verb is second_verb:
        return None
    first = s.clause(one, first_verb, tense, brief=True, negation=0)
    second = s.clause(two, second_verb, tense, brief=True, negation=0.5 if kind == "aber" else 0)
    first.frequency = second.frequency = None
    words = {"und": (" und ", " and "), "aber": (", aber ", ", but ")}[kind]
    return (f"{first.german_main()}{words[0]}{second.german_main()}",
            f"{first.english_statement()}{words[1]}{second.english_statement()}", ".")


def object_first(s):
    """'Den Apfel isst der Junge': only the case shows who does what."""
    dice = s.dice
    verb = dice.pick([v for v in verbs.ACCUSATIVE + verbs.SEPARABLE if v.frame == "acc" and not v.english.preposition
                      and v.infinitive != "zählen"])
    pool = [n for n in s.objects[id(verb)] if n.gender == "m" and not n.is_a("family")]
    if not pool:
        return None
    noun = dice.pick(pool)
    found = s.noun(noun, dice.pick(["der", "dies"]), False, 0.25)
    s.relations.add((verb.lemma, noun.lemma))
    subject = s.subject()
    if subject.lemmas & found.lemmas:
        return None
    tense = dice.pick(["present", "preterite"] if verb.state and subject.person != 2 else ["present"] if verb.state
                      else ["past", "past", "present", "future"])
    clause = Clause(subject, verb, tense, object=found, negated=dice.chance(0.15))
    return clause.german_main(found.de["acc"], ("object",)), clause.english_statement(), "."


def owner(s):
    """Genitive: 'Das Auto des Lehrers ist neu', 'Annas Bruder wohnt in Wien'."""
    dice = s.dice
    possessor = s.name() if dice.chance(0.5) else s.noun(dice.pick(s.people), "der", dice.chance(0.15))
    noun = dice.pick(nouns.of_class("thing clothes road pet home =Garten =Büro =Buch =Brief family"))
    if noun.is_a("family"):
        subject = phrases.owned_by(noun, possessor)
        clause = s.clause(subject, tense=None, brief=True, negation=0.1, pronouns=False)
        german_text, english = fronted(clause, dice)
        return german_text, english, "."
    subject = phrases.owned_by(noun, possessor)
    fitting = s.adjectives.get(noun.lemma)
    if dice.chance(0.5) and fitting:
        adjective = dice.pick(fitting)
        clause = Clause(subject, None, dice.pick(["present", "preterite"]),
                        predicate=(adjective.predicate, adjective.english), negated=dice.chance(0.2))
        return clause.german_main(), clause.english_statement(), "."
    able = [v for v in verbs.VERBS if v.frame == "acc" and noun in s.objects[id(v)] and not v.english.preposition
            and v.infinitive not in ("haben", "bekommen", "tragen", "nehmen")]
    if not able:
        return None
    verb = dice.pick(able)
    who = s.subject()
    if who.en == possessor.en or who.lemmas & subject.lemmas:
        return None
    s.relations.add((verb.lemma, noun.lemma))
    tense = ("preterite" if who.person != 2 else "present") if verb.state else dice.pick(["past", "past", "müssen"])
    if verb.accident and tense == "müssen":
        return None
    clause = Clause(who, verb, tense, object=subject, negated=dice.chance(0.15))
    return clause.german_main(), clause.english_statement(), "."
