"""Sentence patterns: each function draws one sentence and returns it as (German, English) without the full stop."""

import dataclasses

from . import modifiers, nouns, phrases, verbs
from .clauses import Clause
from .verbs import plain_verb


def fronted(clause, dice):
    """Statement with the subject or an adverb in first place."""
    for key, probability in (("time", 0.45), ("place", 0.25)):
        part = getattr(clause, key)
        formal = clause.subject.formal
        if part and (dice.chance(probability) or formal):
            german = clause.german_main(part[0], (key,))
            if key == "place" and clause.verb.frame in ("live", "clause"):  # 'Auf dem Tisch liegt ein Buch'
                return german, clause.english_statement()
            return german, clause.english_statement(part[1], (key,))
    return clause.german_main(), clause.english_statement()


def statement(s):
    clause = s.clause()
    german, english = fronted(clause, s.dice)
    return german, english, "."


def yes_no_question(s):
    clause = s.clause(formal=True, negation=0.06)
    if clause.subject.person == 1 and clause.tense.partition("+")[0] not in ("können", "müssen", "sollen", "dürfen"):
        return None
    return clause.german_verb_first(), clause.english_question(), "?"


def who_question(s):
    who = dataclasses.replace(phrases.WHO, own=())
    verb = s.verb()
    clause = s.clause(subject=who, verb=verb, negation=0.08)
    return clause.german_main(), clause.english_statement(), "?"


def what_question(s):
    """'Was kauft der Mann?' and 'Wen besucht der Mann?': the object is asked for."""
    verb = s.dice.pick(verbs.ACCUSATIVE + verbs.SEPARABLE + verbs.PREPOSITIONAL + verbs.DATIVE)
    if verb.frame == "intr":
        return None
    clause = s.clause(verb=verb, formal=True, negation=0, brief=s.dice.chance(0.5))
    if clause.tense in ("gern",) or clause.object is None:
        return None
    if clause.object.human:
        case = "dat" if "dat" in (verb.frame, verb.case) else "acc"
        german = phrases.WHO.de[case]
        if verb.preposition not in ("", "-"):
            german = f"{verb.preposition} {german}"
        english = "who"
    elif verb.frame == "acc":
        german, english = "was", "what"
    else:
        return None
    s.relations.clear()  # the object is not in the sentence
    return clause.german_main(german, ("object",)), clause.english_question(english, ("object",)), "?"


def which_question(s):
    verb = s.dice.pick(verbs.ACCUSATIVE)
    subject = s.subject(formal=True)
    clause = s.clause(subject=subject, verb=verb, negation=0, brief=True, pronouns=False)
    noun = s.dice.pick(s.objects[id(verb)])
    if noun.mass or noun.is_a("family") or clause.tense == "gern":
        return None
    s.relations.clear()
    s.relations.add((verb.lemma, noun.lemma))
    plural = not verb.one and not noun.is_a("person") and s.dice.chance(0.25)
    if s.dice.chance(0.5) or not plural:
        asked = s.noun(noun, "welch", plural, 0.1)
        german, english = asked.de["acc"], asked.en
    else:
        german = f"wie viele {noun.plural}"
        english = f"how many {noun.english_plural}"
    return clause.german_main(german, ("object",)), clause.english_question(english, ("object",)), "?"


def where_question(s):
    """wo, wohin, wann, warum, um wie viel Uhr."""
    kind = s.dice.weighted([("wo", 3), ("wohin", 2), ("wann", 4), ("warum", 5)])
    if kind == "wohin":
        clause = s.clause(verb=s.dice.pick(verbs.MOTION), formal=True, negation=0, brief=True)
        clause.manner = None
        return clause.german_main("wohin", ("direction",)), clause.english_question("where", ("direction",)), "?"
    if kind == "wo":
        verb = s.dice.pick([v for v in verbs.VERBS if v.places or v.infinitive == "wohnen"])
        clause = s.clause(verb=verb, formal=True, negation=0, brief=True)
        return clause.german_main("wo", ("place",)), clause.english_question("where", ("place",)), "?"
    clause = s.clause(formal=True, negation=0.3 if kind == "warum" else 0, brief=True)
    if kind == "wann":
        if clause.verb.state or clause.tense == "progressive":
            return None
        clause.time = None
        if clause.tense == "soon":
            clause.tense = "present"
        return clause.german_main("wann"), clause.english_question("when"), "?"
    return clause.german_main("warum"), clause.english_question("why"), "?"


# Subordinate clauses --------------------------------------------------------------------------------------


def _state_clause(s, subject, tense="present"):
    """How someone feels; places are left out, since the sentence may name another one."""
    predicate = s.dice.pick([state for state in modifiers.STATES if state[0] != "zu Hause"])
    return Clause(subject, None, tense, predicate=predicate)


def _join(s, conjunction, main, other):
    """(main clause, subordinate clause) in a sentence, the subordinate one first or last."""
    german_word, english_word = conjunction
    if other.verb is not None:
        s.relations.add((german_word, other.verb.lemma))
    german_other = other.german_verb_final(opening=german_word)
    english_other = other.english_statement(english_word)
    front = s.dice.chance(0.35) and german_word != "dass" and german_word != "ob"
    if front:
        return f"{main.german_main(german_other + ',')}", f"{english_other}, {main.english_statement()}", "."
    return f"{main.german_main()}, {german_other}", f"{main.english_statement()} {english_other}", "."


def because(s):
    """weil and obwohl: a reason that lies with the same person."""
    conjunction = s.dice.weighted([(("weil", "because"), 7), (("obwohl", "although"), 3)])
    kind = s.dice.weighted([("state", 40), ("modal", 34), ("other", 16), ("rain", 10)])
    state = s.dice.pick(modifiers.STATES)
    if kind in ("state", "rain"):
        verb, negated = s.reaction(state[0] if kind == "state" else "regnen", conjunction[0] == "obwohl")
        main = s.clause(s.person() if s.dice.chance(0.6) else s.subject(), verb, brief=True,
                        tense=s.dice.pick(["present", "past", "past", "future"]), negation=1.0 * negated)
        main.frequency = None
        if main.tense == "progressive" or (negated and not main.negated):
            return None
    else:
        main = s.clause(brief=True, negation=0.2)
    same = phrases.anaphor(main.subject)
    if same is None:
        return None
    past = main.tense in ("past", "preterite", "pluperfect") or main.tense.endswith("+past")
    if kind == "rain":
        weather = ("es geregnet hat", "it rained") if past else ("es regnet", "it is raining")
        return (f"{main.german_main()}, {conjunction[0]} {weather[0]}",
                f"{main.english_statement()} {conjunction[1]} {weather[1]}", ".")
    if kind == "state":
        other = Clause(same, None, "preterite" if past else "present", predicate=state)
    else:
        modals = ["müssen", "wollen", "können"] + ([] if past else ["möchten", "dürfen"])
        verb = s.verb()
        if kind == "modal" and not (verb.state or verb.accident):
            tense = s.dice.pick(modals) + ("+past" if past else "")
        elif verb.state:
            tense = "preterite" if past else "present"
        else:
            tense = "past" if past or s.dice.chance(0.5) else "present"
        other = s.clause(same, verb, tense, brief=True, negation=0.2, pronouns=False)
    return _join(s, conjunction, main, other)


def condition(s):
    """wenn, bevor, sobald: two events in the present."""
    word = s.dice.weighted([(("wenn", "if"), 6), (("bevor", "before"), 2), (("sobald", "as soon as"), 2)])
    subject = s.subject()
    same = phrases.anaphor(subject)
    if same is None:
        return None
    first = same if s.dice.chance(0.6) else s.person()
    state = s.dice.pick(modifiers.STATES) if word[0] == "wenn" and s.dice.chance(0.25) else None
    if state:
        other, first = Clause(subject, None, "present", predicate=state), same
    else:
        verb = s.verb()
        if verb.state:
            return None
        other = s.clause(subject, verb, "present", brief=True, negation=0.15 if word[0] == "wenn" else 0)
        other.frequency = None
    verb, negated = s.reaction(state[0], against=False) if state else (s.verb(), s.dice.chance(0.1))
    if verb.state:
        return None
    tense = s.dice.pick(["present", "future"] if verb.accident or negated else
                        ["present", "future", "müssen", "können"])
    main = s.clause(first, verb, tense, brief=True, negation=1.0 * negated, pronouns=False)
    main.frequency = None
    if other.verb is not None:
        s.relations.add((word[0], other.verb.lemma))
    # The full noun phrase comes first, the pronoun after it.
    german_other = other.german_verb_final(opening=word[0])
    english_other = other.english_statement(word[1])
    return f"{main.german_main(german_other + ',')}", f"{english_other}, {main.english_statement()}", "."


def story(s):
    """als (preterite) and nachdem (pluperfect)."""
    subject = s.subject()
    same = phrases.anaphor(subject)
    if same is None:
        return None
    word, tense = s.dice.pick([(("als", "when"), "preterite"), (("nachdem", "after"), "pluperfect")])
    verb = s.verb()
    if verb.state:
        return None
    if tense == "preterite" and subject.person == 2:
        return None
    other = s.clause(subject, verb, tense, brief=True, negation=0)
    first = same if s.dice.chance(0.6) else s.person()
    verb = s.verb()
    if verb.state or first.lemmas & subject.lemmas:
        return None
    main = s.clause(first, verb, "past", brief=True, negation=0, pronouns=False)
    s.relations.add((word[0], other.verb.lemma))
    german_other = other.german_verb_final(opening=word[0])
    return (f"{main.german_main(german_other + ',')}",
            f"{other.english_statement(word[1])}, {main.english_statement()}", ".")


_SAYING = [("wissen", "present"), ("glauben", "present"), ("hoffen", "present"), ("denken", "present"),
           ("sagen", "past"), ("hören", "past"), ("schreiben", "past"), ("vergessen", "past")]


def reported(s):
    """dass and ob."""
    dice = s.dice
    subject = s.subject()
    lemma, tense = dice.pick(_SAYING)
    itself = lemma != "hören" and dice.chance(0.3)
    inner_subject = (phrases.anaphor(subject) if itself else s.subject()) or s.person()
    if lemma == "hören" and inner_subject.en == subject.en:
        return None
    if dice.chance(0.25):
        return _whether(s, subject, inner_subject)
    verb = _SAYING_VERBS[lemma]
    main = Clause(subject, verb, tense,
                  negated=lemma == "wissen" and subject.person == 3 and dice.chance(0.4))
    inner = s.clause(inner_subject, brief=True, negation=0.2, pronouns=False)
    return _join(s, ("dass", "that"), main, inner)


def _whether(s, subject, inner_subject):
    if inner_subject.person == subject.person and subject.person != 3:
        return None
    inner = s.clause(inner_subject, brief=True, negation=0, pronouns=False)
    s.relations.add(("ob", inner.verb.lemma))
    opening = inner.german_verb_final(opening="ob"), inner.english_statement("whether")
    if s.dice.chance(0.3):
        return f"wissen Sie, {opening[0]}", f"do you know {opening[1]}", "?"
    main = Clause(subject, _SAYING_VERBS["wissen"], "present", negated=True)
    return f"{main.german_main()}, {opening[0]}", f"{main.english_statement()} {opening[1]}", "."


_SAYING_VERBS = {
    "wissen": plain_verb("wissen", "know knew known", "- wusste gewusst"),
    "glauben": plain_verb("glauben", "believe"), "hoffen": plain_verb("hoffen", "hope"),
    "denken": plain_verb("denken", "think thought", "- dachte gedacht"),
    "sagen": plain_verb("sagen", "say said"), "hören": plain_verb("hören", "hear heard"),
    "schreiben": plain_verb("schreiben", "write wrote written", "- schrieb geschrieben"),
    "vergessen": plain_verb("vergessen", "forget forgot forgotten", "vergiss vergaß vergessen"),
}
_TRYING = [plain_verb("versuchen", "try"), plain_verb("hoffen", "hope"), plain_verb("planen", "plan"),
           plain_verb("vergessen", "forget forgot forgotten", "vergiss vergaß vergessen"),
           plain_verb("an|fangen", "start", "fäng fing gefangen"),
           plain_verb("versprechen", "promise", "versprich versprach versprochen"),
           plain_verb("beschließen", "decide", "- beschloss beschlossen")]


def relative_subject(s):
    """'Der Mann, der das Buch liest, ...'."""
    head = s.person(adjective=0.1, simple=True)
    if head.kind != "noun" or nouns.BY_LEMMA[min(head.lemmas)].is_a("family"):
        return None
    verb = s.verb()
    tense = "present" if verb.state else s.dice.pick(["present", "past", "past", "progressive"])
    inner = s.clause(dataclasses.replace(phrases.relative_subject(head), own=()), verb, tense, brief=True,
                     negation=0.08, pronouns=False)
    return _with_relative(s, head, inner, ())


def relative_object(s):
    """'Das Buch, das der Mann liest, ...': nominative marks the subject, so it is read one way only."""
    verb = s.dice.pick([v for v in verbs.ACCUSATIVE + verbs.DATIVE if v.infinitive != "zählen"])
    noun = s.dice.pick(s.objects[id(verb)])
    if noun.mass or noun.is_a("family"):
        return None
    head = s.noun(noun, "der", False, 0.1 if noun.is_a("person") else 0)
    s.relations.add((verb.lemma, noun.lemma))
    if s.dice.chance(0.5):
        subject = s.dice.pick([phrases.I, phrases.DU, phrases.WE, phrases.HE])
    else:
        subject = s.noun(s.dice.pick([n for n in s.people if n.gender == "m" and n.lemma != noun.lemma]))
    tense = s.dice.pick(["present", "preterite"] if verb.state and subject.person != 2 else ["present"]
                        if verb.state else ["past", "past", "present", "wollen"])
    if verb.accident and tense == "wollen":
        return None
    case = "dat" if verb.frame == "dat" else "acc"
    inner = Clause(subject, verb, tense, object=head)
    return _with_relative(s, head, inner, ("object",), phrases.relative_pronoun(head, case),
                          "whom" if head.human else "that")


def _with_relative(s, head, inner, skip, german_opening="", english_opening=""):
    """Puts the relative clause into a short main clause whose subject or object is the head."""
    german = inner.german_verb_final(skip, german_opening)
    english = inner.english_statement(english_opening, skip)
    dice = s.dice
    if head.human:
        subject = phrases.extend(head, f", {german},", english)
        if dice.chance(0.5):
            made = _state_clause(s, subject, dice.pick(["present", "preterite"]))
            return made.german_main(), made.english_statement(), "."
        if dice.chance(0.4):
            city = dice.pick(modifiers.CITIES)
            made = Clause(subject, _WOHNEN, "present", place=(f"in {city[0]}", f"in {city[1]}"))
            return made.german_main(), made.english_statement(), "."
        chosen = dice.pick(["kennen", "besuchen", "fragen"])
        verb = next(v for v in verbs.ACCUSATIVE if v.infinitive == chosen)
        tense = "present" if verb.state else "past"
        who = dice.pick([phrases.I, phrases.WE, phrases.DU])
        s.relations |= {(verb.lemma, lemma) for lemma in head.lemmas}
        return (f"{Clause(who, verb, tense, object=subject).german_main().rstrip(',')}",
                Clause(who, verb, tense, object=subject).english_statement(), ".")
    subject = phrases.extend(head, f", {german},", english)
    noun = nouns.BY_LEMMA[min(head.lemmas)]
    fitting = s.adjectives.get(noun.lemma)
    if not fitting:
        return None
    adjective = dice.pick(fitting)
    made = Clause(subject, None, dice.pick(["present", "present", "preterite"]),
                  predicate=(adjective.predicate, adjective.english), negated=dice.chance(0.2))
    return made.german_main(), made.english_statement(), "."


_WOHNEN = next(v for v in verbs.VERBS if v.infinitive == "wohnen")


_NO_GOALS = ("weggehen", "aufstehen", "einschlafen", "zurückkommen", "ankommen", "lachen", "lächeln", "bekommen")

_LASTING = ("lesen", "schreiben", "kochen", "backen", "malen", "lernen", "bauen", "putzen", "lachen", "singen",
            "tanzen", "arbeiten", "übersetzen", "reparieren", "aufräumen", "spielen", "suchen", "waschen", "essen", "träumen")


def infinitive(s):
    """zu and um ... zu."""
    dice = s.dice
    subject = s.subject()
    verb = s.verb()
    if verb.state or verb.accident:
        return None
    if dice.chance(0.4):
        if verb.lemma in _NO_GOALS or verb in verbs.MOTION:
            return None
        goal = s.clause(subject, verb, "present", brief=True, negation=0, pronouns=False)
        goal.frequency = None
        go = dice.pick([v for v in verbs.MOTION if v.infinitive not in ("laufen", "kommen")])
        tense = dice.pick(["past", "present", "future", "müssen", "wollen"])
        main = s.clause(subject, go, tense, brief=True, negation=0)
        return (f"{main.german_main()}, um {goal.german_zu()}",
                f"{main.english_statement()} in order {goal.english_to()}", ".")
    trying = dice.pick(_TRYING)
    if trying.prefix == "an" and verb.lemma not in _LASTING:
        return None
    main = Clause(subject, trying, dice.pick(["past", "past", "present"]))
    goal = s.clause(subject, verb, "present", brief=True, negation=0, pronouns=False)
    goal.frequency = None
    return f"{main.german_main()}, {goal.german_zu()}", f"{main.english_statement()} {goal.english_to()}", "."
