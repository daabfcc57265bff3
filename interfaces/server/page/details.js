// The foldable part: the n best translations of each line with their scores, and the picture of the attention.

import {post} from "./api.js";
import {byId, counted, element, sentence} from "./dom.js";

const MOST_LINES = 20;

export class Details {
  #context;  // {settings, languages, terms, translation}
  #panel = byId("details");
  #count = byId("n-best");
  #question = null;

  constructor(context) {
    this.#context = context;
    this.#count.max = context.settings.maxNBest;
    this.#count.value = Math.min(3, context.settings.maxNBest);
    this.#panel.addEventListener("toggle", () => this.refresh());
    for (const field of [this.#count, byId("attention")]) field.addEventListener("change", () => this.refresh());
  }

  /// Asks for what belongs to the text of now, where the part is open.
  async refresh() {
    this.#question?.abort();
    if (!this.#panel.open) return;
    const lines = this.#context.translation.lines.filter(line => line.isTranslated);
    const asked = lines.slice(0, MOST_LINES);
    if (asked.length === 0) return this.#show([], "There is no translation yet.");
    const question = this.#question = new AbortController();
    const {languages, terms} = this.#context;
    try {
      const reply = await post("explain", {
        q: asked.map(line => line.source).join("\n"), source: languages.actualSource ?? languages.source,
        target: languages.target, n_best: Math.max(1, Math.round(this.#count.value)),
        attention: byId("attention").checked, ...terms.fields(),
      }, {signal: question.signal});
      const some = asked.length < lines.length ? `The first ${MOST_LINES} lines of ${lines.length}` : counted(asked.length, "line");
      this.#show(reply.lines.map(section), `${some} in ${reply.seconds.toFixed(3)} s. ` +
                 "A score is the logarithm of the probability, divided by the length penalty.");
    } catch (error) {
      if (!question.signal.aborted) this.#show([], sentence(error.message));
    }
  }

  #show(sections, note) {
    byId("details-lines").replaceChildren(...sections);
    byId("details-note").textContent = note;
  }
}

function section(line) {
  const source = element("p", {className: "quote", dir: "auto", textContent: line.source});
  const made = element("section", {className: "explained"}, source, table(line.n_best));
  const parts = "The line was too long for the model and translated in parts.";
  if (line.split) made.append(element("p", {className: "soft", textContent: parts}));
  if (line.attention_svg) made.append(...picture(line));
  return made;
}

/// What is wider than the page is scrolled, also by keys.
function scrolled(label, child) {
  const box = element("div", {className: "scroll", tabIndex: 0}, child);
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", label);
  return box;
}

function table(candidates) {
  const head = element("tr", {}, ...[["Rank", "number"], ["Translation", ""], ["Score", "number"], ["Pieces", "number"]]
    .map(([title, className]) => element("th", {scope: "col", textContent: title, className})));
  const cut = " … (cut at the length limit)";
  const rows = candidates.map((one, rank) => element("tr", {},
    element("td", {className: "number", textContent: rank + 1}),
    element("td", {className: "text", dir: "auto", textContent: one.text + (one.finished ? "" : cut)}),
    element("td", {className: "number", textContent: one.score.toFixed(3)}),
    element("td", {className: "number", textContent: one.tokens})));
  return scrolled("Translations with scores",
                  element("table", {className: "best"}, element("thead", {}, head), element("tbody", {}, ...rows)));
}

/// The picture as an image, in which no script runs and whose styles stay inside.
function picture(line) {
  const image = element("img", {
    alt: `Attention of the words of “${line.n_best[0]?.text ?? ""}” to those of “${line.source}”`,
    src: "data:image/svg+xml;charset=utf-8," + encodeURIComponent(line.attention_svg),
  });
  const legend = "Attention: what the model looks at (across) as it writes a word (down)";
  return [element("p", {className: "soft", textContent: legend}), scrolled("Picture of the attention", image)];
}
