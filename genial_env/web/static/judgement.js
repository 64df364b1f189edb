// What the judge says of a decision: its verdict, the rack that was held, and the alternatives.

import { html } from "./dom.js";
import { tryAddress } from "./lessons.js";
import { describePoints, nameAction } from "./sentences.js";
import { drawTile, nameTile } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { Grid } from "./board.js" */
/** @import { Alternative, Decision, Position } from "./api_types.js" */

export const LETTERS = "ABC"; // of alternatives
export const SIGNS = { best: "★", good: "✓", inaccuracy: "?!", mistake: "?", blunder: "??" };

/**
 * Label the pairs of cells of alternatives; those on the same pair share a label.
 * @param {Alternative[]} alternatives
 */
export function labelPairs(alternatives) {
  /** @type {Map<string, import("./board.js").Pill>} */
  const pills = new Map();
  alternatives.forEach(({ cells }, index) => {
    if (!cells.length) return;
    const pair = [...cells].sort((a, b) => a - b).join();
    const words = (pills.get(pair)?.words ?? "") + LETTERS[index];
    pills.set(pair, { cells, words, square: false });
  });
  return [...pills.values()];
}

/**
 * Return the tile of an alternative; "" for an action that is no placement.
 * @param {Alternative} alternative
 * @param {Position} position
 */
export function tileOf({ slot }, position) {
  const rack = position.racks[position.to_play];
  return slot === null || typeof rack === "number" ? "" : rack[slot];
}

/**
 * A reviewed decision as it is looked at.
 * @typedef {object} Looked
 * @property {Decision} decision
 * @property {Position} position in which it was made
 * @property {string} [seen] that position as text, as its seat saw it
 * @property {string} [tile] that was laid
 * @property {string} name of the seat
 * @property {Grid} grid
 * @property {boolean} solo whether decisions are valued by the lowest marker
 * @property {number | null} chosen the alternative that is looked at
 * @property {boolean} after whether the position after the decision is shown
 */

/**
 * Create the card of a reviewed decision.
 * @param {Looked} looked
 * @param {{onChoose: (index: number) => unknown, onToggle: () => unknown}} actions onChoose: look at an alternative;
 *   onToggle: show the position after the decision, or before it again
 */
export function createJudgement(looked, { onChoose, onToggle }) {
  const { decision, solo, after } = looked;
  const { verdict, utility, best, loss, error, alternatives } = decision;
  const worth = [utility, best].map((value) => texts.worth(value, solo));
  return html(
    "div",
    { class: "card" },
    html("p", {}, html("span", { class: `sign ${verdict}` }, SIGNS[verdict]), texts.judgement(texts.verdicts[verdict], worth, loss, error)),
    html(
      "div",
      { class: "held" },
      createHeldRack(looked),
      html("button", { type: "button", class: "quiet turn-over", onclick: onToggle }, after ? texts.showBefore : texts.showAfter),
      createTryAgain(looked),
    ),
    html(
      "div",
      { class: "alternatives", role: "group", "aria-label": texts.instead },
      alternatives.map((other, index) => createAlternative(looked, other, index, () => onChoose(index))),
    ),
  );
}

/**
 * Create the button of an alternative.
 * @param {Looked} looked
 * @param {Alternative} alternative
 * @param {number} index
 * @param {() => unknown} onclick
 */
function createAlternative({ position, grid, solo, chosen }, alternative, index, onclick) {
  const { cells, points, utility, word } = alternative;
  const tile = tileOf(alternative, position);
  const where = cells.map((cell) => grid.name(cell)).join(" ");
  const worth = texts.worth(utility, solo);
  const placed = texts.otherPlacement(where, describePoints(points, texts.colorName), worth);
  const content = tile
    ? [drawTile(tile, 10), html("span", { class: "unseen" }, `${nameTile(tile)} `), html("span", {}, placed)]
    : texts.otherAction(nameAction(word, position.phase), worth);
  return html(
    "button",
    { type: "button", class: "alternative", "aria-pressed": String(chosen === index), onclick },
    html("strong", {}, `${LETTERS[index]} `),
    content,
  );
}

/**
 * Create the rack that was held when the decision was made; the tile that was laid is framed.
 * @param {Looked} looked
 */
function createHeldRack({ position, tile, name }) {
  const rack = position.racks[position.to_play];
  const held = typeof rack === "number" ? [] : rack.filter(Boolean);
  const laid = held.indexOf(tile ?? "");
  const tiles = held.map((each, index) => {
    const drawn = drawTile(each, 10);
    drawn.classList.toggle("laid", index === laid);
    return drawn;
  });
  return html("span", { role: "img", "aria-label": texts.rack(name, held.map(nameTile)) }, tiles);
}

/**
 * Create the link to look for a better decision.
 * @param {Looked} looked
 */
function createTryAgain({ decision, seen }) {
  if (!seen || ["best", "good"].includes(decision.verdict)) return null;
  return html("a", { class: "button quiet", href: tryAddress(seen) }, texts.tryAgain);
}
