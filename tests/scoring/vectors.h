#pragma once

#include <string>
#include <vector>

#include "scoring/corpus/corpus_score.h"
#include "scoring/corpus/metric.h"

/// Texts with known scores. Expected figures in these tests were printed by sacreBLEU 2.6.0 on Python 3.14 with
/// NumPy 2.4; several texts are those of its own test suite (Apache-2.0) and of the documentation of earlier scorers.
namespace nmt::scoring::test {

/// Three hypotheses and two sets of references.
inline const std::vector<std::string> kThreeHypotheses = {"The dog bit the man.", "It wasn't surprising.",
                                                          "The man had just bitten him."};
inline const References kThreeReferences = {
    {"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
    {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}};
/// Another system.
inline const std::vector<std::string> kOtherHypotheses = {"The dog bit the man.", "It was not surprising.",
                                                          "The man bit him."};

inline const std::string kSugar = "Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;";
inline const std::vector<std::string> kSugarReference = {"producţia de zahăr brut se exprimă în zahăr alb;"};

/// Five sentences of a translation memory, tokenised.
inline const std::vector<std::string> kDialogHypotheses = {
    "wählen Sie \" Bild neu berechnen , \" um beim Ändern der Bildgröße Pixel hinzuzufügen oder zu entfernen , damit "
    "das "
    "Bild ungefähr dieselbe Größe aufweist wie die andere Größe .",
    "wenn Sie alle Aufgaben im aktuellen Dokument aktualisieren möchten , wählen Sie im Menü des Aufgabenbedienfelds "
    "die "
    "Option \" Alle Aufgaben aktualisieren . \"",
    "klicken Sie auf der Registerkarte \" Optionen \" auf die Schaltfläche \" Benutzerdefiniert \" und geben Sie Werte "
    "für "
    "\" Fehlerkorrektur-Level \" und \" Y / X-Verhältnis \" ein .",
    "Sie können beispielsweise ein Dokument erstellen , das ein Auto über die Bühne enthält .",
    "wählen Sie im Dialogfeld \" Neu aus Vorlage \" eine Vorlage aus und klicken Sie auf \" Neu . \""};
inline const References kDialogReferences = {
    {"wählen Sie \" Bild neu berechnen , \" um beim Ändern der Bildgröße Pixel hinzuzufügen oder zu entfernen , damit "
     "die "
     "Darstellung des Bildes in einer anderen Größe beibehalten wird .",
     "wenn Sie alle Aufgaben im aktuellen Dokument aktualisieren möchten , wählen Sie im Menü des Aufgabenbedienfelds "
     "die "
     "Option \" Alle Aufgaben aktualisieren . \"",
     "klicken Sie auf der Registerkarte \" Optionen \" auf die Schaltfläche \" Benutzerdefiniert \" und geben Sie für "
     "\" "
     "Fehlerkorrektur-Level \" und \" Y / X-Verhältnis \" niedrigere Werte ein .",
     "Sie können beispielsweise ein Dokument erstellen , das ein Auto enthalt , das sich über die Bühne bewegt .",
     "wählen Sie im Dialogfeld \" Neu aus Vorlage \" eine Vorlage aus und klicken Sie auf \" Neu . \""}};

constexpr double kPointTolerance = 1e-9;
constexpr double kResampleTolerance = 1e-5;

}  // namespace nmt::scoring::test
