// All photos: a grid, the most doubtful first, by label; and the same as a table.

import { colour } from "./colours.js";
import { $, arrange, make } from "./dom.js";
import { verdict } from "./film.js";
import { best, closest, isUnsure, likelihood, noneFits } from "./words.js";

let filter = "";

/** Where a photo belongs: its label, or one of two groups that are no labels. */
function group(photo, unsure) {
  if (photo.state === "failed") return "!failed";
  if (photo.state !== "done") return "!waiting";
  return isUnsure(photo.prediction, unsure) ? "!unsure" : `=${best(photo.prediction)}`;
}

const NAMES = { "": "All", "!unsure": "unsure", "!failed": "no answer", "!waiting": "being asked" };

/** Photos that failed, then the least likely answers, then those that wait. */
export function doubtfulFirst(photos) {
  const doubt = (photo) => (photo.state === "failed" ? -1 : photo.state === "done" ? likelihood(photo.prediction) : 2);
  return [...photos].sort((a, b) => doubt(a) - doubt(b) || a.id - b.id);
}

export function showAll({ photos, unsure, show }) {
  const groups = new Map([["", photos.length]]);
  for (const photo of photos) groups.set(group(photo, unsure), (groups.get(group(photo, unsure)) ?? 0) + 1);
  if (!groups.has(filter)) filter = "";
  const order = [...groups].sort((a, b) => (b[0] === "") - (a[0] === "") || b[1] - a[1] || a[0].localeCompare(b[0]));
  const choose = (name) => {
    filter = name;
    showAll({ photos, unsure, show });
  };
  arrange(
    $("filters"),
    order,
    ([name]) => name,
    ([name]) => chip(name, choose),
    (item, [name, count]) => {
      item.firstChild.className = name.startsWith("=") ? colour(name.slice(1)) : "c0";
      item.firstChild.setAttribute("aria-pressed", String(name === filter));
      item.firstChild.lastChild.textContent = count;
    },
  );
  const shown = chosen(photos, unsure);
  arrange(
    $("grid"),
    shown,
    (photo) => photo.id,
    (photo) => cell(photo, show),
    (item, photo) => fill(item.firstChild, photo, unsure),
  );
  $("save-csv").disabled = photos.length === 0;
}

const chosen = (photos, unsure) =>
  doubtfulFirst(photos).filter((photo) => filter === "" || group(photo, unsure) === filter);

function chip(name, choose) {
  const dot = name.startsWith("=") ? make("span", { class: "dot" }) : null;
  const text = make("span", {}, NAMES[name] ?? name.slice(1));
  return make("li", {}, make("button", { type: "button", onclick: () => choose(name) }, dot, text, make("small")));
}

function cell(photo, show) {
  const words = make("span", { class: "cell" }, make("b"), make("span"), make("small"));
  return make(
    "li",
    {},
    make(
      "button",
      { type: "button", class: "card", onclick: () => show(photo) },
      make("span", { class: "blank" }),
      words,
    ),
  );
}

function fill(button, photo, unsure) {
  const { text, tint, none, likely } = verdict(photo, unsure);
  const [picture, words] = button.children;
  const thumb = `${photo.thumb} ${photo.visible}`;
  if (button.dataset.thumb !== thumb) {
    button.dataset.thumb = thumb;
    picture.replaceWith(
      photo.thumb
        ? make("img", { src: photo.thumb, alt: "" })
        : make("span", { class: "blank" }, photo.visible === false ? "!" : ""),
    );
  }
  words.className = `cell ${tint}`;
  const [label, share, note] = words.children;
  label.textContent = text;
  label.className = none ? "none" : "";
  share.textContent = likely ?? "";
  note.textContent = photo.failure && photo.state === "failed" ? photo.failure.message : remark(photo, unsure);
  note.className = photo.state === "failed" ? "bad" : "";
  note.title = photo.name;
}

function remark(photo, unsure) {
  if (photo.state !== "done") return photo.name;
  const { prediction } = photo;
  const source = prediction.trace.views[0].label;
  if (noneFits(prediction)) return `closest: ${closest(prediction)} · ${photo.name}`;
  if (prediction.shown?.length > 1) return `${prediction.shown.join(", ")} · ${photo.name}`;
  if (isUnsure(prediction, unsure)) return `perhaps ${best(prediction)} · ${photo.name}`;
  return source === best(prediction) ? photo.name : `source view: ${source} · ${photo.name}`;
}

/** The rows of the table: those shown, the most doubtful first. */
export function rows(photos, unsure) {
  const head = [
    "path",
    "label",
    "best_guess",
    "probability",
    "vote_share",
    "source_view",
    "source_view_probability",
    "views_used",
    "method",
    "model",
    "shown",
    "error",
  ];
  const body = chosen(photos, unsure).map((photo) => {
    if (photo.state !== "done")
      return [photo.name, ...Array(10).fill(null), photo.failure?.message ?? "not answered yet"];
    const p = photo.prediction;
    const [source] = p.trace.views;
    const label = isUnsure(p, unsure) ? null : p.label;
    return [
      photo.name,
      label,
      best(p),
      p.probability,
      p.vote_share,
      source.label,
      source.top_probability,
      p.views_used,
      p.method,
      p.model,
      p.shown?.join("; "),
      null,
    ];
  });
  return [head, ...body];
}
