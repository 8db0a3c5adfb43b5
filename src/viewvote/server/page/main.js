// The page: its state, and who is shown what when it changes.

import { Failure, example, hasKey, info as readInfo, setKey } from "./api.js";
import { Asking } from "./asking.js";
import { showAll } from "./all.js";
import { showAnswer } from "./answer.js";
import { colourVoted } from "./colours.js";
import { controls } from "./controls.js";
import { $, press } from "./dom.js";
import { exporting } from "./export.js";
import { showFilm, showStage, takePhotos } from "./film.js";
import { labelBox } from "./labels.js";
import { fold, forget, known, look, newPhoto, unfold, viewsOf } from "./photos.js";
import { defaults, fromHash, methodOf, toHash, toOptions } from "./settings.js";
import { linkViews, showViews } from "./views.js";
import { best, likelihood, percent, sentence } from "./words.js";

const state = { photos: [], open: null, drafting: "", settings: null, all: false };
let info, base, asking, labels, showControls, showExport;

const labelsAsked = () => {
  const { settings, drafting } = state;
  return drafting && !settings.labels.includes(drafting) ? [...settings.labels, drafting] : settings.labels;
};
const request = () => (labelsAsked().length ? toOptions(state.settings, info, labelsAsked()) : null);

// ---- Showing -------------------------------------------------------------------------------------------------------

let due = false;
function show() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    showNow();
  });
}

function showNow() {
  const { photos, open, settings, all } = state;
  const { unsure } = settings;
  const asked = labelsAsked();
  labels.show();
  showControls();
  showFilm({ photos, open, unsure, show: openPhoto, add: choose, remove });
  $("photo-count").textContent = photos.length ? ` · ${photos.length}` : "";
  $("remove-photo").hidden = !open;
  $("examples").hidden = photos.some((photo) => photo.shipped) || info.examples.length === 0;
  $("labels-words").hidden = asked.length > 0;
  $("labels-words").textContent = "No labels yet: type what the photos may show, e.g. cat, dog.";
  $("unsure").value = Math.round(100 * unsure);
  $("unsure-shown").textContent = unsure ? percent(unsure) : "never";
  if (all) showAll({ photos, unsure, show: openPhoto });
  else showOne(open, asked, unsure);
}

function showOne(photo, asked, unsure) {
  const usable = asked.length > 0 ? photo : null;
  showStage(photo, { retry: (failed) => asking.retry(failed), add: choose });
  showAnswer(usable, asked, unsure);
  const asks = usable && photo.state !== "failed";
  unfoldOpen();
  const drawable = photo?.bitmap || photo?.visible === false;
  const views = asks && drawable ? viewsOf(photo) : [];
  showViews(photo, views, asks && (photo.state === "voting" || !views.length) ? placesFor() : null);
  $("views-section").hidden = !asks;
  const voting = methodOf(state.settings, info).adaptive;
  $("views-heading").textContent = voting ? "Views that voted" : "Views that decided";
  const wrong = photo?.state === "failed" && photo.failure.code === "invalid_request";
  $("settings-words").hidden = !wrong;
  $("settings-words").className = "words bad";
  $("settings-words").textContent = wrong ? photo.failure.message : "";
  showExport();
}

let unfolded = null; // the photo that has a bitmap or is about to
async function unfoldOpen() {
  const photo = state.open;
  if (photo === unfolded || (photo && !photo.visible)) return;
  fold(unfolded);
  unfolded = photo;
  const bitmap = photo && (await unfold(photo).catch(() => null));
  if (unfolded !== photo) return bitmap?.close();
  if (bitmap) photo.bitmap = bitmap;
  else if (photo) photo.visible = false;
  show();
}

/** How many views will be kept and how many not, so that their places are free when they come. */
function placesFor() {
  const method = methodOf(state.settings, info);
  const { views, keep } = state.settings;
  if (views === "adaptive" || !method.keep) return { kept: 1, lost: 0 };
  const kept = Math.max(1, Math.floor(views * (keep ?? method.default_keep ?? 1) + 1e-9));
  return { kept, lost: views - kept };
}

// ---- Changing ------------------------------------------------------------------------------------------------------

function change(part) {
  Object.assign(state.settings, part);
  const hash = toHash(state.settings, base);
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  asking.wake();
  show();
}

function openPhoto(photo) {
  state.open = photo;
  const back = state.all;
  if (back) switchTo(false);
  asking.wake();
  showNow();
  if (back) document.querySelector('.frame[aria-current="true"]')?.focus();
}

function switchTo(all) {
  state.all = all;
  $("one").hidden = all;
  $("all").hidden = !all;
  press([$("show-one"), $("show-all")], $(all ? "show-all" : "show-one"));
  show();
}

const choose = () => $("photo-input").click();

function remove(photo) {
  const place = state.photos.indexOf(photo);
  const focused = document.activeElement?.closest?.(".frame");
  state.photos.splice(place, 1);
  if (state.open === photo) state.open = state.photos[place] ?? state.photos[place - 1] ?? null;
  forget(photo);
  asking.wake();
  showNow();
  if (focused) ($("film").querySelectorAll(".frame")[Math.min(place, state.photos.length - 1)] ?? $("add")).focus();
}

/** Photos of the reader take the place of the shipped ones. */
async function take(files, shipped = false) {
  if (files.length === 0) return;
  if (!shipped) for (const photo of state.photos.filter((other) => other.shipped)) remove(photo);
  const photos = files.map((file) => newPhoto(file, shipped));
  state.photos.push(...photos);
  if (!shipped || !state.open) state.open = photos[0];
  if (photos.length > 1 && !shipped) switchTo(true);
  else if (!shipped) switchTo(false);
  show();
  for (const photo of photos) {
    await look(photo);
    asking.wake();
    show();
  }
}

async function takeExamples() {
  const found = await Promise.all(info.examples.map((path) => example(path).catch(() => null)));
  await take(found.filter(Boolean), true);
}

// ---- What comes back -----------------------------------------------------------------------------------------------

function changed(photo) {
  const names = new Set(state.settings.labels);
  const { prediction, round } = known(photo);
  if (photo.state === "done") colourVoted(prediction.votes ?? { [best(prediction)]: 1 }, names);
  else if (photo === state.open) colourVoted(round?.votes ?? (photo.source ? { [best(photo.source)]: 1 } : {}), names);
  if (photo === state.open && !state.drafting) announce(photo);
  show();
}

function announce(photo) {
  if (photo.state === "failed")
    $("said").textContent =
      photo.failure.code === "queue_full" ? "The service is full; it is asked again by itself." : photo.failure.message;
  if (photo.state !== "done") return;
  const words = sentence(photo.prediction, state.settings.unsure)
    .map((piece) => piece.b ?? piece)
    .join("");
  $("said").textContent = `${photo.name}: ${percent(likelihood(photo.prediction))} likely. ${words}`;
}

function service(event) {
  const words = {
    gone: "The service does not answer. It may have been stopped; this page tries again by itself.",
    key: hasKey() ? "This API key is not accepted." : "This service needs an API key.",
  };
  $("notice").hidden = event === "back";
  $("notice-text").textContent = words[event] ?? "";
  $("key-form").hidden = event !== "key";
  if (info) show();
  else $("one").hidden = true; // there is nothing to use yet
}

// ---- Start ---------------------------------------------------------------------------------------------------------

function wire() {
  labels = labelBox({
    labels: () => state.settings.labels,
    texts: () => state.settings.texts,
    change: (found, texts) => change({ labels: found, texts }),
    draft: (text) => {
      state.drafting = text;
      asking.wake();
      show();
    },
  });
  showControls = controls(info, {
    settings: () => state.settings,
    change,
    reset: () => change({ ...base, labels: state.settings.labels, texts: state.settings.texts }),
  });
  asking = new Asking({ state, request, limits: info.limits, changed, service });
  takePhotos(take);
  linkViews();
  $("show-one").addEventListener("click", () => switchTo(false));
  $("show-all").addEventListener("click", () => switchTo(true));
  $("skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address holds the settings
    $("main").focus();
  });
  $("examples").addEventListener("click", takeExamples);
  $("remove-photo").addEventListener("click", () => remove(state.open));
  $("unsure").addEventListener("input", (event) => change({ unsure: Number(event.target.value) / 100 }));
  window.addEventListener("hashchange", () => {
    state.settings = fromHash(location.hash, base, info);
    asking.wake();
    show();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, select, textarea") && event.target.type !== "range";
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (state.all) {
      switchTo(false);
      showNow();
    }
    labels.focus();
  });
  showExport = exporting({ state, info, request });
}

function wireTheme() {
  $("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try {
      localStorage.setItem("viewvote-theme", root.dataset.theme);
    } catch {
      // It lasts as long as the page.
    }
  });
}

async function start() {
  try {
    info = await readInfo();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    service(error.code === "unauthorized" ? "key" : "gone");
    if (error.code !== "unauthorized") setTimeout(start, 1500);
    return;
  }
  $("notice").hidden = true;
  base = defaults(info);
  state.settings = fromHash(location.hash, base, info);
  const here = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  $("where").textContent = `${info.model} · runs on ${here ? "this machine" : location.hostname}`;
  wire();
  switchTo(false);
  showNow();
  await takeExamples();
}

$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  setKey($("key").value.trim());
  $("key").value = "";
  if (!info) return start();
  service("back");
  for (const photo of state.photos) if (photo.failure?.code === "unauthorized") asking.retry(photo);
});
wireTheme();
start();
