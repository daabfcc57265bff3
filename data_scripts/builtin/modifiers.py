"""Adjectives, numbers, names, times and places of the toy lexicon."""

# German stem, English, noun classes; an inflected stem in parentheses where it differs.
_ADJECTIVES = """
groß, big: thing furniture animal building room plant place -Messer -Schlüssel -Karte -Foto -Bleistift -Handy
klein, small: thing furniture animal building room plant clothes road dish fruit young place
alt, old: adult thing furniture building vehicle clothes read animal room
neu, new: thing furniture vehicle clothes read instrument building
jung, young: adult animal
rot, red: color clothes road plant fruit -Birne -Banane -Orange -Kartoffel -Ei -Baum -Pflanze
blau, blue: color clothes road furniture
grün, green: color clothes road furniture =Apfel =Birne =Baum =Pflanze
gelb, yellow: color clothes road =Blume =Rose =Birne =Banane
schwarz, black: color clothes vehicle pet furniture =Pferd =Kuh
weiß, white: clothes color road dishes pet furniture =Rose =Blume =Pferd -Messer -Flasche
braun, brown: clothes color pet furniture =Pferd =Kuh =Ei =Bär
grau, gray: clothes color vehicle =Katze =Kaninchen =Elefant
schön, beautiful: clothes building plant art animal place furniture -Supermarkt -Krankenhaus -Flughafen -Bahnhof
teuer (teur), expensive: thing clothes vehicle furniture building instrument drink dish -Wasser
billig, cheap: thing clothes furniture drink fruit dish foodmass
frisch, fresh: fruit foodmass dish -Schokolade -Pizza =Milch =Saft
lecker, delicious: fruit foodmass dish
kalt, cold: cold =Suppe =Kaffee =Tee
heiß, hot: hot =Milch =Suppe
süß, sweet: =Apfel =Birne =Orange =Kuchen =Saft =Wein =Banane
interessant, interesting: read art sight lesson place
langweilig, boring: read art lesson
spannend, exciting: =Buch =Roman =Geschichte =Film =Theaterstück
lang, long: read art -Bild =Satz =Wort =Kleid =Rock =Brücke =Mantel
kurz, short: read art -Bild =Satz =Wort =Rock =Kleid -Zeitung
schwierig, difficult: lesson text
einfach, simple: lesson =Gedicht =Geschichte
wichtig, important: lesson =Brief =Nachricht =Bericht =Buch
nett, nice: adult young family
freundlich, friendly: adult young family pet
klug, smart: adult young pet
fleißig, hard-working: adult young
faul, lazy: adult young pet
reich, rich: adult
arm, poor: adult
berühmt, famous: =Musiker =Sängerin =Maler =Schauspielerin =Koch =Arzt =Ärztin art sight
höflich, polite: adult young
mutig, brave: adult young
stark, strong: adult =Bär =Elefant =Pferd =Hund
müde, tired: adult young animal
hungrig, hungry: adult young animal
krank, sick: adult young animal
schwer, heavy: luggage furniture =Computer
leicht, light: luggage =Computer =Stuhl =Jacke
schnell, fast: vehicle =Pferd
langsam, slow: vehicle =Computer
kaputt, broken: device road =Stuhl =Fenster =Regenschirm =Klavier
schmutzig, dirty: clothes dishes pane room road pet -Flasche
sauber, clean: clothes dishes pane room road
leer, empty: =Glas =Flasche =Kiste =Tasche =Koffer =Tasse =Zimmer =Schrank
laut, loud: =Hund =Konzert =Lied =Kind =Restaurant
ruhig, quiet: room =Dorf =Park =Hotel =Wohnung =Kind
modern, modern: building -Schloss -Turm device room =Büro =Krankenhaus =Bahnhof =Flughafen
"""

# Comparative where it is not stem + er; English comparative where it is not 'more' + adjective.
_COMPARATIVES = {
    "groß": ("größer", "bigger"), "klein": ("kleiner", "smaller"), "alt": ("älter", "older"),
    "jung": ("jünger", "younger"), "schön": ("schöner", "more beautiful"), "teuer": ("teurer", "more expensive"),
    "billig": ("billiger", "cheaper"), "schnell": ("schneller", "faster"), "langsam": ("langsamer", "slower"),
    "schwer": ("schwerer", "heavier"), "leicht": ("leichter", "lighter"), "lang": ("länger", "longer"),
    "kurz": ("kürzer", "shorter"), "nett": ("netter", "nicer"), "klug": ("klüger", "smarter"),
    "stark": ("stärker", "stronger"), "reich": ("reicher", "richer"), "laut": ("lauter", "louder"),
    "ruhig": ("ruhiger", "quieter"), "fleißig": ("fleißiger", "more hard-working"),
    "interessant": ("interessanter", "more interesting"), "langweilig": ("langweiliger", "more boring"),
    "spannend": ("spannender", "more exciting"), "schwierig": ("schwieriger", "more difficult"),
    "wichtig": ("wichtiger", "more important"), "freundlich": ("freundlicher", "friendlier"),
    "höflich": ("höflicher", "more polite"), "mutig": ("mutiger", "braver"), "modern": ("moderner", "more modern"),
    "heiß": ("heißer", "hotter"), "kalt": ("kälter", "colder"), "berühmt": ("berühmter", "more famous"),
}


class Adjective:
    """`stem` takes the endings; `predicate` stands after sein; `comparative` is (German, English) or None."""

    def __init__(self, line):
        words, _, classes = line.partition(":")
        german, self.english = (part.strip() for part in words.split(","))
        self.predicate, _, inflected = german.partition(" (")
        self.stem = inflected.rstrip(")") or self.predicate.removesuffix("e")
        self.classes = classes.strip()
        self.comparative = _COMPARATIVES.get(self.predicate)


def load_adjectives(of_class):
    """{noun lemma: [Adjective]}; `of_class` is nouns.of_class."""
    by_noun = {}
    for line in _ADJECTIVES.strip().splitlines():
        adjective = Adjective(line)
        for noun in of_class(adjective.classes):
            by_noun.setdefault(noun.lemma, []).append(adjective)
    return by_noun


# States of people, after 'sein': German, English.
STATES = [("müde", "tired"), ("krank", "sick"), ("hungrig", "hungry"), ("durstig", "thirsty"),
          ("glücklich", "happy"), ("traurig", "sad"), ("wütend", "angry"), ("zufrieden", "satisfied"),
          ("nervös", "nervous"), ("allein", "alone"), ("fertig", "ready"), ("zu Hause", "at home")]

# What people do and what they leave when they are in that state, or when it rains: verbs of verbs.VERBS.
REACTIONS = {
    "müde": ("schlafen weggehen zurückkommen einschlafen",
             "tanzen arbeiten aufräumen kochen einkaufen lesen singen"),
    "krank": ("schlafen anrufen", "arbeiten tanzen singen einkaufen Fußball_spielen reparieren putzen"),
    "hungrig": ("essen kochen backen probieren frühstücken", "warten schlafen arbeiten tanzen"),
    "durstig": ("trinken", "singen tanzen warten arbeiten"),
    "glücklich": ("singen tanzen lachen lächeln einladen", "weinen weggehen"),
    "traurig": ("weinen anrufen weggehen schreiben", "lachen lächeln singen tanzen Fußball_spielen"),
    "wütend": ("weggehen wegwerfen zerbrechen", "helfen antworten danken lachen gratulieren einladen zuhören"),
    "zufrieden": ("lächeln danken singen lachen", "weinen fragen"),
    "nervös": ("fragen anrufen weinen", "schlafen essen lesen lachen frühstücken"),
    "allein": ("anrufen schreiben lesen weinen besuchen Klavier_spielen malen", "lachen tanzen singen kochen"),
    "fertig": ("weggehen zurückkommen anrufen frühstücken einkaufen", "arbeiten warten lernen"),
    "zu Hause": ("kochen backen aufräumen lesen putzen schlafen waschen", "einkaufen treffen fotografieren"),
    "regnen": ("lesen schlafen warten Schach_spielen kochen backen", "schwimmen Fußball_spielen einkaufen spielen"),
}

NAMES = {"m": ["Peter", "Thomas", "Paul", "Max", "Felix", "Jonas", "Lukas", "Martin"],
         "f": ["Anna", "Maria", "Lena", "Julia", "Sophie", "Laura", "Emma", "Clara"]}

CITIES = [("Berlin", "Berlin"), ("Hamburg", "Hamburg"), ("Wien", "Vienna"), ("München", "Munich"),
          ("Köln", "Cologne"), ("Zürich", "Zurich"), ("Rom", "Rome"), ("Paris", "Paris"), ("London", "London"),
          ("Dresden", "Dresden"), ("Prag", "Prague"), ("Leipzig", "Leipzig")]

WEEKDAYS = [("Montag", "Monday"), ("Dienstag", "Tuesday"), ("Mittwoch", "Wednesday"), ("Donnerstag", "Thursday"),
            ("Freitag", "Friday"), ("Samstag", "Saturday"), ("Sonntag", "Sunday")]

_UNITS_DE = ["null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf",
             "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"]
_TENS_DE = ["", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
_UNITS_EN = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
             "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS_EN = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def number_words(n):
    """(German, English) of 2..999, as written before a plural noun."""
    hundreds, rest = divmod(n, 100)
    german, english = [], []
    if hundreds:
        german.append(("" if hundreds == 1 else _UNITS_DE[hundreds]) + "hundert")
        english.append(f"{_UNITS_EN[hundreds]} hundred")
    tens, unit = divmod(rest, 10)
    if 0 < rest < 20:
        german.append(_UNITS_DE[rest])
        english.append(_UNITS_EN[rest])
    elif rest:
        german.append(f"{_UNITS_DE[unit]}und{_TENS_DE[tens]}" if unit else _TENS_DE[tens])
        english.append(f"{_TENS_EN[tens]}-{_UNITS_EN[unit]}" if unit else _TENS_EN[tens])
    return "".join(german), " and ".join(english)


PAST_TIMES = [("gestern", "yesterday"), ("vorgestern", "the day before yesterday"), ("letzte Woche", "last week"),
              ("gestern Abend", "yesterday evening"), ("heute Morgen", "this morning"),
              ("letztes Jahr", "last year"), ("letzten Sommer", "last summer"), ("letzten Monat", "last month"),
              ("vor einer Stunde", "an hour ago"), ("vor einem Jahr", "a year ago"),
              ("gestern Nachmittag", "yesterday afternoon")]
FUTURE_TIMES = [("morgen", "tomorrow"), ("übermorgen", "the day after tomorrow"), ("nächste Woche", "next week"),
                ("morgen Abend", "tomorrow evening"), ("heute Abend", "this evening"), ("nächstes Jahr", "next year"),
                ("nächsten Monat", "next month"), ("nächsten Sommer", "next summer"), ("bald", "soon"),
                ("in einer Stunde", "in an hour"), ("morgen Nachmittag", "tomorrow afternoon")]
HABIT_TIMES = [("jeden Tag", "every day"), ("jeden Morgen", "every morning"), ("jeden Abend", "every evening"),
               ("jede Woche", "every week"), ("am Wochenende", "on the weekend"), ("am Abend", "in the evening"),
               ("am Nachmittag", "in the afternoon"), ("im Sommer", "in summer"), ("im Winter", "in winter"),
               ("nach der Arbeit", "after work"), ("nach dem Essen", "after the meal")]
OPEN_TIMES = [("heute", "today"), ("jetzt", "now")]  # with modal verbs
FREQUENCIES = [("oft", "often"), ("immer", "always"), ("manchmal", "sometimes"), ("nie", "never"),
               ("selten", "rarely"), ("meistens", "usually")]
SPANS = [("Tag", "Tagen", "days"), ("Woche", "Wochen", "weeks"), ("Monat", "Monaten", "months"),
         ("Jahr", "Jahren", "years"), ("Stunde", "Stunden", "hours")]


def clock_time(dice):
    """A time of day: 'um halb neun' is 'at half past eight'."""
    hour = 1 + dice.below(12)
    following = hour % 12 + 1
    german = ["eins" if h == 1 else _UNITS_DE[h] for h in range(13)]
    kind = dice.below(6)
    if kind == 0:
        return f"um halb {german[following]}", f"at half past {_UNITS_EN[hour]}"
    if kind == 1:
        return f"um Viertel nach {german[hour]}", f"at a quarter past {_UNITS_EN[hour]}"
    if kind == 2:
        return f"um Viertel vor {german[hour]}", f"at a quarter to {_UNITS_EN[hour]}"
    return f"um {_UNITS_DE[hour]} Uhr", f"at {_UNITS_EN[hour]} o'clock"


# Places: groups of activities, German where, English where, German whither, English whither.
_PLACES = """
shop, auf dem Markt, at the market, auf den Markt, to the market
shop, im Supermarkt, at the supermarket, in den Supermarkt, to the supermarket
shop out, in der Stadt, in the city, in die Stadt, to the city
home sleep, zu Hause, at home, nach Hause, home
home out eat read, im Garten, in the garden, in den Garten, into the garden
kitchen eat, in der Küche, in the kitchen, in die Küche, into the kitchen
kitchen, zu Hause, at home, ,
eat talk, im Restaurant, at the restaurant, ins Restaurant, to the restaurant
eat talk sleep, im Hotel, at the hotel, ins Hotel, to the hotel
read work, in der Bibliothek, in the library, in die Bibliothek, to the library
work read, in der Schule, at school, in die Schule, to school
work, im Büro, at the office, ins Büro, to the office
work read, an der Universität, at the university, zur Universität, to the university
work, im Krankenhaus, at the hospital, ins Krankenhaus, to the hospital
talk, am Bahnhof, at the station, zum Bahnhof, to the station
talk, am Flughafen, at the airport, zum Flughafen, to the airport
out read talk, im Park, in the park, in den Park, to the park
out talk, am Strand, at the beach, an den Strand, to the beach
out, im Wald, in the forest, in den Wald, into the forest
out, am See, at the lake, an den See, to the lake
out, im Dorf, in the village, ins Dorf, to the village
talk, vor dem Kino, in front of the cinema, ins Kino, to the cinema
talk, vor dem Theater, in front of the theater, ins Theater, to the theater
talk, im Museum, at the museum, ins Museum, to the museum
lake, im See, in the lake, ,
lake, im Schwimmbad, at the swimming pool, ins Schwimmbad, to the swimming pool
"""
PLACES = [tuple(part.strip() for part in line.split(",")) for line in _PLACES.strip().splitlines()]
DIRECTIONS = [(de, en) for _, _, _, de, en in PLACES if de]
VEHICLES = [("mit dem Zug", "by train"), ("mit dem Bus", "by bus"), ("mit dem Auto", "by car"),
            ("mit dem Fahrrad", "by bicycle"), ("mit der Straßenbahn", "by tram")]
ANIMAL_PLACES = [("im Garten", "in the garden"), ("im Park", "in the park"), ("im Wald", "in the forest")]


def places_of(groups):
    """(German, English) of the places where activities of the given groups happen."""
    return [(de, en) for names, de, en, _, _ in PLACES if set(names.split()) & set(groups)]
