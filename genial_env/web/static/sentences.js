// Sentences about events, points and rules.

import { nameColor, nameTile } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { GameEvent, Letter, Points, Rules } from "./api_types.js" */

/**
 * Say what happened.
 * @param {GameEvent} event
 * @param {string[]} names of the seats
 */
export function describeEvent(event, names) {
  const name = names[event.seat];
  const tiles = (event.tiles ?? []).map(nameTile);
  switch (event.kind) {
    case "place":
      return texts.placed(name, nameTile(event.tile ?? ""), describePoints(event.points ?? {}));
    case "swap":
      return texts.swapped(name, tiles);
    case "draw":
      return texts.drew(name, tiles);
    case "pass":
      return texts.declined(name);
    default:
      return texts.kept(name);
  }
}

/**
 * Say how many points each color got.
 * @param {Points} points
 * @param {(letter: Letter) => string} nameOf
 */
export function describePoints(points, nameOf = nameColor) {
  const words = Object.entries(points).map(([letter, count]) => texts.gained(nameOf(letter), count));
  return words.length ? words.join(", ") : texts.noPoints;
}

/**
 * Name a track by the names of its seats.
 * @param {Pick<Rules, "seats_by_track">} rules
 * @param {string[]} names
 * @param {number} track
 */
export const nameTrack = (rules, names, track) => texts.list(rules.seats_by_track[track].map((seat) => names[seat]));

/**
 * Say who has won, or how far one has come in solo.
 * @param {Pick<Rules, "seats_by_track">} rules
 * @param {string[]} names of the seats
 * @param {{scores: number[][], ranks: number[]}} end
 */
export function describeResult(rules, names, { scores, ranks }) {
  if (ranks.length === 1) return texts.soloResult(Math.min(...scores[0]));
  const winners = ranks.flatMap((rank, track) => (rank === 1 ? [track] : []));
  const words = texts.list(winners.map((track) => nameTrack(rules, names, track)));
  if (winners.length > 1) return texts.shared(words);
  return texts.winner(words, rules.seats_by_track[winners[0]].length > 1);
}
