// Where the model looked: boxes on the photo, and the views themselves. Pointing at one finds the other.

import { colour } from "./colours.js";
import { $, arrange, make } from "./dom.js";
import { drawView } from "./photos.js";
import { percent, plural } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const SIDE = 224; // pixels of a drawn view
const SMALL = 88;
const NEAR = 7; // pixels within which a box's edge is pointed at

let current = { photo: null, views: [] };
let pointed = null; // the view pointed at

/** Show the views of a photo, kept ones first; `places` are kept free while they stream in. */
export function showViews(photo, views, places) {
  if (photo !== current.photo) pointed = null;
  current = { photo, views };
  const order = views.map((_, i) => i).sort((a, b) => views[a].entropy - views[b].entropy || a - b);
  const kept = order.filter((i) => views[i].kept);
  const lost = order.filter((i) => !views[i].kept);
  showBoxes(photo, views, kept, lost);
  const key = (i) => (i < 0 ? `free ${i}` : `${photo.id} ${i} ${views[i].box} ${views[i].flip}`);
  const free = (taken, wanted = 0) => Array.from({ length: Math.max(0, wanted - taken) }, (_, n) => -1 - n);
  arrange(
    $("views"),
    [...kept, ...free(kept.length, places?.kept)],
    key,
    (i) => (i < 0 ? slot() : tile(photo, views[i], i)),
    (item, i) => i >= 0 && caption(item, views, i),
  );
  arrange($("lost"), [...lost, ...free(lost.length, places?.lost)], key, (i) =>
    i < 0 ? make("span") : small(photo, views[i], i),
  );
  $("lost-words").hidden = lost.length === 0 && !places?.lost;
  $("lost-words").textContent = lost.length
    ? `${plural(lost.length, "less confident view")}, not counted`
    : "Less confident views are not counted";
  point(pointed !== null && pointed < views.length ? pointed : null);
}

const slot = () => make("li", { "aria-hidden": "true" }, make("div", { class: "slot" }));

function tile(photo, view, i) {
  const canvas = make("canvas", { width: SIDE, height: SIDE, "aria-hidden": "true" });
  drawView(canvas, photo, view);
  const which = make("span", { class: "unseen" }, i === 0 ? "The source view: " : `View ${i}: `);
  const said = make("span", { class: "said" }, make("b"), make("span"));
  return make("li", {}, make("button", { type: "button", class: "view", "data-view": i }, canvas, which, said));
}

function caption(item, views, i) {
  const button = item.firstChild;
  const { label, top_probability } = views[i];
  button.className = `view ${colour(label)}`;
  const [name, share] = button.lastChild.children;
  name.textContent = label;
  share.textContent = percent(top_probability).replace("over 99%", "99%");
}

function small(photo, view, i) {
  const canvas = make("canvas", { width: SMALL, height: SMALL, "data-view": i });
  drawView(canvas, photo, view);
  return canvas;
}

function showBoxes(photo, views, kept, lost) {
  const svg = $("boxes");
  svg.setAttribute("viewBox", `0 0 ${photo?.width || 1} ${photo?.height || 1}`);
  const rects = [...lost, ...[...kept].reverse()].map((i) => {
    const [left, top, right, bottom] = views[i].box;
    const rect = document.createElementNS(SVG, "rect");
    const place = { x: left, y: top, width: right - left, height: bottom - top, "data-view": i };
    for (const [name, value] of Object.entries(place)) rect.setAttribute(name, value);
    rect.setAttribute("class", views[i].kept ? colour(views[i].label) : "lost");
    return rect;
  });
  svg.replaceChildren(...rects);
}

/** Thicken the box of a view and dim the others; null lets go. */
export function point(i, { find = false } = {}) {
  pointed = i;
  for (const old of document.querySelectorAll("[data-view].on")) old.classList.remove("on");
  $("boxes").classList.toggle("pointing", i !== null);
  if (i === null) return;
  for (const found of document.querySelectorAll(`[data-view="${i}"]`)) found.classList.add("on");
  const rect = $("boxes").querySelector(`[data-view="${i}"]`);
  if (rect) $("boxes").append(rect); // in front
  const row = $("views");
  const tile = row.querySelector(`[data-view="${i}"]`);
  if (find && tile && row.scrollWidth > row.clientWidth) {
    row.scrollTo({ left: tile.parentElement.offsetLeft - row.offsetLeft - 16, behavior: "smooth" });
  }
}

/** The kept view whose box is pointed at: the nearest edge, or else the smallest box around the place. */
function viewAt(x, y, scale) {
  let found = null;
  let least = Infinity;
  current.views.forEach((view, i) => {
    const [left, top, right, bottom] = view.box;
    if (!view.kept || x < left || x > right || y < top || y > bottom) return;
    const edge = Math.min(x - left, right - x, y - top, bottom - y) * scale;
    const size = edge < NEAR ? edge / 1e9 : (right - left) * (bottom - top);
    if (size < least) [least, found] = [size, i];
  });
  return found;
}

function follow(event) {
  const svg = $("boxes").getBoundingClientRect();
  const scale = svg.width / (current.photo?.width || 1);
  point(viewAt((event.clientX - svg.left) / scale, (event.clientY - svg.top) / scale, scale), { find: true });
}

export function linkViews() {
  $("picture").addEventListener("pointermove", follow);
  $("picture").addEventListener("pointerdown", follow);
  $("picture").addEventListener("pointerleave", () => point(null));
  for (const id of ["views", "lost", "squares"]) {
    const over = (event) => {
      const found = event.target.closest("[data-view]");
      if (found) point(Number(found.dataset.view), { find: id === "squares" });
    };
    $(id).addEventListener("pointerover", over);
    $(id).addEventListener("focusin", over);
    $(id).addEventListener("click", over);
    $(id).addEventListener("pointerleave", () => point(null));
    $(id).addEventListener("focusout", () => point(null));
  }
}
