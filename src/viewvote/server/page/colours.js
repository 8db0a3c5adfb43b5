// A label's colour: given in order of votes, kept as long as the page is open. Labels without votes are grey.

const COLOURS = [1, 2, 3, 4, 5, 6, 7];
const given = new Map();

/** Give colours to labels with votes, the most first; where all are in use, one that no other label of this vote has. */
export function colourVoted(tally, known) {
  const voted = Object.entries(tally)
    .filter(([label, count]) => count > 0 && known.has(label))
    .sort((a, b) => b[1] - a[1])
    .map(([label]) => label);
  for (const label of voted) if (!given.has(label)) given.set(label, next(voted));
}

function next(voted) {
  const here = new Set(voted.map((label) => given.get(label)));
  const used = (colour) => [...given.values()].filter((other) => other === colour).length;
  const cost = (colour) => used(colour) + (here.has(colour) ? 1000 : 0);
  return COLOURS.reduce((best, colour) => (cost(colour) < cost(best) ? colour : best));
}

/** The CSS class of a label's colour. */
export const colour = (label) => `c${given.get(label) ?? 0}`;
