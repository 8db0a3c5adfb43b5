// What is said about a vote, and numbers in words. Nothing here touches the page.

const SMALL = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

export const number = (n) => SMALL[n] ?? String(n);
export const capital = (text) => text[0].toUpperCase() + text.slice(1);
export const plural = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
export const seconds = (s) => (s < 0.01 ? "under 0.01 s" : `${s.toFixed(s < 10 ? 2 : 1)} s`);

export function percent(p) {
  if (p > 0 && p < 0.005) return "under 1%";
  if (p < 1 && p >= 0.995) return "over 99%";
  return `${Math.round(100 * p)}%`;
}

/** The label that is best, even where none was given because it is too unsure. */
export const best = (prediction) => prediction.label ?? Object.keys(prediction.scores)[0];

/** How likely the answer is. */
export const likelihood = (prediction) => prediction.probability ?? prediction.confidence;

export const NONE = "none of these"; // the label that is added where it is asked for; no view votes for it

/** Whether the answer is that none of the labels fits. */
export const noneFits = (prediction) =>
  prediction.label === NONE && !(prediction.votes ?? prediction.scores)[NONE];

/** The most probable of the labels that were given. */
export const closest = (prediction) => Object.keys(prediction.probabilities ?? prediction.scores).find((l) => l !== NONE);

/** Whether there is no answer: the service gave none, or it is less likely than the page asks for. */
export const isUnsure = (prediction, below) => prediction.label === null || likelihood(prediction) < below;

/** One sentence that is true for every outcome, in pieces: strings, and {b: label}. */
export function sentence(prediction, below = 0) {
  const label = best(prediction);
  const p = percent(likelihood(prediction));
  if (noneFits(prediction)) {
    const near = closest(prediction);
    return ["None of your labels fits. Closest: ", { b: near }, `, ${percent(prediction.probabilities[near])}.`];
  }
  if (isUnsure(prediction, below)) return ["No answer: the best guess, ", { b: label }, `, is only ${p} likely.`];
  const views = prediction.trace.views;
  const kept = views.filter((view) => view.kept);
  if (views.length === 1 || (kept.length === 1 && views[0].kept))
    return ["The source view settled it: ", { b: label }, "."];
  return [...agreeing(prediction, kept, label), ...sourceView(views[0], label)];
}

function agreeing(prediction, kept, label) {
  if (kept.length === 1) return [`The most confident of ${number(prediction.views_used)} views says `, { b: label }];
  if (prediction.votes === null) return [`Together, ${kept.length} confident views say `, { b: label }];
  const votes = prediction.votes[label];
  if (votes === kept.length) return [`${votes === 2 ? "Both" : `All ${votes}`} confident views say `, { b: label }];
  return [`${votes} of ${kept.length} confident views ${votes === 1 ? "says" : "say"} `, { b: label }];
}

function sourceView(source, label) {
  if (source.label === label) return [", and so does the source view."];
  return ["; the source view looked more like ", { b: source.label }, ` (${percent(source.top_probability)}).`];
}

/** Which labels are there, each by itself, in one sentence. */
export function shownSentence(shown) {
  if (shown.length === 0) return ["None of them seems to be there."];
  const parts = shown.flatMap((label, i) => {
    const before = i === 0 ? [] : [i === shown.length - 1 ? " and " : ", "];
    return [...before, { b: label }];
  });
  return [...parts, shown.length === 1 ? " seems to be there." : " seem to be there."];
}

/** What the answer cost, and whether less would have done. `leaders` are [views seen, leader] of the rounds. */
export function cost(prediction, budget, leaders) {
  const spent = `${prediction.views_used} of ${plural(budget, "view")}, ${seconds(prediction.timings.total)}.`;
  const after = { confident: "No more were needed.", exact: "The others could not change it." }[prediction.stop];
  if (after) return `${spent} ${after}`;
  const enough = settledAfter(leaders, best(prediction));
  return enough && enough < prediction.views_used ? `${spent} ${capital(number(enough))} were enough.` : spent;
}

/** The number of views from which on the leader was the one that won; null where none is known. */
export function settledAfter(leaders, winner) {
  let found = null;
  for (const [seen, leader] of leaders) found = leader === winner ? (found ?? seen) : null;
  return found;
}

/**
 * The labels in a text: a JSON list, or one a line, or separated by commas, semicolons or tabs; `texts` are those that
 * JSON gives to labels, as {"cat": ["a cat", "a kitten"]} or [{"label": "cat", "texts": [...]}].
 */
export function readLabels(text) {
  const trimmed = text.replace(/^\ufeff/, "").trim();
  if (/^[[{]/.test(trimmed)) {
    try {
      return fromJson(JSON.parse(trimmed));
    } catch {
      // Not JSON after all.
    }
  }
  const parts = trimmed.split(/\r?\n/).length > 1 ? trimmed.split(/[\r\n\t;]+/) : trimmed.split(/[,;\t]+/);
  return { labels: clean(parts), texts: {} };
}

function fromJson(value) {
  const inner = Object.keys(value).length === 1 ? value.labels : undefined;
  if (inner && typeof inner === "object") return fromJson(inner);
  const pairs = Array.isArray(value)
    ? value.map((entry) => (entry?.label === undefined ? [entry] : [entry.label, entry.texts ?? entry.text]))
    : Object.entries(value);
  const texts = {};
  for (const [label, own] of pairs) {
    const list = [own ?? []].flat().map((text) => String(text).trim());
    if (list.some(Boolean) && !(list.length === 1 && list[0] === label)) texts[String(label).trim()] = list.filter(Boolean);
  }
  return { labels: clean(pairs.map(([label]) => String(label))), texts };
}

const clean = (list) => [
  ...new Set(
    list
      .map((label) =>
        label
          .trim()
          .replace(/^"(.*)"$/, "$1")
          .replace(/,$/, ""),
      )
      .filter(Boolean),
  ),
];
