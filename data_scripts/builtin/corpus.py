"""Draws sentences, holds combinations out and splits into training, validation and test sets."""

import dataclasses

from . import descriptions, german, nouns, patterns, sentences, verbs
from .dice import Dice
from .sampler import Sampler

PATTERNS = [
    (sentences.statement, 28), (sentences.yes_no_question, 7), (sentences.who_question, 3),
    (sentences.what_question, 3), (sentences.which_question, 3), (sentences.where_question, 5),
    (sentences.because, 6), (sentences.condition, 4), (sentences.story, 3), (sentences.reported, 5),
    (sentences.relative_subject, 5), (sentences.relative_object, 4), (sentences.infinitive, 5),
    (descriptions.predicate, 6), (descriptions.comparison, 3), (descriptions.price_or_age, 4), (patterns.order, 4),
    (descriptions.existence, 2), (descriptions.position, 4), (descriptions.living, 4), (patterns.dative_subject, 4),
    (patterns.passive, 4), (patterns.coordination, 4), (patterns.object_first, 2), (patterns.owner, 3),
    (descriptions.weather, 1),
]
WORDS = (3, 16)  # limits on the German words of a sentence


@dataclasses.dataclass(frozen=True)
class Sentence:
    """One pair with the lemmas that decide whether training may have it."""

    german: str
    english: str
    together: frozenset  # (verb, noun) and (conjunction, verb) that meet anywhere in the sentence
    relations: frozenset  # those of them that belong together


def _finish(text, mark):
    text = text.replace(" ,", ",").replace(",,", ",").replace("can not", "cannot").strip(", ")
    return text[0].upper() + text[1:] + mark


def draw(sampler):
    """One sentence, or None where the draw came to nothing."""
    sampler.begin()
    drawn = sampler.dice.weighted(PATTERNS)(sampler)
    if drawn is None:
        return None
    german, english, mark = drawn
    if not WORDS[0] <= len(german.split()) <= WORDS[1]:
        return None
    german = _finish(german, mark)
    return Sentence(german, _finish(english, mark), _together(german), frozenset(sampler.relations))


def words(text):
    """Words without punctuation; the sentence's first one in lower case."""
    first, *rest = (word.strip(".,!?") for word in text.split())
    return [first.lower(), *rest]


def _lemmas_of_forms():
    """({form: verb lemmas}, {form: noun lemmas}) of the whole lexicon."""
    of_verbs, of_nouns = {}, {}
    for verb in verbs.VERBS:
        for form in verb.forms():
            of_verbs.setdefault(form, set()).add(verb.lemma)
    for noun in nouns.NOUNS:
        for plural in (False,) if noun.mass else (False, True):
            for case in german.CASES:
                of_nouns.setdefault(german.noun(noun, plural, case), set()).add(noun.lemma)
    return of_verbs, of_nouns


_VERBS, _NOUNS = _lemmas_of_forms()
_CONJUNCTIONS = ("weil", "dass", "wenn", "obwohl", "bevor", "als", "nachdem", "ob")


def _together(text):
    """(verb, noun) and (conjunction, verb) that any form in the sentence may stand for, related or not."""
    found = words(text)
    found.append(found[0].capitalize())
    verb_lemmas = set().union(*(_VERBS.get(word, ()) for word in found))
    noun_lemmas = set().union(*(_NOUNS.get(word, ()) for word in found))
    pairs = {(verb, noun) for verb in verb_lemmas for noun in noun_lemmas}
    return frozenset(pairs | {(word, verb) for word in found if word in _CONJUNCTIONS for verb in verb_lemmas})


def _combinations(sampler):
    """All (verb, noun) pairs of the lexicon whose forms stand for nothing else, by verb."""
    able = {}
    for verb in verbs.ACCUSATIVE:
        # 'gehört' may be of two verbs, 'Fragen' at the start of a sentence may be the noun.
        clear = all(len(_VERBS[form]) == 1 and form.capitalize() not in _NOUNS for form in verb.forms())
        if clear and not verb.english.preposition and verb.infinitive not in ("haben", "werden"):
            able[verb.lemma] = [n.lemma for n in sampler.objects[id(verb)] if n.gender and not n.is_a("family")]
    return {verb: lemmas for verb, lemmas in able.items() if len(lemmas) >= 7}


def held_out(sampler, dice):
    """(verb, noun) and (conjunction, verb) combinations that training must not have.

    At most a seventh of a verb's nouns and a third of a noun's verbs, so each word stays well covered.
    """
    able = _combinations(sampler)
    verbs_of, taken = {}, {}
    for lemmas in able.values():
        for lemma in lemmas:
            verbs_of[lemma] = verbs_of.get(lemma, 0) + 1
    pairs = set()
    for verb, lemmas in able.items():
        order = list(lemmas)
        dice.shuffle(order)
        for lemma in order:
            if sum(v == verb for v, _ in pairs) >= min(4, len(lemmas) // 7):
                break
            if 3 * (taken.get(lemma, 0) + 1) <= verbs_of[lemma]:
                taken[lemma] = taken.get(lemma, 0) + 1
                pairs.add((verb, lemma))
    order = sorted(v.lemma for v in verbs.ACCUSATIVE if v.lemma in able and not v.state)
    dice.shuffle(order)
    clauses = set()
    for index, conjunction in enumerate(_CONJUNCTIONS):
        clauses |= {(conjunction, verb) for verb in order[3 * index:3 * index + 3]}
    return frozenset(pairs), frozenset(clauses)


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Sets are lists of (German, English); `pairs` and `clauses` are the combinations held out."""

    sets: dict
    pairs: frozenset
    clauses: frozenset


class TooFew(Exception):
    """The grammar could not draw as many distinct pairs as were asked for."""


def generate(pairs, seed, held=500, novel=200, progress=lambda done, wanted: None):
    """Draws `pairs` distinct pairs in all for train, valid and test, and `novel` more for test_novel.

    No German and no English sentence comes twice anywhere.
    """
    sampler = Sampler(Dice(seed))
    verb_nouns, clause_verbs = held_out(sampler, Dice(f"held out {seed}"))
    apart = verb_nouns | clause_verbs
    seen, common, rare, idle = set(), [], [], 0
    while len(common) < pairs or len(rare) < 2 * novel:
        idle += 1
        if idle > 20000:
            raise TooFew(f"the grammar gave only {len(common)} of {pairs} distinct pairs")
        sentence = draw(sampler)
        if sentence is None or sentence.german in seen or sentence.english in seen:
            continue
        if sentence.relations & sentence.together & apart:
            if len(rare) >= 2 * novel:
                continue
            rare.append(sentence)
        elif sentence.together & apart or len(common) >= pairs:
            continue
        else:
            common.append(sentence)
            progress(len(common), pairs)
        seen |= {sentence.german, sentence.english}
        idle = 0
    sets = {"train": common[:pairs - 2 * held], "valid": common[pairs - 2 * held:pairs - held],
            "test": common[pairs - held:]}
    sets["test_novel"] = _covered(rare, sets["train"], novel)
    texts = {name: [(s.german, s.english) for s in chosen] for name, chosen in sets.items()}
    return Corpus(texts, verb_nouns, clause_verbs)


def _covered(rare, train, novel, least=5):
    """The first `novel` sentences whose every word training has at least `least` times."""
    counts = {}
    for sentence in train:
        for word in {w.lower() for text in (sentence.german, sentence.english) for w in words(text)}:
            counts[word] = counts.get(word, 0) + 1
    least = min(least, 1 + len(train) // 4000)
    chosen = [s for s in rare
              if all(counts.get(w.lower(), 0) >= least for text in (s.german, s.english) for w in words(text))]
    if len(chosen) < novel:
        raise TooFew(f"only {len(chosen)} of {novel} novel pairs have their words covered in training; "
                     "ask for more pairs")
    return chosen[:novel]
