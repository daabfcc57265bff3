// Documents: dropped anywhere on the page or chosen, translated one after the other, fetched from the server by a link.

import {keyIsMissing, post} from "./api.js";
import {announce, byId, counted, element, icon, sentence} from "./dom.js";

export class Documents {
  #context;  // {settings, languages, terms}
  #queue = [];
  #works = false;

  /// show() brings the documents' tab to the front.
  constructor(context, show) {
    this.#context = context;
    const formats = context.settings.supportedFilesFormat, chooser = byId("files");
    byId("formats").textContent = formats.join("  ");
    chooser.accept = formats.join(",");
    byId("choose-files").addEventListener("click", () => chooser.click());
    chooser.addEventListener("change", () => {
      this.#take([...chooser.files]);
      chooser.value = "";
    });
    const hasFiles = event => event.dataTransfer?.types.includes("Files");
    let inside = 0;  // dragenter and dragleave come for each element on the way
    const over = count => {
      inside = Math.max(0, count);
      document.body.classList.toggle("dragged", inside > 0);
    };
    addEventListener("dragenter", event => { if (hasFiles(event)) over(inside + 1); });
    addEventListener("dragleave", event => { if (hasFiles(event)) over(inside - 1); });
    addEventListener("dragover", event => { if (hasFiles(event)) event.preventDefault(); });
    addEventListener("drop", event => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      over(0);
      show();
      this.#take([...event.dataTransfer.files]);
    });
  }

  #take(files) {
    const {languages} = this.#context;
    // The languages are those of the moment when the document came.
    for (const file of files) this.#queue.push(this.#job(file, languages.source, languages.target));
    this.#work();
  }

  async #work() {
    if (this.#works) return;
    this.#works = true;
    for (let job; (job = this.#queue.shift());) await this.#translate(job);
    this.#works = false;
  }

  /// A row of the list.
  #job(file, source, target) {
    const job = {file, source, target, question: new AbortController()};
    const {languages} = this.#context;
    job.bar = element("progress", {hidden: true});
    job.bar.setAttribute("aria-label", `Progress of ${file.name}`);
    job.state = element("span", {className: "state", textContent: "Waiting"});
    job.end = element("button", {type: "button", className: "quiet", title: "Stop"}, icon("close"));
    job.end.setAttribute("aria-label", `Stop ${file.name}`);
    job.end.addEventListener("click", () => {
      job.question.abort();
      job.row.remove();
      byId("choose-files").focus();
    });
    const pair = source === "auto" ? `into ${languages.name(target)}` : `${languages.name(source)} → ${languages.name(target)}`;
    job.row = element("li", {},
      element("span", {className: "name"}, icon("file"), element("span", {textContent: file.name, dir: "auto"}),
              element("span", {className: "soft", textContent: `${size(file.size)}, ${pair}`})),
      job.state, job.bar, job.end);
    byId("jobs").append(job.row);
    return job;
  }

  async #translate(job) {
    if (job.question.signal.aborted) return;
    const {settings, terms} = this.#context;
    const say = text => { job.state.textContent = text; };
    job.bar.hidden = false;
    say("Sending…");
    try {
      if (keyIsMissing(settings)) throw new Error("This server wants an API key");
      const form = new FormData();
      const fields = {source: job.source, target: job.target, ...terms.fields()};
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      form.set("file", job.file);
      const end = await post("translate_file", form, {
        signal: job.question.signal,
        onEvent: (name, {done, total}) => {
          if (name !== "progress") return;
          job.bar.max = total;
          job.bar.value = done;
          say(`${done.toLocaleString("en")} of ${counted(total, "text")}`);
        },
        onWait: (seconds, why) => say(`${sentence(why)} Trying again in ${counted(seconds, "second")}.`),
      });
      say("");
      // The server names itself as it knows itself; behind a proxy it has another name. The document is below this page.
      const href = "download_file/" + end.translatedFileUrl.split("/").at(-1);
      const link = element("a", {className: "main", href, download: job.file.name}, icon("download"), "Download");
      link.setAttribute("aria-label", `Download ${job.file.name}`);
      job.state.append(link);
      announce(`${job.file.name} is translated`);
    } catch (error) {
      if (job.question.signal.aborted) return;
      say(sentence(error.message));
      job.row.classList.add("failed");
      announce(`${job.file.name}: ${sentence(error.message)}`);
    }
    job.bar.hidden = true;
    job.end.title = "Remove from the list";
    job.end.setAttribute("aria-label", `Remove ${job.file.name} from the list`);
  }
}

const size = bytes => bytes < 1000 ? `${bytes} bytes`
  : bytes < 1e6 ? `${Math.round(bytes / 1000)} kB`
  : `${(bytes / 1e6).toFixed(1)} MB`;
