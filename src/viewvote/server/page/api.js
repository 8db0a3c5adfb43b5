// The service: requests relative to the page, and failures as one kind of error.

import { events } from "./sse.js";

const BASE = new URL("../", import.meta.url);
export const address = (path) => new URL(path.replace(/^\//, ""), BASE).href;

let key = recalled();

/** A request that failed: `code` as docs/guides/serve.md lists them, or "gone" where nothing answers. */
export class Failure extends Error {
  constructor(message, code, { status = 0, retryAfter = 0 } = {}) {
    super(message);
    Object.assign(this, { code, status, retryAfter });
  }
}

/** Whether a photo's failure passes by itself, or with a key. */
export const passes = (failure) => ["gone", "not_ready", "queue_full", "unauthorized"].includes(failure.code);

export function setKey(value) {
  key = value;
  try {
    sessionStorage.setItem("viewvote-key", value);
  } catch {
    // It lasts as long as the page.
  }
}

export const hasKey = () => key !== "";

export async function info() {
  return (await ask("info", {})).json();
}

export async function alive() {
  try {
    return (await fetch(address("health/ready"), { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** The shipped photograph as a File. */
export async function example(path) {
  const blob = await (await ask(path, {})).blob();
  return new File([blob], path.split("/").pop(), { type: blob.type });
}

/** The prediction of one photo, without its views. */
export async function classify(file, options, signal) {
  const answer = await ask("v1/classify", { method: "POST", body: form(file, options), signal });
  return (await answer.json()).predictions[0];
}

/** The picture that explains one photo's vote. */
export async function explain(file, options) {
  const headers = { Accept: "image/png" };
  return (await ask("v1/explain", { method: "POST", body: form(file, options), headers })).blob();
}

/** The events of one photo's vote; a stream that breaks off is a failure. */
export async function* vote(file, options, signal) {
  const answer = await ask("v1/classify/stream", { method: "POST", body: form(file, options), signal });
  let done = false;
  try {
    for await (const found of events(answer.body)) {
      done ||= found.event === "done";
      yield found;
    }
  } catch (error) {
    throw error.name === "AbortError" ? error : gone();
  }
  if (!done) throw gone();
}

async function ask(path, request) {
  const headers = { ...request.headers, ...(key ? { "X-API-Key": key } : {}) };
  let answer;
  try {
    answer = await fetch(address(path), { ...request, headers });
  } catch (error) {
    throw error.name === "AbortError" ? error : gone();
  }
  if (answer.ok) return answer;
  const words = await answer.json().catch(() => ({}));
  throw new Failure(words.error ?? `the service answered ${answer.status}.`, words.code ?? "internal_error", {
    status: answer.status,
    retryAfter: Number(answer.headers.get("Retry-After")) || 0,
  });
}

const gone = () => new Failure("the service does not answer.", "gone");

function form(file, options) {
  const body = new FormData();
  for (const [name, value] of Object.entries(options)) {
    body.append(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  body.append("image", file, file.name || "photo");
  return body;
}

function recalled() {
  try {
    return sessionStorage.getItem("viewvote-key") ?? "";
  } catch {
    return "";
  }
}
