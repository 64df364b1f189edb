// Beside the board: the marker tracks and racks of every seat, the moves in words.

import { h, s } from "./dom.js";
import { NAMES, inWords, symbol, tileInWords, tilePicture, ground } from "./look.js";

export const seatsOf = (rules, track) =>
  Array.from({ length: rules.players }, (_, seat) => seat).filter((seat) => seat % rules.tracks === track);

export const trackName = (rules, names, track) => seatsOf(rules, track).map((seat) => names[seat]).join(" and ");

/** A panel for each track. `preview` are points by letter that the track to play would gain. */
export function panels(rules, names, position, { over = false, preview = null } = {}) {
  return Array.from({ length: rules.tracks }, (_, track) => {
    const seats = seatsOf(rules, track);
    const playing = !over && seats.includes(position.toPlay);
    const scores = position.scores[track];
    return h(
      "section",
      { class: playing ? "panel playing" : "panel", "aria-label": trackName(rules, names, track) },
      h(
        "h3",
        {},
        h("span", { class: "name" }, trackName(rules, names, track)),
        playing ? h("span", { class: "turn" }, "to play") : null,
        h("span", { class: "lowest", title: "the lowest marker counts" }, `lowest ${Math.min(...scores)}`),
      ),
      tracks(rules, scores, playing ? preview : null),
      seats.map((seat) => rack(seats.length > 1 ? names[seat] : null, position.racks[seat], rules.rack)),
    );
  });
}

/** Many tracks stand in two columns. */
export const tableClass = (rules) => (rules.tracks > 2 ? "table many" : "table");

const PEG = 9;
const ROW = 15;

function tracks(rules, scores, preview) {
  const top = rules.stops.at(-1);
  const peg = top > 18 ? PEG * 0.56 : PEG;
  const wide = 16 + (top + 1) * peg + 26;
  const rows = [...rules.colors].map((letter, color) => {
    const y = ROW * (color + 0.5);
    const to = preview?.[letter] ? moved(rules, scores[color], preview[letter]) : null;
    return track(letter, scores[color], to, { y, peg, wide, rules });
  });
  const words = [...rules.colors].map((letter, color) => `${NAMES[letter]} ${scores[color]}`).join(", ");
  return s("svg", { class: "tracks", viewBox: `0 0 ${wide} ${ROW * rules.colors.length}`, role: "img", "aria-label": words }, rows);
}

function track(letter, marker, to, { y, peg, wide, rules }) {
  const at = (n) => 14 + (n + 0.5) * peg;
  const top = rules.stops.at(-1);
  const holes = Array.from({ length: top + 1 }, (_, n) =>
    s("circle", { cx: at(n), cy: y, r: rules.stops.includes(n) ? 3.4 : 1.7, class: rules.stops.includes(n) ? "stop" : "hole" }),
  );
  const peak = s("g", { transform: `translate(${at(marker)} ${y})` }, s("circle", { r: 7, fill: ground() }), symbol(letter, 5));
  return s(
    "g",
    {},
    s("text", { x: 6, y: y + 3.5, class: "letter" }, letter),
    s("rect", { x: at(0) - 4, y: y - 4.5, width: at(top) - at(0) + 8, height: 9, rx: 4.5, class: "rail" }),
    holes,
    to === null ? null : s("line", { x1: at(marker), x2: at(to), y1: y, y2: y, class: "gain" }),
    to === null ? null : s("circle", { cx: at(to), cy: y, r: 5.5, class: "goal" }),
    peak,
    s("text", { x: wide - 2, y: y + 4, class: "count" }, to === null ? String(marker) : `→${to}`),
  );
}

/** Where a marker goes: to the next stop at most. */
export const moved = (rules, marker, points) =>
  Math.min(rules.stops.find((stop) => stop > marker) ?? marker, marker + points);

/** A rack: tiles, or how many there are. */
function rack(name, tiles, size) {
  const open = Array.isArray(tiles);
  const held = open ? tiles.filter(Boolean) : Array(tiles).fill(null);
  const words = open ? held.map(tileInWords).join(", ") || "no tiles" : `${tiles} tiles, hidden`;
  return h(
    "div",
    { class: size > 1 ? "rack" : "rack single", role: "img", "aria-label": `${name ? `${name}: ` : ""}rack: ${words}` },
    name ? h("span", { class: "holder" }, name) : null,
    held.map((tile) => tilePicture(tile, 10)),
  );
}

/** What happened, as a sentence about who did it. */
export function eventWords(event, names) {
  const name = names[event.seat];
  const you = name === "You";
  if (event.kind === "place") return `${name} ${you ? "lay" : "lays"} ${tileInWords(event.tile)}: ${pointsWords(event.points)}`;
  if (event.kind === "swap") return `${name} ${you ? "show and swap" : "shows and swaps"} ${event.tiles.map(tileInWords).join(", ")}`;
  if (event.kind === "draw") return `${name} ${you ? "draw" : "draws"} ${event.tiles.map(tileInWords).join(", ")}`;
  if (event.kind === "pass") return `${name} ${you ? "decline" : "declines"} a bonus`;
  return `${name} ${you ? "keep" : "keeps"} the rack`;
}

/** Points by letter, in words; with short names of the colors, if these are given. */
export function pointsWords(points, names = null) {
  const words = Object.entries(points).map(([letter, count]) => `${names?.[letter] ?? inWords(letter)} +${count}`);
  return words.length ? words.join(", ") : "no points";
}

/** A game's rules, in words. */
export function rulesWords(rules) {
  const mode = { individual: `${rules.players} seats`, team: "two teams", solo: "solo" }[rules.mode];
  const named = rules.named ?? rules;
  const variants = { side: "cells an edge", colors: "colors", rack: "tiles a rack", tile_sets: "boxes of tiles" };
  const words = Object.keys(variants).filter((name) => name in named).map((name) => `${named[name]} ${variants[name]}`);
  return [mode, `edition ${rules.edition}`, ...words].join(", ");
}
