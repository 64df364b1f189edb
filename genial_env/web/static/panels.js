// Beside the board: the markers of every track and the racks of its seats.

import { html, svg } from "./dom.js";
import { moveMarker, nameTrack } from "./sentences.js";
import { drawDisc, drawTile, nameTile } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { Letter, Points, Position, Rules } from "./api_types.js" */
/** @import { Child } from "./dom.js" */

const ROW = 15; // the height of a marker's row
const HOLE = 9; // the width of a hole of a row
const LONG_HOLE = HOLE * 0.56; // on the double track

/**
 * Create a panel for each track.
 * @param {Rules} rules
 * @param {string[]} names of the seats
 * @param {Position} position
 * @param {{over?: boolean, preview?: Points | null}} options over: nobody is to play; preview: the points that the
 *   track to play would gain
 */
export function createPanels(rules, names, position, { over = false, preview = null } = {}) {
  return rules.seats_by_track.map((seats, track) => {
    const playing = !over && track === position.track_to_play;
    const scores = position.scores[track];
    const name = nameTrack(rules, names, track);
    return html(
      "section",
      { class: playing ? "panel playing" : "panel", "aria-label": name },
      html(
        "h2",
        {},
        html("span", { class: "name" }, name),
        playing ? html("span", { class: "turn" }, texts.toPlay) : null,
        html("span", { class: "lowest", title: texts.lowestCounts }, texts.lowest(Math.min(...scores))),
      ),
      drawMarkers(rules, scores, playing ? preview : null),
      seats.map((seat) => createRack(seats.length > 1 ? names[seat] : null, position.racks[seat], rules.rack)),
    );
  });
}

/**
 * Lay out a game so that board and controls stay in view: what is beside them scrolls. style.css says where each part
 * lies, by the size of the window. The panels of many tracks stand in two columns.
 * @param {Rules} rules
 * @param {{title?: string, status: Child, board: Child, controls: Child, beside: Child}} parts title: for screen
 *   readers, if no part has a heading of the first level
 */
export function createTable(rules, { title, status, board, controls, beside }) {
  const rest = [
    title === undefined ? null : html("h1", { class: "unseen" }, title),
    status,
    html("div", { class: "act" }, controls),
    html("div", { class: "beside" }, beside),
  ];
  const many = rules.seats_by_track.length > 2;
  return html("div", { class: many ? "table many" : "table" }, board, html("div", { class: "rest" }, rest));
}

/**
 * @param {Rules} rules
 * @param {number[]} scores
 * @param {Points | null} preview
 */
function drawMarkers(rules, scores, preview) {
  const hole = rules.stops.length > 1 ? LONG_HOLE : HOLE;
  const width = 16 + rules.next_stop.length * hole + 26;
  const rows = [...rules.colors].map((letter, color) => {
    const points = preview?.[letter];
    const goal = points ? moveMarker(rules, scores[color], points) : null;
    return drawMarker(letter, scores[color], goal, { y: ROW * (color + 0.5), hole, width, rules });
  });
  const label = [...rules.colors].map((letter, color) => `${texts.colorName(letter)} ${scores[color]}`).join(", ");
  const viewBox = `0 0 ${width} ${ROW * rules.colors.length}`;
  return svg("svg", { class: "tracks", viewBox, role: "img", "aria-label": label }, rows);
}

/**
 * @param {Letter} letter
 * @param {number} marker
 * @param {number | null} goal where the marker would move
 * @param {{y: number, hole: number, width: number, rules: Rules}} layout
 */
function drawMarker(letter, marker, goal, { y, hole, width, rules }) {
  /** @param {number} place */
  const x = (place) => 14 + (place + 0.5) * hole;
  const top = rules.next_stop.length - 1;
  const holes = rules.next_stop.map((_, place) => {
    const isStop = rules.stops.includes(place);
    return svg("circle", { cx: x(place), cy: y, r: isStop ? 3.4 : 1.7, class: isStop ? "stop" : "hole" });
  });
  const move =
    goal === null
      ? null
      : [
          svg("line", { x1: x(marker), x2: x(goal), y1: y, y2: y, class: "gain" }),
          svg("circle", { cx: x(goal), cy: y, r: 5.5, class: "goal" }),
        ];
  return svg(
    "g",
    {},
    svg("text", { x: 6, y: y + 3.5, class: "letter" }, letter),
    svg("rect", { x: x(0) - 4, y: y - 4.5, width: x(top) - x(0) + 8, height: 9, rx: 4.5, class: "rail" }),
    holes,
    move,
    svg("g", { transform: `translate(${x(marker)} ${y})` }, drawDisc(letter, 7, 5)),
    svg("text", { x: width - 2, y: y + 4, class: "count" }, goal === null ? String(marker) : `→${goal}`),
  );
}

/**
 * @param {string | null} name whose rack it is, if that must be said
 * @param {string[] | number} tiles or how many there are
 * @param {number} size slots
 */
function createRack(name, tiles, size) {
  const held = typeof tiles === "number" ? Array(tiles).fill(null) : tiles.filter(Boolean);
  const label = texts.rack(name, typeof tiles === "number" ? tiles : held.map(nameTile));
  return html(
    "div",
    { class: size > 1 ? "rack" : "rack single", role: "img", "aria-label": label },
    name === null ? null : html("span", { class: "holder" }, name),
    held.map((tile) => drawTile(tile, 10)),
  );
}

/**
 * Create the list of the tiles that a seat has not seen yet, which is opened on demand.
 * @returns {{element: HTMLElement, show: (position: Position, over: boolean) => void}}
 */
export function createUnseen() {
  const title = html("summary");
  const list = html("ul");
  const element = html("details", { class: "card unseen-tiles" }, title, html("p", { class: "hint" }, texts.unseenHelp), list);
  return {
    element,
    show: ({ unseen }, over) => {
      const kinds = Object.entries(unseen ?? {});
      element.hidden = unseen === undefined || over;
      title.textContent = texts.unseen(kinds.reduce((sum, [, tiles]) => sum + tiles, 0));
      const items = kinds.map(([tile, tiles]) =>
        html("li", {}, drawTile(tile, 10), html("span", { role: "img", "aria-label": texts.unseenTile(tiles, nameTile(tile)) }, String(tiles))),
      );
      list.replaceChildren(...items);
    },
  };
}
