"""Verbs of the toy lexicon: conjugation, English, sentence frame and what they select."""

import dataclasses

from . import english, german


@dataclasses.dataclass(frozen=True)
class Verb:
    """One verb with its frame.

    frame: intr, acc, dat, ditr, prep (object with preposition), dir (goes somewhere), live (place needed),
    put (object and direction).
    """

    infinitive: str  # without prefix
    english: english.EnglishVerb
    frame: str
    prefix: str = ""  # separable prefix
    idiom: str = ""  # bare noun that belongs to the verb ("Klavier spielen")
    changed: str = ""  # stem of du and er
    past_stem: str = ""
    participle: str = ""
    auxiliary: str = "haben"
    subject: str = "person"  # person, animal or both
    objects: str = ""  # noun classes of the object
    places: tuple = ()
    preposition: str = ""
    case: str = ""  # case that the preposition governs
    state: bool = False  # no progressive, imperative or 'gern'
    one: bool = False  # its object is a single thing
    owned: bool = False  # its object may well be one's own
    known: bool = False  # its object is definite
    gern: bool = False  # people do it for pleasure
    sudden: bool = False  # over at once: no progressive
    accident: bool = False  # happens to people: no modal verbs, no orders

    @property
    def lemma(self):
        return self.prefix + (f"{self.idiom} " if self.idiom else "") + self.infinitive

    @property
    def full_infinitive(self):
        return self._behind(self.infinitive)

    @property
    def zu_infinitive(self):
        if self.prefix:
            return f"{self.prefix}zu{self.infinitive}"
        return self._behind(f"zu {self.infinitive}")

    @property
    def full_participle(self):
        return self._behind(self.participle or german.weak_participle(self.infinitive))

    def _behind(self, form):
        return f"{self.idiom} {form}" if self.idiom else self.prefix + form

    def present(self, person, plural):
        return german.present(self.infinitive, self.changed, person, plural)

    def preterite(self, person, plural):
        return german.preterite(self.infinitive, self.past_stem, person, plural)

    def forms(self):
        """All finite forms, participle and infinitive as they stand in one word."""
        persons = [(p, n) for p in (1, 2, 3) for n in (False, True)]
        finite = {f(*x) for f in (self.present, self.preterite) for x in persons}
        joined = {self.prefix + form for form in finite}
        return finite | joined | {self.full_infinitive, self.zu_infinitive, self.full_participle}


def _verb(name, meaning, frame, strong="", particle="", at="", prep="", flags="", obj="", subj="person"):
    """`name` 'auf|machen' marks a separable prefix, 'Klavier_spielen' an idiom.

    `strong` is 'changed-stem preterite participle' with '-' for none; `prep` is 'auf acc for': German
    preposition, its case, English preposition; `flags` names boolean fields of Verb and 'sein'.
    """
    prefix, _, infinitive = name.rpartition("|")
    idiom, _, infinitive = infinitive.rpartition("_")
    changed, past_stem, participle = strong.split() if strong else ("-", "-", "-")
    preposition, case, en_preposition = prep.split() if prep else ("", "", "")
    options = set(flags.split())
    participle = participle if participle != "-" else german.weak_participle(infinitive)
    return Verb(
        infinitive=infinitive, prefix=prefix, idiom=idiom, frame=frame, subject=subj, objects=obj,
        english=english.make_verb(meaning, particle.strip(), en_preposition.replace("_", " ")),
        changed="" if changed == "-" else changed,
        past_stem="" if past_stem == "-" else past_stem,
        participle=participle,
        auxiliary="sein" if "sein" in options else "haben",
        places=tuple(at.split()), preposition=preposition, case=case,
        **{flag: True for flag in options - {"sein"}},
    )


def plain_verb(name, meaning, strong=""):
    """A verb outside the lists below, for patterns that fill its frame themselves."""
    return _verb(name, meaning, "clause", strong)


_GOODS = "fruit dish foodmass drink read thing furniture clothes vehicle plant instrument -Zug -Flugzeug -Schiff -Bus"

ACCUSATIVE = [
    _verb("essen", "eat ate eaten", "acc", "iss aß gegessen", at="eat kitchen", obj="fruit dish foodmass",
          flags="gern"),
    _verb("trinken", "drink drank drunk", "acc", "- trank getrunken", at="eat kitchen", obj="drink", flags="gern"),
    _verb("kaufen", "buy bought", "acc", at="shop", obj=_GOODS, flags="gern"),
    _verb("verkaufen", "sell sold", "acc", obj=_GOODS + " building -Brücke -Turm -Kirche -Schule", flags="owned"),
    _verb("bestellen", "order", "acc",
          obj="dish drink fruit =Buch =Roman =Zeitung =Zeitschrift clothes device -Ei -Zwiebel -Tomate -Kartoffel"),
    _verb("probieren", "try", "acc", at="eat", obj="dish drink foodmass fruit -Wasser -Milch -Ei -Kartoffel -Zwiebel"),
    _verb("kochen", "cook", "acc", at="kitchen", obj="cook", flags="gern"),
    _verb("backen", "bake", "acc", "- backte gebacken", at="kitchen", obj="bake", flags="gern"),
    _verb("schneiden", "cut cut", "acc", "- schnitt geschnitten", at="kitchen", obj="cut"),
    _verb("lesen", "read read", "acc", "lies las gelesen", at="read home", obj="read", flags="gern owned"),
    _verb("schreiben", "write wrote written", "acc", "- schrieb geschrieben", at="read work", obj="write =Buch",
          flags="gern"),
    _verb("übersetzen", "translate", "acc", "- - übersetzt", at="work", obj="text"),
    _verb("verstehen", "understand understood", "acc", "- verstand verstanden", obj="text lesson person -Mädchen",
          flags="state known"),
    _verb("beantworten", "answer", "acc", obj="answer =Brief =Nachricht -Aufgabe", flags="known"),
    _verb("lernen", "learn", "acc", at="read", obj="lesson =Gedicht =Lied -Frage -Aufgabe -Satz", flags="gern"),
    _verb("erklären", "explain", "acc", obj="lesson =Bild =Gedicht", flags="known"),
    _verb("vergessen", "forget forgot forgotten", "acc", "vergiss vergaß vergessen",
          obj="lesson thing clothes -Aufgabe", flags="accident owned known"),
    _verb("sehen", "see saw seen", "acc", "sieh sah gesehen", at="out",
          obj="person family animal vehicle building plant", flags="state"),
    _verb("beobachten", "watch", "acc", at="out", obj="animal person", flags="gern"),
    _verb("suchen", "look", "acc", prep="- acc for", obj="thing clothes animal person family read",
          flags="owned"),
    _verb("finden", "find found", "acc", "- fand gefunden", at="home out",
          obj="thing clothes pet read", flags="owned sudden"),
    _verb("verlieren", "lose lost", "acc", "- verlor verloren", at="out", obj="thing clothes -Computer -Teller -Tasse "
          "-Glas -Messer -Kiste", flags="accident owned"),
    _verb("brauchen", "need", "acc",
          obj="thing furniture clothes vehicle drink foodmass fruit -Schiff -Foto -Zug -Flugzeug",
          flags="state"),
    _verb("haben", "have had", "acc", "- - gehabt", obj="pet farm vehicle furniture instrument thing "
          "building -Turm -Brücke -Kirche -Schule -Museum -Zug -Flugzeug -Bus", flags="state"),
    _verb("mögen", "like", "acc", "- mochte gemocht", obj="person animal drink fruit dish foodmass art plant building",
          flags="state known"),
    _verb("lieben", "love", "acc", obj="family pet farm art plant =Sprache -Schwein", flags="state known owned"),
    _verb("kennen", "know knew known", "acc", "- kannte gekannt", obj="person family building read art",
          flags="state known"),
    _verb("besuchen", "visit", "acc", obj="person family sight =Schule =Konzert", flags="gern owned known"),
    _verb("treffen", "meet met", "acc", "triff traf getroffen", at="talk", obj="person family", flags="gern owned"),
    _verb("fragen", "ask", "acc", obj="person family", flags="owned known"),
    _verb("hören", "hear heard", "acc", at="out", obj="animal person sound", flags="state"),
    _verb("öffnen", "open", "acc", obj="open", flags="known"),
    _verb("schließen", "close", "acc", "- schloss geschlossen", obj="open", flags="known"),
    _verb("putzen", "clean", "acc", obj="room pane =Wohnung =Fahrrad =Lampe =Schrank =Tisch", flags="known"),
    _verb("waschen", "wash", "acc", "wäsch wusch gewaschen", at="home",
          obj="clothes dishes fruit road pet -Vogel -Ei -Zwiebel", flags="known owned"),
    _verb("reparieren", "repair", "acc", at="work", obj="device vehicle =Stuhl =Tisch =Tür =Fenster", flags="owned"),
    _verb("bauen", "build built", "acc", obj="building =Schiff =Boot =Flugzeug =Tisch =Regal -Wohnung"),
    _verb("malen", "paint", "acc", at="out", obj="paint person animal building plant vehicle", flags="gern"),
    _verb("fotografieren", "photograph", "acc", at="out", obj="person animal building plant vehicle", flags="gern"),
    _verb("tragen", "wear wore worn", "acc", "träg trug getragen", obj="clothes", flags="one gern owned"),
    _verb("zerbrechen", "break broke broken", "acc", "zerbrich zerbrach zerbrochen", at="kitchen",
          obj="dishes =Stuhl =Bleistift -Messer", flags="accident one"),
    _verb("holen", "fetch", "acc", obj="thing drink read clothes foodmass -Uhr"),
    _verb("füttern", "feed fed", "acc", at="home", obj="animal", flags="known gern owned"),
    _verb("streicheln", "pet", "acc", obj="pet farm -Vogel", flags="known gern owned"),
    _verb("bekommen", "get got", "acc", "- bekam bekommen", obj="gift =Brief =Nachricht =Zeitung =Buch =Hund =Fahrrad",
          flags="state"),
    _verb("mieten", "rent", "acc", obj="home road =Zimmer =Büro =Klavier", flags="one"),
    _verb("pflanzen", "plant", "acc", at="out", obj="plant =Kartoffel =Tomate -Pflanze"),
    _verb("verpassen", "miss", "acc", obj="public =Konzert =Film -Brücke -Turm -Kirche -Schule -Hotel",
          flags="accident known one"),
    _verb("nehmen", "take took taken", "acc", "nimm nahm genommen", obj="public =Schiff -Brücke -Turm -Kirche "
          "-Schule -Hotel", flags="known one"),
    _verb("retten", "rescue", "acc", obj="person animal"),
    _verb("begleiten", "accompany", "acc", obj="person family", flags="known owned"),
    _verb("verstecken", "hide hid hidden", "acc", at="home", obj="thing gift -Computer =Brief =Schokolade",
          flags="owned"),
    _verb("zählen", "count", "acc", obj="animal dishes fruit", flags="known"),
]

SEPARABLE = [
    _verb("auf|machen", "open", "acc", obj="open", flags="known"),
    _verb("zu|machen", "close", "acc", obj="open", flags="known"),
    _verb("an|ziehen", "put put", "acc", "- zog gezogen", particle="on", obj="clothes", flags="one owned"),
    _verb("aus|ziehen", "take took taken", "acc", "- zog gezogen", particle="off", obj="clothes",
          flags="one owned known"),
    _verb("ab|holen", "pick", "acc", particle="up", at="talk", obj="person family =Geschenk =Brief",
          flags="owned known"),
    _verb("an|rufen", "call", "acc", "- rief gerufen", obj="person family", flags="owned known gern"),
    _verb("ein|laden", "invite", "acc", "läd lud geladen", obj="person family", flags="owned gern"),
    _verb("mit|bringen", "bring brought", "acc", "- brachte gebracht", particle="along",
          obj="dish drink thing plant instrument -Klavier -Suppe -Karte read"),
    _verb("mit|nehmen", "take took taken", "acc", "nimm nahm genommen", particle="along",
          obj="thing clothes read person pet -Vogel", flags="owned"),
    _verb("weg|werfen", "throw threw thrown", "acc", "wirf warf geworfen", particle="away",
          obj="read clothes thing foodmass -Karte", flags="owned"),
    _verb("auf|räumen", "tidy", "acc", particle="up", obj="room =Wohnung =Schrank =Regal", flags="known owned"),
    _verb("auf|wecken", "wake woke woken", "acc", particle="up", obj="person family pet -Kunde -Kundin",
          flags="known owned"),
    _verb("an|sehen", "watch", "acc", "sieh sah gesehen", obj="=Film =Theaterstück"),
    _verb("vor|bereiten", "prepare", "acc", "- - bereitet", obj="=Konzert =Bericht =Salat =Suppe =Frage =Aufgabe"),
    _verb("zurück|geben", "return", "acc", "gib gab gegeben", obj="read thing =Fahrrad =Auto", flags="known"),
    _verb("auf|stehen", "get got", "intr", "- stand gestanden", particle="up", flags="sein"),
    _verb("ein|schlafen", "fall fell fallen", "intr", "schläf schlief geschlafen", particle="asleep",
          flags="accident sein",
          at="sleep"),
    _verb("ein|kaufen", "shop", "intr", at="shop", flags="gern"),
    _verb("an|kommen", "arrive", "intr", "- kam gekommen", flags="sein", at="talk"),
    _verb("zurück|kommen", "come came come", "intr", "- kam gekommen", particle="back", flags="sein"),
    _verb("weg|gehen", "leave left", "intr", "- ging gegangen", flags="sein"),
    _verb("zu|hören", "listen", "dat", obj="person family", prep="- dat to", flags="gern known"),
]

INTRANSITIVE = [
    _verb("schlafen", "sleep slept", "intr", "schläf schlief geschlafen", at="sleep", subj="both"),
    _verb("lachen", "laugh", "intr"),
    _verb("weinen", "cry", "intr", flags="accident"),
    _verb("arbeiten", "work", "intr", at="work", flags="gern"),
    _verb("tanzen", "dance", "intr", at="talk", flags="gern"),
    _verb("singen", "sing sang sung", "intr", "- sang gesungen", at="out", flags="gern"),
    _verb("schwimmen", "swim swam swum", "intr", "- schwamm geschwommen", at="lake", flags="sein gern"),
    _verb("warten", "wait", "intr", at="talk"),
    _verb("spielen", "play", "intr", at="out home", subj="both", flags="gern"),
    _verb("frühstücken", "have had", "intr", particle="breakfast", at="eat home", flags="gern"),
    _verb("lächeln", "smile", "intr"),
    _verb("Klavier_spielen", "play", "intr", particle="the piano", flags="gern", at="home"),
    _verb("Gitarre_spielen", "play", "intr", particle="the guitar", flags="gern", at="out home"),
    _verb("Fußball_spielen", "play", "intr", particle="soccer", flags="gern", at="out"),
    _verb("Schach_spielen", "play", "intr", particle="chess", flags="gern", at="read"),
    _verb("Deutsch_lernen", "learn", "intr", particle="German", flags="gern", at="read"),
    _verb("Englisch_sprechen", "speak spoke spoken", "intr", "sprich sprach gesprochen", particle="English",
          flags="gern", at="work"),
]

DATIVE = [
    _verb("helfen", "help", "dat", "hilf half geholfen", obj="person family", flags="gern owned known", at="home"),
    _verb("danken", "thank", "dat", obj="person family", flags="owned known"),
    _verb("folgen", "follow", "dat", obj="person animal", flags="sein known"),
    _verb("antworten", "answer", "dat", obj="person family", flags="owned known"),
    _verb("glauben", "believe", "dat", obj="person family", flags="state owned known"),
    _verb("vertrauen", "trust", "dat", "- - vertraut", obj="person family", flags="state owned known"),
    _verb("gratulieren", "congratulate", "dat", obj="person family", flags="owned known"),
]

DITRANSITIVE = [
    _verb("geben", "give gave given", "ditr", "gib gab gegeben", obj="thing read fruit dish drink -Koffer -Kiste"),
    _verb("schenken", "give gave given", "ditr",
          obj="plant instrument clothes =Buch =Uhr =Kamera =Schokolade =Fahrrad"),
    _verb("zeigen", "show showed shown", "ditr", obj="thing read building art room", flags="gern"),
    _verb("schicken", "send sent", "ditr", obj="write plant =Geschenk =Foto =Buch =Zeitung -Baum -Pflanze"),
    _verb("bringen", "bring brought", "ditr", "- brachte gebracht", obj="drink dish fruit foodmass read thing plant"
          " -Baum"),
    _verb("leihen", "lend lent", "ditr", "- lieh geliehen", obj="=Buch =Roman =Zeitung =Zeitschrift thing road -Foto "
          "-Geschenk", flags="owned gern"),
    _verb("erzählen", "tell told", "ditr", obj="=Geschichte", flags="gern"),
]

PREPOSITIONAL = [
    _verb("warten", "wait", "prep", prep="auf acc for", obj="person family public =Brief =Nachricht -Brücke -Turm "
          "-Kirche -Schule -Hotel", flags="known owned", at=""),
    _verb("denken", "think thought", "prep", "- dachte gedacht", prep="an acc about", obj="person family art",
          flags="known owned gern"),
    _verb("sprechen", "talk", "prep", "sprich sprach gesprochen", prep="mit dat to", obj="person family",
          flags="known owned gern"),
    _verb("träumen", "dream", "prep", prep="von dat about", obj="animal home =Schloss =Schiff =Klavier =Auto",
          flags="accident gern"),
    _verb("lachen", "laugh", "prep", prep="über acc at", obj="person =Film =Bild =Geschichte =Theaterstück",
          flags="known gern"),
    _verb("arbeiten", "work", "prep", prep="an dat on", obj="write =Buch =Bild =Aufgabe =Film",
          flags="gern owned known"),
    _verb("spielen", "play", "prep", prep="mit dat with", obj="pet young =Ball", flags="gern known"),
    _verb("tanzen", "dance", "prep", prep="mit dat with", obj="adult family", flags="gern owned known"),
    _verb("helfen", "help", "prep", "hilf half geholfen", prep="bei dat with", obj="=Aufgabe", flags="gern known"),
]

MOTION = [
    _verb("gehen", "go went gone", "dir", "- ging gegangen", flags="sein gern"),
    _verb("laufen", "run ran run", "dir", "läuf lief gelaufen", flags="sein"),
    _verb("fahren", "travel", "dir", "fähr fuhr gefahren", flags="sein gern"),
    _verb("fliegen", "fly flew flown", "dir", "- flog geflogen", flags="sein gern"),
    _verb("kommen", "come came come", "dir", "- kam gekommen", flags="sein"),
]

LIVING = [
    _verb("wohnen", "live", "live", flags="state"),
    _verb("sitzen", "sit sat", "live", "- saß gesessen"),
    _verb("stehen", "stand stood", "live", "- stand gestanden"),
]

PLACING = [
    _verb("legen", "put put", "put", obj="read clothes =Schlüssel =Handy =Messer =Foto =Karte =Bleistift"),
    _verb("stellen", "place", "put", obj="dishes =Lampe =Koffer =Kiste =Computer -Messer"),
]

VERBS = (ACCUSATIVE + SEPARABLE + INTRANSITIVE + DATIVE + DITRANSITIVE + PREPOSITIONAL + MOTION + LIVING + PLACING)
