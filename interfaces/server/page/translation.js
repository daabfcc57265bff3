// Translates as the user types: asks for the lines that have no translation yet, and puts each into its place when it comes.

import {post, keyIsMissing} from "./api.js";
import {byId, announce, counted, countCharacters, sentence, showError, showNotice} from "./dom.js";
import {linesOf} from "./line.js";

const LONGEST_ANNOUNCED = 400;  // characters; of longer translations only the end is announced

export class Translation {
  lines = [];
  #settings;
  #languages;
  #terms;
  #source = byId("source");
  #timer = 0;
  #question = null;  // the AbortController of the one under way

  /// settled() is called when the text is translated.
  constructor(settings, languages, terms, settled) {
    this.#settings = settings;
    this.#languages = languages;
    this.#terms = terms;
    this.settled = settled;
    this.#source.addEventListener("input", event => {
      const pasted = /^insertFrom(Paste|Drop)/.test(event.inputType ?? "");
      this.textChanged(pasted ? 0 : settings.frontendTimeout);
    });
  }

  get text() { return this.lines.map(line => line.text).join("\n"); }

  setText(text) {
    this.#source.value = text;
    this.textChanged(0);
  }

  /// Asks after `delay` milliseconds, unless the text changes again before.
  textChanged(delay) {
    this.lines = linesOf(this.#source.value, this.lines);
    if (this.#source.value === "") this.#languages.detected = null;
    this.#draw();
    this.#schedule(delay);
  }

  /// Asks for all lines again: other languages, another glossary, another key.
  again(delay = 0) {
    this.#stop();
    this.lines = linesOf(this.#source.value, this.lines, false);
    this.#draw();
    this.#schedule(delay);
  }

  now() {
    clearTimeout(this.#timer);
    this.#ask();
  }

  #schedule(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), delay);
  }

  #stop() {
    this.#question?.abort();
    this.#question = null;
  }

  #draw() {
    const limit = this.#settings.charLimit, length = countCharacters(this.#source.value);
    byId("count").textContent = limit > 0 ? `${length.toLocaleString("en")} / ${limit.toLocaleString("en")}`
      : counted(length, "character");
    byId("count").classList.toggle("over", limit > 0 && length > limit);
    byId("clear").hidden = length === 0;
    byId("mirror").replaceChildren(...this.lines.map(line => line.mirror));
    byId("translation").replaceChildren(...this.lines.map(line => line.view));
    this.#drawLanguages();
    this.drawState();
  }

  #drawLanguages() {
    const known = code => code && code !== "und" ? code : "";
    byId("source").lang = byId("mirror").lang = known(this.#languages.actualSource);
    byId("translation").lang = known(this.#languages.target);
  }

  /// What depends on which lines are translated.
  drawState() {
    const waiting = this.lines.filter(line => line.waits).length;
    byId("translation").setAttribute("aria-busy", String(waiting > 0));
    byId("copy").disabled = waiting > 0 || !this.lines.some(line => line.text.trim());
    byId("suggest").disabled = byId("copy").disabled;
    byId("progress").textContent = !this.#question || waiting === 0 ? ""
      : this.lines.length === 1 ? "…" : `${this.lines.length - waiting} of ${counted(this.lines.length, "line")}`;
    // One word can be reached by Tab; arrow keys lead to the others.
    const view = byId("translation");
    if (!view.querySelector('.word[tabindex="0"]')) view.querySelector(".word")?.setAttribute("tabindex", "0");
  }

  /// The language to ask in. One that was detected holds on while most of the text stays as it was.
  #sourceOf(missing) {
    if (!this.#languages.detects) return this.#languages.source;
    const characters = lines => lines.reduce((sum, line) => sum + line.source.length, 0);
    const holds = this.#languages.actualSource && characters(missing) * 2 < characters(this.lines);
    return holds ? this.#languages.actualSource : this.#languages.source;
  }

  /// Why the text cannot be sent; empty where it can.
  #obstacle() {
    const excess = countCharacters(this.#source.value) - this.#settings.charLimit;
    if (this.#settings.charLimit > 0 && excess > 0)
      return `The text is ${counted(excess, "character")} too long for this server.`;
    return keyIsMissing(this.#settings) ? "This server wants an API key." : "";
  }

  async #ask() {
    this.#stop();
    showNotice("");
    const missing = this.lines.filter(line => line.waits), obstacle = missing.length > 0 ? this.#obstacle() : "";
    showError(obstacle);
    if (obstacle) return;
    const question = this.#question = new AbortController();
    try {
      await this.#fill(missing, question.signal);
    } catch (error) {
      if (question.signal.aborted) return;
      showNotice("");
      showError(sentence(error.message), {label: "Try again", run: () => this.now()});
    }
    if (question.signal.aborted) return;
    this.#question = null;
    this.drawState();
    this.settled();
  }

  /// Gets the translations of these lines, each into its place as soon as it is there.
  async #fill(missing, signal) {
    this.drawState();
    if (missing.length === 0) return;
    const q = missing.map(line => line.source).join("\n"), source = this.#sourceOf(missing);
    const end = await post("explain", {q, source, target: this.#languages.target, alignment: true, ...this.#terms.fields()}, {
      signal,
      onEvent: (name, data) => {
        if (name !== "line" || signal.aborted) return;
        missing[data.line]?.take(data);
        this.drawState();
      },
      onWait: (seconds, why) => showNotice(`${sentence(why)} Trying again in ${counted(seconds, "second")}.`),
    });
    if (signal.aborted) return;
    showNotice("");
    for (const line of missing) if (line.waits) line.stay();
    if (end.detectedLanguage) this.#detected(end.detectedLanguage);
    announce(this.text.length > LONGEST_ANNOUNCED ? `${counted(this.lines.length, "line")} translated` : this.text);
  }

  #detected({language, confidence}) {
    this.#languages.detected = language;
    this.#drawLanguages();
    const name = this.#languages.name(language);
    if (confidence === 0) showNotice(`The language was not recognised; the text is taken for ${name}.`);
    else if (language === this.#languages.target) this.#offerOtherTarget(language, name);
  }

  /// The text is in the target language already.
  #offerOtherTarget(language, name) {
    const other = this.#languages.targetsOf(language)[0];
    const action = other && {label: `Translate into ${this.#languages.name(other)}`, run: () => this.#languages.setTarget(other)};
    showNotice(`The text is in ${name} already.`, action);
  }
}
