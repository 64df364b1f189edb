// Sentences about events, points and rules.

import { nameColor, nameTile } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { Grid } from "./board.js" */
/** @import { Ending, GameEvent, Letter, Points, Position, Rules } from "./api_types.js" */

/**
 * What happened, and the markers that arrived at a stop which earns a bonus turn.
 * @typedef {{words: string, arrivals: string[]}} Told
 */

/**
 * Say what happened in a game, event by event.
 * @param {Rules} rules
 * @param {string[]} names of the seats
 * @param {Grid} grid
 * @param {GameEvent[]} events
 * @param {number[][] | null} scores the markers of each track before the events; null at the deal
 * @returns {Told[]}
 */
export function describeEvents(rules, names, grid, events, scores = null) {
  const markers = rules.seats_by_track.map((_, track) => [...(scores?.[track] ?? [...rules.colors].map(() => 0))]);
  return events.map((event) => {
    const track = rules.seats_by_track.findIndex((seats) => seats.includes(event.seat));
    const arrivals = advanceMarkers(rules, markers[track], event.points ?? {});
    return { words: [describeEvent(event, names, grid), ...arrivals.map(texts.bonusFor)].join("; "), arrivals };
  });
}

/**
 * Move markers by points, and say which of them earn a bonus turn.
 * @param {Rules} rules
 * @param {number[]} markers of a track
 * @param {Points} points
 */
function advanceMarkers(rules, markers, points) {
  return Object.entries(points).flatMap(([letter, count]) => {
    const color = rules.colors.indexOf(letter);
    const before = markers[color];
    markers[color] = moveMarker(rules, before, count);
    const stop = findBonusStop(rules, before, markers[color]);
    return stop === undefined ? [] : [texts.arrival(nameColor(letter), stop)];
  });
}

/**
 * Return where a marker moves.
 * @param {Rules} rules
 * @param {number} marker
 * @param {number} points
 */
export const moveMarker = (rules, marker, points) => Math.min(rules.furthest[marker], marker + points);

/**
 * Return the stop at which the arrival of a marker earns a bonus turn; undefined if there is none.
 * @param {Rules} rules
 * @param {number} before
 * @param {number} after
 */
export const findBonusStop = (rules, before, after) => rules.bonus_stops.find((stop) => before < stop && stop <= after);

/**
 * @param {GameEvent} event
 * @param {string[]} names of the seats
 * @param {Grid} grid
 */
function describeEvent(event, names, grid) {
  const name = names[event.seat];
  const tiles = (event.tiles ?? []).map(nameTile);
  switch (event.kind) {
    case "place": {
      const halves = [...(event.tile ?? "")].map(nameColor);
      const cells = (event.cells ?? []).map((cell) => grid.name(cell));
      return texts.placed(name, texts.tileAt(halves, cells), describePoints(event.points ?? {}));
    }
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

/**
 * Say why the tracks of a finished game rank as they do.
 * @param {Pick<Rules, "seats_by_track">} rules
 * @param {string[]} names of the seats
 * @param {Ending} end
 */
export function describeRanks(rules, names, { why, reasons }) {
  const { reason } = texts;
  return reason === null ? why : reasons.map((each) => reason(each, (track) => nameTrack(rules, names, track)));
}

/**
 * Name a decision.
 * @param {"swap" | "decline" | undefined} word undefined for a placement
 * @param {Position["phase"]} phase in which it is made
 */
export function nameAction(word, phase) {
  const actions = texts.hintActions;
  if (word === undefined) return actions.place;
  if (word === "swap") return actions.swap;
  return phase === "swap" ? actions.keep : actions.decline;
}
