// The server's routes, relative to the page: it may stand in a folder of a proxy.

import {byId, recall, remember} from "./dom.js";

const MOST_TRIES = 6;
const LONGEST_WAIT = 60;  // seconds

/// What the server says, or that it says nothing. status is 0 where no answer came.
export class ServerError extends Error {
  constructor(message, status, retryAfter = 0) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;  // seconds
  }
}

// The key is sent with each request. It outlives the page only where the user says so.
export const apiKey = {
  value: recall("key", ""),
  keep(value, always) {
    this.value = value;
    remember("key", always ? value : "");
  },
};

const pause = (seconds, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, seconds * 1000);
  signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, {once: true});
});

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (options?.signal?.aborted) throw error;
    throw new ServerError("The server cannot be reached.", 0);
  }
  if (response.ok) return response;
  const reply = await response.json().catch(() => ({}));
  throw new ServerError(typeof reply.error === "string" ? reply.error : `The server answered with status ${response.status}.`,
                        response.status, Number(response.headers.get("Retry-After")) || 1);
}

/// The events of a stream, one after the other: [name, data].
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = "";;) {
    const {done, value} = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop();
    for (const event of events) {
      const lines = event.split("\n"), field = name => lines.find(line => line.startsWith(name + ": "))?.slice(name.length + 2);
      yield [field("event"), JSON.parse(field("data"))];
    }
  }
}

/// The data of the event `end`; the others go to onEvent. The stream is read to its last byte: else the browser cancels the
/// connection.
async function endOf(response, onEvent, signal) {
  let end = null;
  try {
    for await (const [name, data] of eventsOf(response)) {
      if (name === "error") throw new ServerError(data.error, 0);
      if (name === "end") end = data;
      else onEvent(name, data);
    }
  } catch (error) {
    if (signal?.aborted || error instanceof ServerError) throw error;
  }
  if (end) return end;
  throw new ServerError("The answer broke off.", 0);
}

export const get = async path => (await send(path)).json();

/// POST. fields: an object, sent as JSON, or a FormData. With onEvent(name, data) the answer is a stream, and its end is
/// returned. Where the server is busy (429, 503) it asks again when the server says so; onWait(seconds, why) is told before.
export async function post(path, fields, {signal, onEvent, onWait} = {}) {
  const headers = {}, form = fields instanceof FormData;
  let body = fields;
  if (form) {
    if (apiKey.value) body.set("api_key", apiKey.value);
    if (onEvent) body.set("stream", "true");
  } else {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify({...fields, ...(onEvent && {stream: true}), ...(apiKey.value && {api_key: apiKey.value})});
  }
  for (let tries = 1;; ++tries) {
    try {
      const response = await send(path, {method: "POST", headers, body, signal});
      const streamed = response.headers.get("Content-Type")?.startsWith("text/event-stream");
      return streamed ? await endOf(response, onEvent, signal) : await response.json();
    } catch (error) {
      const busy = error.status === 429 || error.status === 503;
      if (!busy || tries === MOST_TRIES || error.retryAfter > LONGEST_WAIT) throw error;
      onWait?.(error.retryAfter, error.message);
      // Not all clients that were sent away come back at the same moment.
      await pause(error.retryAfter + Math.random() / 4, signal);
    }
  }
}

/// Asks for the key where the server requires one. changed() is called when there is a new one.
export function setUpKey(settings, changed) {
  const form = byId("key-form"), field = byId("key"), always = byId("remember-key");
  form.hidden = !settings.keyRequired;
  field.value = apiKey.value;
  always.checked = apiKey.value !== "";
  form.addEventListener("submit", event => {
    event.preventDefault();
    apiKey.keep(field.value.trim(), always.checked);
    changed();
  });
}

export const keyIsMissing = settings => settings.keyRequired && apiKey.value === "";
