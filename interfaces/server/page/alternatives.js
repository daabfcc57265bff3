// Other words at a place of the translation: a menu below the word. What is chosen stands there, with what follows from it.

import {post} from "./api.js";
import {byId, element, sentence, showError} from "./dom.js";

const MOST = 8;     // alternatives
const FOLLOWING = 5;  // words that are shown behind the first

export class Alternatives {
  #menu = byId("alternatives");
  #context;  // {settings, languages, terms, translation, words}
  #question = null;
  #place = null;  // {line, begin, span}: of the word whose menu is open

  constructor(context) {
    this.#context = context;
    this.#menu.addEventListener("keydown", event => this.#key(event));
    this.#menu.addEventListener("click", event => event.target.closest("[role=menuitem]")?.run?.());
    // Not by a click into the menu, nor by one on a word, which opens it there.
    document.addEventListener("pointerdown", event => {
      if (!this.#menu.contains(event.target)) this.close();
    });
    addEventListener("resize", () => this.close());
  }

  close(focusBack = false) {
    if (!this.#place) return;
    this.#question?.abort();
    const {span} = this.#place;
    this.#place = null;
    this.#menu.hidden = true;
    span.removeAttribute("aria-expanded");
    if (focusBack) span.focus();
  }

  async open(line, word) {
    this.close();
    const {settings, languages, terms} = this.#context;
    const place = this.#place = {line, begin: word.begin, span: word.span};
    const question = this.#question = new AbortController();
    word.span.setAttribute("aria-expanded", "true");
    this.#menu.setAttribute("aria-label", `Other words for “${word.span.textContent}”`);
    this.#show([this.#remark("Looking for other words…")]);
    const prefix = line.text.slice(0, word.begin).trimEnd();
    try {
      const reply = await post("explain", {
        q: line.source, source: languages.actualSource ?? languages.source, target: languages.target, prefix,
        n_best: Math.min(settings.maxNBest, MOST), ...terms.fields(),
      }, {signal: question.signal});
      if (this.#place === place) this.#show(this.#items(line, word, prefix, reply.lines[0]?.n_best ?? []));
    } catch (error) {
      if (question.signal.aborted) return;
      this.close(true);
      showError(sentence(error.message));
    }
  }

  #items(line, word, prefix, candidates) {
    const wordOf = text => text.slice(prefix.length).trim().split(/\s+/)[0];
    const others = candidates.filter(one => one.text.startsWith(prefix) && wordOf(one.text) !== wordOf(line.text));
    const items = others.map(one => {
      const rest = one.text.slice(prefix.length).trim(), words = rest.split(/\s+/);
      const follows = words.slice(1, 1 + FOLLOWING).join(" ") + (words.length > 1 + FOLLOWING ? " …" : "");
      return this.#item([element("b", {textContent: words[0]}), " ", element("span", {textContent: follows})],
                        () => this.#choose(line, word, one.text));
    });
    const none = this.#context.settings.maxNBest > 1 ? "No other words here" : "This server's search keeps one translation only";
    if (items.length === 0) items.push(this.#remark(none));
    const back = element("i", {textContent: "Back to the first translation"});
    if (line.first) items.push(this.#item([back], () => this.#restore(line, word)));
    const now = element("p", {className: "now", textContent: word.span.textContent});
    now.setAttribute("aria-hidden", "true");
    return [now, ...items];
  }

  #item(children, run) {
    const item = element("div", {tabIndex: -1, run}, ...children);
    item.setAttribute("role", "menuitem");
    return item;
  }

  #remark(text) {
    const item = this.#item([text], () => this.close(true));
    item.setAttribute("aria-disabled", "true");
    return item;
  }

  /// Below the word, within the window.
  #show(children) {
    this.#menu.replaceChildren(...children);
    this.#menu.hidden = false;
    const word = this.#place.span.getBoundingClientRect();
    const left = Math.max(8, Math.min(word.left, document.documentElement.clientWidth - this.#menu.offsetWidth - 8));
    this.#menu.style.left = `${left + scrollX}px`;
    this.#menu.style.top = `${word.bottom + scrollY + 4}px`;
    this.#menu.querySelector("[role=menuitem]").focus({preventScroll: true});
    this.#menu.scrollIntoView({block: "nearest"});
  }

  #key(event) {
    const items = [...this.#menu.querySelectorAll("[role=menuitem]")], place = items.indexOf(document.activeElement);
    const act = {
      ArrowDown: () => items[(place + 1) % items.length].focus(),
      ArrowUp: () => items[(place - 1 + items.length) % items.length].focus(),
      Home: () => items[0].focus(),
      End: () => items.at(-1).focus(),
      Escape: () => this.close(true),
      Tab: () => this.close(true),
      Enter: () => items[place]?.run(),
      " ": () => items[place]?.run(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  #leave(line, word) {
    this.close();
    this.#context.translation.drawState();
    this.#context.words.focus(line, word.begin);
    this.#context.translation.settled();
  }

  #restore(line, word) {
    line.restore();
    this.#leave(line, word);
  }

  /// The words are there at once. Which of the source they belong to is asked for.
  async #choose(line, word, text) {
    const {languages, terms} = this.#context;
    line.choose(text);
    this.#leave(line, word);
    try {
      const reply = await post("explain", {
        q: line.source, source: languages.actualSource ?? languages.source, target: languages.target, prefix: text,
        alignment: true, ...terms.fields(),
      });
      const answer = reply.lines[0], focused = line.view.contains(document.activeElement);
      if (line.text !== text || answer?.n_best[0]?.text !== text) return;
      line.choose(text, answer.alignment);
      if (focused) this.#context.words.focus(line, word.begin);
      this.#context.translation.drawState();
    } catch {
      // Without an alignment nothing is marked: the translation stands.
    }
  }
}
