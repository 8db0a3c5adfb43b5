// How to classify: what the reader chose, as a permalink and as the options of a request.

export const FALLBACK_LABELS = ["astronaut", "rocket", "coffee cup", "cat", "dog", "laptop", "flower"];

/** The settings of a service whose `/info` is given; `own` marks what differs from the service's defaults. */
export function defaults(info) {
  return {
    labels: info.labels ?? FALLBACK_LABELS,
    views: info.defaults.views,
    keep: null,
    method: info.defaults.method,
    templates: info.defaults.templates,
    model: info.model,
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
  for (const name of ["views", "keep", "method", "templates", "model", "unsure"]) {
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

const inside = (text, low, high) => text !== null && text !== "" && Number(text) >= low && Number(text) <= high;

export const methodOf = (settings, info) => info.methods.find((method) => method.name === settings.method);

/** The options of a request: those that differ from the service's defaults, and the labels. */
export function toOptions(settings, info, labels = settings.labels) {
  const method = methodOf(settings, info);
  const options = { labels };
  if (settings.method !== info.defaults.method) options.method = settings.method;
  const views = settings.views === "adaptive" && !method.adaptive ? info.limits.views : settings.views;
  if (views !== info.defaults.views) options.views = views;
  if (settings.keep !== null && method.keep) options.keep = settings.keep;
  if (settings.templates !== info.defaults.templates && settings.templates) options.templates = settings.templates;
  if (settings.model !== info.model) options.model = settings.model;
  return options;
}
