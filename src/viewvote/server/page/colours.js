// A label's colour: given in order of votes, kept as long as the page is open. Labels without votes are grey.

const COUNT = 7;
const given = new Map();

/** Give colours to labels with votes, the most first. */
export function colourVoted(tally, known) {
  const voted = Object.entries(tally).filter(([label, count]) => count > 0 && known.has(label));
  for (const [label] of voted.sort((a, b) => b[1] - a[1])) {
    if (!given.has(label)) given.set(label, (given.size % COUNT) + 1);
  }
}

/** The CSS class of a label's colour. */
export const colour = (label) => `c${given.get(label) ?? 0}`;
