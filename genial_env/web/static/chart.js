// The chart of a review: a line for each seat, and the same numbers as a table.

import { html, svg } from "./dom.js";
import { texts } from "./texts.js";

/** @import { Decision, Review, Rules } from "./api_types.js" */

const WIDTH = 320;
const HEIGHT = 130;
const LEFT = 36; // room for "100 %"
const RIGHT = 6;
const DOTS = [
  "M-2.4-2.4h4.8v4.8h-4.8z",
  "M0-3.2L3 2.4H-3z",
  "M0-3.2L3.2 0 0 3.2-3.2 0z",
  "M-2.6-.8h1.8v-1.8h1.6v1.8h1.8v1.6h-1.8v1.8h-1.6v-1.8h-1.8z",
]; // a shape for each seat

/**
 * Create the chart of a review.
 * @param {Rules} rules
 * @param {string[]} names of the seats
 * @param {Review} review
 * @param {(decision: number) => void} onPick called with the number of the decision that is clicked
 * @returns {{element: HTMLElement, mark: (decision: number) => void}} `mark` shows which decision is looked at
 */
export function createChart(rules, names, { decisions, unit }, onPick) {
  const solo = unit === "lowest marker";
  /** @param {Decision} decision */
  const valueOf = (decision) => (solo ? decision.utility : decision.win);
  /** @param {number} value */
  const format = (value) => (solo ? texts.number(value, 1) : texts.percent(value));
  const top = solo ? Math.max(rules.stops[0], ...decisions.map(valueOf)) : 1;
  const scale = (WIDTH - LEFT - RIGHT) / Math.max(1, decisions.length - 1);
  /** @param {number} index */
  const x = (index) => LEFT + scale * index;
  /** @param {number} value */
  const y = (value) => 6 + (HEIGHT - 24) * (1 - value / top);
  const title = solo ? texts.expectedLowest : texts.winChance;
  const ticks = [0, top / 2, top].map((value) => [
    svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
    svg("text", { class: "tick", x: LEFT - 4, y: y(value) + 3.5 }, solo ? String(Math.round(value)) : format(value)),
  ]);
  const lines = names.map((_, seat) => {
    const points = decisions.flatMap((each, index) => (each.seat === seat ? [[x(index), y(valueOf(each))]] : []));
    const line = points.map(([across, down]) => `${across.toFixed(1)},${down.toFixed(1)}`).join(" ");
    const dots = points.map(([across, down]) => drawDot(seat, across, down));
    return svg("g", { class: `seat seat-${seat}` }, svg("polyline", { points: line }), dots);
  });
  const cursor = svg("line", { class: "now", y1: 4, y2: HEIGHT - 16, x1: -9, x2: -9 });
  /** @param {MouseEvent} event */
  const onClick = (event) => {
    const box = picture.getBoundingClientRect();
    const index = Math.round((((event.clientX - box.left) * WIDTH) / box.width - LEFT) / scale);
    onPick(Math.max(0, Math.min(decisions.length - 1, index)));
  };
  const label = texts.chartLabel(title);
  const picture = svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, onclick: onClick },
    ticks,
    lines,
    cursor,
    svg("text", { class: "tick middle", x: (LEFT + WIDTH) / 2, y: HEIGHT - 3 }, texts.chartAxis(decisions.length)),
  );
  const table = createTable(names, decisions, title, (decision) => format(valueOf(decision)));
  const element = html("figure", {}, html("figcaption", {}, title), picture, createLegend(names), table);
  const mark = (/** @type {number} */ index) =>
    ["x1", "x2"].forEach((end) => cursor.setAttribute(end, String(index < 0 ? -9 : x(index))));
  return { element, mark };
}

/**
 * @param {number} seat
 * @param {number} x
 * @param {number} y
 */
function drawDot(seat, x, y) {
  return svg("path", { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, d: DOTS[seat] });
}

/** @param {string[]} names */
function createLegend(names) {
  const entries = names.map((name, seat) => {
    const line = svg("g", { class: `seat seat-${seat}` }, svg("polyline", { points: "-11,0 11,0" }), drawDot(seat, 0, 0));
    const picture = svg("svg", { viewBox: "-12 -6 24 12", width: 24, height: 12, "aria-hidden": true }, line);
    return html("span", {}, picture, ` ${name}`);
  });
  return html("p", { class: "legend" }, entries);
}

/**
 * @param {string[]} names
 * @param {Decision[]} decisions
 * @param {string} title of the values
 * @param {(decision: Decision) => string} format returns the value of a decision
 */
function createTable(names, decisions, title, format) {
  const rows = decisions.map((decision, index) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, String(index + 1)),
      html("td", {}, names[decision.seat]),
      html("td", {}, format(decision)),
      html("td", {}, texts.verdicts[decision.verdict]),
      html("td", {}, texts.number(decision.loss, 2)),
    ),
  );
  const head = texts.tableHead(title).map((words) => html("th", { scope: "col" }, words));
  const table = html("table", {}, html("thead", {}, html("tr", {}, head)), html("tbody", {}, rows));
  return html("details", {}, html("summary", {}, texts.asTable), html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, table));
}
