// The tile in hand over the board: where it lies, what it scores, and the same in words.

import { findBonusStop, moveMarker } from "./sentences.js";
import { nameColor } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { Grid, Line } from "./board.js" */
/** @import { Hand } from "./hand.js" */
/** @import { Game, Points } from "./api_types.js" */

/** @typedef {Pick<Game, "rules" | "position" | "choice" | "seat">} Laying what is known of a game in which a tile is laid */

/**
 * A tile over the board. What it scores is there if it fits.
 * @typedef {object} Placement
 * @property {string} tile
 * @property {number[]} cells
 * @property {boolean} fits
 * @property {number[]} halves the points of each half
 * @property {Points} points
 * @property {Line[]} lines
 */

/**
 * Return the tile in hand over the board; null if it is nowhere.
 * @param {Laying} game
 * @param {Hand} hand
 * @param {Grid} grid
 * @returns {Placement | null}
 */
export function findPlacement({ choice, position, rules, seat }, hand, grid) {
  const { slot, anchor } = hand;
  const rack = seat === null ? 0 : position.racks[seat];
  if (!choice || slot === null || anchor === null || typeof rack === "number") return null;
  const tile = rack[slot];
  const { cells, fits } = hand.cover(grid, anchor);
  if (!fits) return { tile, cells, fits, halves: [], points: {}, lines: [] };
  const halves = cells.map((cell, side) => choice.points[cell][rules.colors.indexOf(tile[side])]);
  /** @type {Points} */
  const points = {};
  halves.forEach((count, side) => {
    if (count) points[tile[side]] = (points[tile[side]] ?? 0) + count;
  });
  return { tile, cells, fits, halves, points, lines: grid.scoringLines(position, cells, tile) };
}

/**
 * Say where a tile lies and what it scores.
 * @param {Laying} game
 * @param {Grid} grid
 * @param {Placement} placement
 */
export function describePlacement(game, grid, { fits, tile, cells, halves, points }) {
  if (!fits) return describeMisfit(game);
  const where = cells.map((cell) => grid.name(cell)).join(" ");
  const words = halves.map((count, side) => texts.halfPoints(nameColor(tile[side]), count));
  return texts.preview(where, words, halves[0] + halves[1], describeMarkers(game, points));
}

/**
 * Say why a tile does not fit.
 * @param {Laying} game
 */
export function describeMisfit({ choice }) {
  return choice?.first_tile ? texts.firstTile : texts.doesNotFit;
}

/**
 * Say what points do to the markers.
 * @param {Laying} game
 * @param {Points} points
 */
function describeMarkers({ rules, position }, points) {
  const scores = position.scores[position.track_to_play];
  let bonuses = 0;
  return Object.entries(points).map(([letter, count]) => {
    const before = scores[rules.colors.indexOf(letter)];
    const after = moveMarker(rules, before, count);
    const arrives = findBonusStop(rules, before, after) !== undefined;
    if (arrives) bonuses += 1;
    return texts.markerMove(nameColor(letter), before, after, arrives && bonuses <= rules.bonuses_a_tile);
  });
}
