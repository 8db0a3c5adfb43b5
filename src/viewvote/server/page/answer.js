// The answer card: the label, how likely, why in one sentence, the votes, and the views as small squares.

import { passes } from "./api.js";
import { colour } from "./colours.js";
import { $, arrange, make, pieces } from "./dom.js";
import { known } from "./photos.js";
import * as words from "./words.js";

const { NONE, best, cost, isUnsure, likelihood, noneFits, number, percent, plural, sentence } = words;

const ROWS = 6; // labels listed at most
const LEAST = 3; // rows kept free

/** Show what is known of a photo; `unsure` is the likelihood below which there is no answer. */
export function showAnswer(photo, labels, unsure) {
  const shown = photo && photo.state !== "failed" ? present(photo, unsure) : nothing(photo, labels);
  const name = $("answer-label");
  name.textContent = shown.label;
  name.className = shown.none ? "none" : colour(shown.best);
  $("likely").textContent = shown.likely;
  $("sentence").replaceChildren(...pieces(shown.sentence));
  $("cost").textContent = shown.cost;
  $("answer").setAttribute("aria-busy", String(shown.busy));
  bars(photo, labels, shown);
  beside(shown.prediction);
  squares(photo, shown);
}

function nothing(photo, labels) {
  const failed = photo?.failure;
  const later = failed && passes(failed);
  const words = later
    ? "Waiting for the service."
    : failed
      ? "There is no answer for this photo."
      : photo
        ? ""
        : "Drop a photo to see what it shows.";
  const sentence = labels.length ? words : "Type a few labels to choose from.";
  const label = later ? "Not yet" : failed || !labels.length ? "No answer" : "";
  return {
    label,
    none: true,
    best: null,
    likely: "",
    sentence: [sentence],
    cost: "",
    busy: false,
    views: [],
    tally: null,
  };
}

/** The state of a vote in the shape that is shown, whether it is decided, being decided, or about to be. */
function present(photo, unsure) {
  const { source } = photo;
  const { prediction, round } = known(photo);
  if (prediction) {
    const label = best(prediction);
    const fits = !noneFits(prediction);
    const none = fits && isUnsure(prediction, unsure);
    return {
      prediction,
      best: label,
      label: fits ? (none ? "Unsure" : label) : "None of these",
      none: none || !fits,
      likely: none ? "" : `${percent(likelihood(prediction))} likely`,
      sentence: sentence(prediction, unsure),
      cost: cost(prediction, photo.budget, photo.leaders),
      busy: photo.state !== "done",
      views: prediction.trace.views,
      tally: prediction.votes ?? prediction.scores,
      voted: prediction.votes !== null,
    };
  }
  if (round) {
    const likely = source && round.votes ? source.scores[round.leader] : round.scores[round.leader];
    return {
      best: round.leader,
      label: round.leader,
      likely: likely === undefined ? "" : `${percent(likely)} likely`,
      sentence: [`After ${number(round.seen)} views, `, { b: round.leader }, " leads."],
      cost: `${round.seen} of ${plural(round.budget, "view")} so far.`,
      busy: true,
      views: round.views,
      tally: round.votes ?? round.scores,
      voted: round.votes !== null,
    };
  }
  if (!source) return { ...nothing(photo, [""]), busy: true };
  const label = best(source);
  return {
    best: label,
    label,
    likely: `${percent(likelihood(source))} likely`,
    sentence: ["The source view looks like ", { b: label }, ". More views are being asked."],
    cost: "",
    busy: true,
    views: [],
    tally: {},
    voted: true,
  };
}

function bars(photo, labels, shown) {
  const source = shown.tally && photo.source ? photo.source.scores : {};
  const tally = shown.tally ?? {};
  const total = Object.values(tally).reduce((a, b) => a + b, 0) || 1;
  const size = (label) => tally[label] ?? 0;
  const all = [...new Set([...Object.keys(tally), ...Object.keys(source), ...labels])].filter(
    (label) => label !== NONE || size(label) || labels.includes(NONE), // no view votes for it
  );
  const rank = (a, b) =>
    (b === shown.best) - (a === shown.best) || size(b) - size(a) || (source[b] ?? 0) - (source[a] ?? 0);
  const sorted = all.sort(rank);
  const said = sorted.filter(
    (label) => size(label) > (shown.voted ? 0 : 0.005) || label === (photo?.source && best(photo.source)),
  );
  const rows = sorted.slice(0, Math.min(ROWS, Math.max(LEAST, said.length)));
  arrange(
    $("bars"),
    rows,
    (label) => label,
    row,
    (line, label) => fill(line, label, size(label), size(label) / total, source[label], shown),
  );
  const left = said.length - rows.length;
  if (left > 0) $("bars").append(make("li", { class: "more", "data-key": "" }, `and ${plural(left, "more label")}`));
}

function row(label) {
  return make(
    "li",
    {},
    make("span", { class: "name", title: label }, label),
    make(
      "span",
      { class: "track", "aria-hidden": "true" },
      make("span", { class: "fill" }),
      make("span", { class: "mark" }),
    ),
    make("span", { class: "count" }),
    make("span", { class: "unseen" }),
  );
}

function fill(line, label, votes, share, source, shown) {
  const [, track, count, spoken] = line.children;
  line.className = colour(label);
  const [bar, mark] = track.children;
  bar.style.setProperty("--share", share);
  mark.hidden = source === undefined;
  mark.style.setProperty("--share", source ?? 0);
  track.title = source === undefined ? "" : `The source view: ${percent(source)}`;
  count.textContent =
    shown.tally === null ? "" : shown.voted ? plural(Math.round(votes * 100) / 100, "vote") : percent(share);
  spoken.textContent = source === undefined ? "" : `the source view: ${percent(source)}`;
}

/** What was asked beside the vote: whether none of the labels fits, and about each label alone. */
function beside(prediction) {
  const none = prediction && noneOf(prediction);
  $("none-words").hidden = none === undefined || none === null;
  $("none-words").textContent = none === undefined || none === null ? "" : `That none of these fits is ${percent(none)} likely.`;
  const each = prediction?.each;
  $("each-body").hidden = !each;
  if (!each) return $("each").replaceChildren();
  $("each-words").replaceChildren(...pieces(words.shownSentence(prediction.shown)));
  const order = Object.keys(each).sort((a, b) => each[b] - each[a]);
  const rows = order.slice(0, Math.max(ROWS, prediction.shown.length));
  const update = (line, label) => {
    const [, track, count, spoken] = line.children;
    const there = prediction.shown.includes(label);
    line.className = there ? colour(label) : "c0";
    track.firstChild.style.setProperty("--share", each[label]);
    track.lastChild.hidden = true;
    count.textContent = `${there ? "yes" : "no"} · ${percent(each[label])}`;
    spoken.textContent = "";
  };
  arrange($("each"), rows, (label) => label, row, update);
  const left = order.length - rows.length;
  if (left > 0) $("each").append(make("li", { class: "more", "data-key": "" }, `and ${plural(left, "more label")}`));
}

/** How likely it is that none of the labels fits, where that was asked and is not the answer. */
const noneOf = (prediction) =>
  noneFits(prediction) || (prediction.votes ?? prediction.scores)[NONE] ? undefined : prediction.probabilities?.[NONE];

function squares(photo, shown) {
  const budget = Math.max(photo?.budget || 64, shown.views.length);
  const row = $("squares");
  row.style.setProperty("--columns", Math.min(32, budget));
  while (row.children.length > budget) row.lastChild.remove();
  while (row.children.length < budget) row.append(make("i", { "data-view": row.children.length }));
  shown.views.forEach((view, i) => (row.children[i].className = view.kept ? `in ${colour(view.label)}` : "in c0"));
  for (let i = shown.views.length; i < budget; i++) row.children[i].className = "";
  const kept = shown.views.filter((view) => view.kept).length;
  row.setAttribute("aria-label", `${shown.views.length} of ${budget} views looked at, ${kept} kept`);
}
