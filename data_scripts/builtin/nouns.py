"""Nouns of the toy lexicon: gender, plural, English and the semantic classes that verbs and adjectives select."""

import dataclasses

from . import english


@dataclasses.dataclass(frozen=True)
class Noun:
    lemma: str  # nominative singular
    gender: str  # m, f, n
    plural: str  # nominative plural; empty for mass nouns
    english: str
    english_plural: str
    classes: frozenset
    weak: bool = False  # n-declension

    @property
    def mass(self):
        return not self.plural

    def is_a(self, *names):
        return any(name in self.classes for name in names)


# Each line: article, singular, plural (- for mass nouns), English, irregular English plural in parentheses,
# further classes after '/'; '*' before the singular marks the n-declension.
_TABLE = {
    "person": """
der Mann, Männer, man (men) / adult
die Frau, Frauen, woman (women) / adult
das Kind, Kinder, child (children) / young
der *Junge, Jungen, boy / young
das Mädchen, Mädchen, girl / young
der Lehrer, Lehrer, teacher / adult job
die Lehrerin, Lehrerinnen, teacher / adult job
der Arzt, Ärzte, doctor / adult job
die Ärztin, Ärztinnen, doctor / adult job
der *Student, Studenten, student / adult job
die Studentin, Studentinnen, student / adult job
der *Nachbar, Nachbarn, neighbor / adult
die Nachbarin, Nachbarinnen, neighbor / adult
der Freund, Freunde, friend / adult
die Freundin, Freundinnen, friend / adult
der Bäcker, Bäcker, baker / adult job
der Koch, Köche, cook / adult job
der *Polizist, Polizisten, police officer / adult job
die Polizistin, Polizistinnen, police officer / adult job
der *Bauer, Bauern, farmer / adult job
die Bäuerin, Bäuerinnen, farmer / adult job
der Schüler, Schüler, pupil / young
die Schülerin, Schülerinnen, pupil / young
der Gast, Gäste, guest / adult
der *Kunde, Kunden, customer / adult
die Kundin, Kundinnen, customer / adult
der *Kollege, Kollegen, colleague / adult
die Kollegin, Kolleginnen, colleague / adult
der Musiker, Musiker, musician / adult job
die Sängerin, Sängerinnen, singer / adult job
der Maler, Maler, painter / adult job
der Kellner, Kellner, waiter / adult job
die Kellnerin, Kellnerinnen, waitress / adult job
der *Tourist, Touristen, tourist / adult
der Fahrer, Fahrer, driver / adult
die Schauspielerin, Schauspielerinnen, actress / adult job
""",
    "family": """
der Vater, Väter, father / one
die Mutter, Mütter, mother / one
der Bruder, Brüder, brother
die Schwester, Schwestern, sister
der Sohn, Söhne, son
die Tochter, Töchter, daughter
der Onkel, Onkel, uncle
die Tante, Tanten, aunt
der Großvater, Großväter, grandfather / one
die Großmutter, Großmütter, grandmother / one
der Chef, Chefs, boss / one
""",
    "animal": """
der Hund, Hunde, dog / pet
die Katze, Katzen, cat / pet
der Vogel, Vögel, bird / pet
das Kaninchen, Kaninchen, rabbit / pet
das Pferd, Pferde, horse / farm
die Kuh, Kühe, cow / farm
das Schwein, Schweine, pig / farm
die Ziege, Ziegen, goat / farm
die Ente, Enten, duck / farm
der *Bär, Bären, bear / wild
der *Affe, Affen, monkey / wild
der *Elefant, Elefanten, elephant / wild
""",
    "fruit": """
der Apfel, Äpfel, apple / cut
die Birne, Birnen, pear / cut
die Banane, Bananen, banana / cut
die Orange, Orangen, orange / cut
die Tomate, Tomaten, tomato (tomatoes) / cut
die Kartoffel, Kartoffeln, potato (potatoes) / cut cook
das Ei, Eier, egg / cook
die Zwiebel, Zwiebeln, onion / cut cook
""",
    "dish": """
die Suppe, Suppen, soup / cook warm
der Kuchen, Kuchen, cake / bake cut
das Brötchen, Brötchen, roll / bake cut
die Pizza, Pizzas, pizza / bake cut warm
der Salat, Salate, salad
die Wurst, Würste, sausage / cut
""",
    "foodmass": """
das Brot, -, bread / bake cut
der Käse, -, cheese / cut
das Fleisch, -, meat / cook cut
der Reis, -, rice / cook
die Schokolade, -, chocolate
der Fisch, -, fish / cook cut
das Gemüse, -, vegetables / cook cut pl
""",
    "drink": """
das Wasser, -, water / cold
die Milch, -, milk / cold
der Kaffee, -, coffee / hot
der Tee, -, tea / hot
der Saft, -, juice / cold
das Bier, -, beer / cold
der Wein, -, wine / cold
""",
    "read": """
das Buch, Bücher, book / text
die Zeitung, Zeitungen, newspaper
der Brief, Briefe, letter / text write
der Roman, Romane, novel / text write
die Zeitschrift, Zeitschriften, magazine
der Artikel, Artikel, article / text write
das Gedicht, Gedichte, poem / text write
die Geschichte, Geschichten, story (stories) / text write
der Bericht, Berichte, report / text write
die Nachricht, Nachrichten, message / text write
""",
    "lesson": """
die Frage, Fragen, question / answer
der Satz, Sätze, sentence / text
das Wort, Wörter, word / text
die Aufgabe, Aufgaben, task / answer
die Sprache, Sprachen, language
die Regel, Regeln, rule
""",
    "thing": """
die Tasche, Taschen, bag / open luggage color
der Koffer, Koffer, suitcase / open luggage color
der Schlüssel, Schlüssel, key
der Regenschirm, Regenschirme, umbrella / color
der Teller, Teller, plate / dishes
die Tasse, Tassen, cup / dishes
das Glas, Gläser, glass (glasses) / dishes
das Messer, Messer, knife (knives) / dishes
die Flasche, Flaschen, bottle / open dishes
die Kiste, Kisten, box (boxes) / open luggage
der Ball, Bälle, ball / color
die Uhr, Uhren, watch (watches) / device
das Handy, Handys, cell phone / device
der Computer, Computer, computer / device
die Kamera, Kameras, camera / device
das Geschenk, Geschenke, present / open gift
die Karte, Karten, map
der Bleistift, Bleistifte, pencil / color
das Foto, Fotos, photo
""",
    "furniture": """
der Tisch, Tische, table / surface
der Stuhl, Stühle, chair / surface
das Bett, Betten, bed / surface
der Schrank, Schränke, closet / open
die Lampe, Lampen, lamp / device
das Sofa, Sofas, sofa / surface
das Regal, Regale, shelf (shelves) / surface
""",
    "clothes": """
das Hemd, Hemden, shirt
das Kleid, Kleider, dress (dresses)
der Rock, Röcke, skirt
der Mantel, Mäntel, coat
die Jacke, Jacken, jacket
der Hut, Hüte, hat
der Pullover, Pullover, sweater
die Mütze, Mützen, cap
der Schal, Schals, scarf (scarves)
""",
    "vehicle": """
das Auto, Autos, car / road
das Fahrrad, Fahrräder, bicycle / road
der Bus, Busse, bus (buses) / public
der Zug, Züge, train / public
das Flugzeug, Flugzeuge, plane / public
das Schiff, Schiffe, ship
das Boot, Boote, boat / road
""",
    "building": """
das Haus, Häuser, house / home
die Wohnung, Wohnungen, apartment / home
die Brücke, Brücken, bridge / public
der Turm, Türme, tower / public
das Schloss, Schlösser, castle / sight
das Museum, Museen, museum / sight
die Kirche, Kirchen, church (churches) / public sight
die Schule, Schulen, school / public
das Hotel, Hotels, hotel / public
""",
    "room": """
das Zimmer, Zimmer, room
die Küche, Küchen, kitchen
das Büro, Büros, office
der Keller, Keller, basement
das Bad, Bäder, bathroom
""",
    "pane": """
die Tür, Türen, door / open
das Fenster, Fenster, window / open
""",
    "plant": """
die Blume, Blumen, flower / gift
der Baum, Bäume, tree
die Rose, Rosen, rose / gift
die Pflanze, Pflanzen, plant
""",
    "art": """
das Lied, Lieder, song / sound
der Film, Filme, film
das Bild, Bilder, picture / paint
das Konzert, Konzerte, concert / sound
das Theaterstück, Theaterstücke, play
""",
    "instrument": """
das Klavier, Klaviere, piano
die Gitarre, Gitarren, guitar
die Geige, Geigen, violin
""",
    "place": """
der Park, Parks, park
der Garten, Gärten, garden
der Markt, Märkte, market
der Bahnhof, Bahnhöfe, station
der Supermarkt, Supermärkte, supermarket
die Bibliothek, Bibliotheken, library (libraries)
das Restaurant, Restaurants, restaurant
das Krankenhaus, Krankenhäuser, hospital
der Strand, Strände, beach (beaches)
der See, Seen, lake
der Wald, Wälder, forest
das Dorf, Dörfer, village
die Stadt, Städte, city (cities)
das Theater, Theater, theater
das Kino, Kinos, cinema
der Flughafen, Flughäfen, airport
die Universität, Universitäten, university (universities)
die Bäckerei, Bäckereien, bakery (bakeries)
""",
}

_GENDERS = {"der": "m", "die": "f", "das": "n"}


def _parse_line(line, group):
    words, _, extra = line.partition("/")
    german, plural, meaning = (part.strip() for part in words.split(","))
    article, singular = german.split()
    meaning, _, irregular = meaning.partition("(")
    meaning = meaning.strip()
    return Noun(
        lemma=singular.lstrip("*"),
        gender=_GENDERS[article],
        plural="" if plural == "-" else plural,
        english=meaning,
        english_plural=irregular.rstrip(")") or english.pluralize(meaning),
        classes=frozenset([group, *extra.split()]),
        weak=singular.startswith("*"),
    )


NOUNS = [_parse_line(line, group) for group, text in _TABLE.items() for line in text.strip().splitlines()]
BY_LEMMA = {noun.lemma: noun for noun in NOUNS}


def of_class(spec):
    """Nouns of any of the space-separated classes; '=Wort' names one noun, '-Wort' leaves one out."""
    names = spec.split()
    chosen = {n[1:] for n in names if n.startswith("=")}
    left_out = {n[1:] for n in names if n.startswith("-")}
    classes = [n for n in names if n[0] not in "=-"]
    unknown = [n for n in chosen | left_out if n not in BY_LEMMA]
    if unknown:
        raise KeyError(f"no such noun in the lexicon: {unknown}")
    return [n for n in NOUNS if (n.lemma in chosen or n.is_a(*classes)) and n.lemma not in left_out]
