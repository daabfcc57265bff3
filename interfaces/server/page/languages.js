// The menus of languages: from which, into which. What the source can go to restricts the target.

import {byId, element, recall, remember} from "./dom.js";

const DETECT = "auto", UNKNOWN = "und";

export class Languages {
  #all;
  #detected = null;
  #source = byId("source-language");
  #target = byId("target-language");
  #swap = byId("swap");
  #changed;

  /// all: GET /languages. changed() is called when the user chose others.
  constructor(all, settings, changed) {
    this.#all = all;
    this.#changed = changed;
    const asked = new URLSearchParams(location.search), kept = recall("languages", {});
    const sources = this.#sorted(all.filter(one => one.targets.length > 0));
    // A model whose languages nobody named has no menus.
    byId("languages").hidden = all.every(one => one.code === UNKNOWN);
    const detects = !byId("languages").hidden;
    if (detects) this.#source.append(element("option", {value: DETECT, textContent: "Detect language"}));
    this.#source.append(...sources.map(one => element("option", {value: one.code, textContent: one.name})));
    this.#choose(this.#source, asked.get("source"), kept.source, detects ? DETECT : settings.language.source.code);
    this.#fillTargets(asked.get("target"), kept.target, settings.language.target.code);
    this.#source.addEventListener("change", () => {
      this.#detected = null;
      this.#fillTargets(this.target, kept.target);
      this.#tell();
    });
    this.#target.addEventListener("change", () => this.#tell());
    this.#show();
  }

  get source() { return this.#source.value; }
  get target() { return this.#target.value; }
  get detects() { return this.source === DETECT; }
  /// The language that the text is in, as far as it is known; null: the server has to tell.
  get actualSource() { return this.detects ? this.#detected : this.source; }
  name(code) { return this.#all.find(one => one.code === code)?.name ?? code; }
  targetsOf(code) { return this.#all.find(one => one.code === code)?.targets ?? []; }

  /// What the server took the text for; null where that is not known any more.
  set detected(code) {
    this.#detected = this.detects ? code : null;
    this.#show();
  }

  /// Chooses a target, as the user does.
  setTarget(code) {
    this.#choose(this.#target, code);
    this.#tell();
  }

  get canSwap() { return this.actualSource !== null && this.targetsOf(this.target).includes(this.actualSource); }

  /// The target becomes the source; false where no model translates back.
  swap() {
    if (!this.canSwap) return false;
    const [source, target] = [this.target, this.actualSource];
    this.#choose(this.#source, source);
    this.#detected = null;
    this.#fillTargets(target);
    this.#keep();
    this.#show();
    return true;
  }

  #sorted(list) { return [...list].sort((a, b) => a.name.localeCompare(b.name, "en")); }

  /// The first of codes that the menu has.
  #choose(menu, ...codes) {
    const known = codes.find(code => [...menu.options].some(option => option.value === code));
    if (known !== undefined) menu.value = known;
  }

  #fillTargets(...wanted) {
    const reached = this.detects ? this.#all.flatMap(one => one.targets) : this.targetsOf(this.source);
    const targets = this.#sorted(this.#all.filter(one => reached.includes(one.code)));
    this.#target.replaceChildren(...targets.map(one => element("option", {value: one.code, textContent: one.name})));
    this.#choose(this.#target, ...wanted);
  }

  #keep() { remember("languages", {source: this.source, target: this.target}); }

  #tell() {
    this.#keep();
    this.#show();
    this.#changed();
  }

  #show() {
    const first = this.#source.options[0];
    if (first.value === DETECT)
      first.textContent = this.#detected ? `${this.name(this.#detected)} – detected` : "Detect language";
    this.#swap.disabled = !this.canSwap;
    const from = this.actualSource && this.name(this.actualSource);
    this.#swap.title = this.canSwap || !from ? "Swap languages (Ctrl+Shift+S)"
      : `Nothing here translates from ${this.name(this.target)} into ${from}`;
    document.title = byId("languages").hidden ? "Translate" : `${from ?? "Translate"} → ${this.name(this.target)}`;
  }
}
