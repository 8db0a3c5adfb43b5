// How to classify: what the reader chose, as a permalink and as the options of a request.

import { readLabels } from "./words.js";

export const FALLBACK_LABELS = ["astronaut", "rocket", "coffee cup", "cat", "dog", "laptop", "flower"];

/** The settings of a service whose `/info` is given; `own` marks what differs from the service's defaults. */
export function defaults(info) {
  return {
    labels: info.labels ?? FALLBACK_LABELS,
    texts: info.texts ?? {}, // of labels that have others than their names
    views: info.defaults.views,
    keep: null,
    method: info.defaults.method,
    templates: info.defaults.templates,
    model: info.model,
    none: false,
    multi: false,
    unsure: 0,
  };
}

/** The settings as the part of an address after #; nothing of any photo is in it. */
export function toHash(settings, base) {
  const found = new URLSearchParams();
  if (settings.labels.join("\n") !== base.labels.join("\n")) {
    if (settings.labels.length === 0) found.append("label", "");
    for (const label of settings.labels) found.append("label", label);
  }
  const texts = textsOf(settings);
  if (JSON.stringify(texts) !== JSON.stringify(textsOf({ labels: settings.labels, texts: base.texts })))
    found.set("texts", JSON.stringify(texts));
  for (const name of ["views", "keep", "method", "templates", "model", "none", "multi", "unsure"]) {
    if (settings[name] !== base[name] && settings[name] !== null) found.set(name, settings[name]);
  }
  return String(found);
}

/** The settings of such a part; what it does not name, or names wrongly, is the default. */
export function fromHash(hash, base, info) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const found = { ...base };
  if (given.has("label"))
    found.labels = [
      ...new Set(
        given
          .getAll("label")
          .map((label) => label.trim())
          .filter(Boolean),
      ),
    ];
  if (given.has("texts")) found.texts = readTexts(given.get("texts"));
  for (const name of ["none", "multi"]) if (given.has(name)) found[name] = given.get(name) === "true";
  const views = given.get("views");
  if (views === "adaptive") found.views = views;
  else if (inside(views, 1, info.limits.views)) found.views = Math.round(Number(views));
  if (inside(given.get("keep"), 0.01, 1)) found.keep = Number(given.get("keep"));
  if (info.methods.some((method) => method.name === given.get("method"))) found.method = given.get("method");
  if (given.get("templates")) found.templates = given.get("templates");
  if (info.models.includes(given.get("model"))) found.model = given.get("model");
  if (inside(given.get("unsure"), 0, 1)) found.unsure = Number(given.get("unsure"));
  return found;
}

/** The texts of the labels that are there now. */
export const textsOf = ({ labels, texts }) =>
  Object.fromEntries(labels.filter((label) => Object.hasOwn(texts, label)).map((label) => [label, texts[label]]));

function readTexts(json) {
  try {
    return readLabels(json).texts;
  } catch {
    return {};
  }
}

const inside = (text, low, high) => text !== null && text !== "" && Number(text) >= low && Number(text) <= high;

export const methodOf = (settings, info) => info.methods.find((method) => method.name === settings.method);

/** The options of a request: those that differ from the service's defaults, and the labels. */
export function toOptions(settings, info, labels = settings.labels) {
  const method = methodOf(settings, info);
  const texts = textsOf({ labels, texts: settings.texts });
  const named = Object.keys(texts).length > 0;
  const options = { labels: named ? Object.fromEntries(labels.map((label) => [label, texts[label] ?? [label]])) : labels };
  if (settings.method !== info.defaults.method) options.method = settings.method;
  const views = settings.views === "adaptive" && !method.adaptive ? info.limits.views : settings.views;
  if (views !== info.defaults.views) options.views = views;
  if (settings.keep !== null && method.keep) options.keep = settings.keep;
  if (settings.templates !== info.defaults.templates && settings.templates) options.templates = settings.templates;
  if (settings.model !== info.model) options.model = settings.model;
  if (settings.none) options.none = true;
  if (settings.multi) options.multi_label = true;
  return options;
}
