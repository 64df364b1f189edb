// How the chances went: a line a seat, and the same as a table.

import { h, s } from "./dom.js";

const WIDE = 320;
const HIGH = 130;
const LEFT = 30;

/** A chart of a review. `picked` is called with the number of a decision; `mark` shows which one is looked at. */
export function chart(names, { decisions, unit }, picked) {
  const solo = unit === "lowest marker";
  const value = (decision) => (solo ? decision.utility : decision.win);
  const top = solo ? Math.max(18, ...decisions.map(value)) : 1;
  const x = (index) => LEFT + ((WIDE - LEFT - 6) * index) / Math.max(1, decisions.length - 1);
  const y = (v) => 6 + (HIGH - 24) * (1 - v / top);
  const cursor = s("line", { class: "now", y1: 4, y2: HIGH - 16, x1: -9, x2: -9 });
  const title = solo ? "Expected lowest marker" : "Chance of the first place";
  const ticks = [0, top / 2, top].map((v) => [
    s("line", { class: "grid", x1: LEFT, x2: WIDE - 6, y1: y(v), y2: y(v) }),
    s("text", { class: "tick", x: LEFT - 4, y: y(v) + 3.5 }, solo ? String(Math.round(v)) : `${Math.round(100 * v)}%`),
  ]);
  const lines = names.map((_, seat) => {
    const own = decisions.map((decision, index) => ({ decision, index })).filter((each) => each.decision.seat === seat);
    const points = own.map(({ decision, index }) => `${x(index).toFixed(1)},${y(value(decision)).toFixed(1)}`);
    const dots = own.map(({ decision, index }) => dot(seat, x(index), y(value(decision))));
    return s("g", { class: `seat seat-${seat}` }, s("polyline", { points: points.join(" ") }), dots);
  });
  const pick = (event) => {
    const box = picture.getBoundingClientRect();
    const at = (((event.clientX - box.left) * WIDE) / box.width - LEFT) / (WIDE - LEFT - 6);
    picked(Math.max(0, Math.min(decisions.length - 1, Math.round(at * (decisions.length - 1)))));
  };
  const picture = s(
    "svg",
    { class: "chart", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `${title} by decision; the table below has the numbers`, onclick: pick },
    ticks,
    lines,
    cursor,
    s("text", { class: "tick middle", x: (LEFT + WIDE) / 2, y: HIGH - 3 }, `decision 1 to ${decisions.length}`),
  );
  const element = h("figure", {}, h("figcaption", {}, title), picture, legend(names), table(names, decisions, title, value, solo));
  return { element, mark: (index) => ["x1", "x2"].forEach((end) => cursor.setAttribute(end, index < 0 ? -9 : x(index))) };
}

/** Each seat has a shape of its own. */
function dot(seat, x, y) {
  const transform = `translate(${x.toFixed(1)} ${y.toFixed(1)})`;
  return s("path", { transform, d: ["M-2.4-2.4h4.8v4.8h-4.8z", "M0-3.2L3 2.4H-3z", "M0-3.2L3.2 0 0 3.2-3.2 0z", "M-2.6-.8h1.8v-1.8h1.6v1.8h1.8v1.6h-1.8v1.8h-1.6v-1.8h-1.8z"][seat] });
}

const legend = (names) =>
  h(
    "p",
    { class: "legend" },
    names.map((name, seat) => h("span", {}, s("svg", { viewBox: "-12 -6 24 12", width: 24, height: 12, "aria-hidden": true }, s("g", { class: `seat seat-${seat}` }, s("polyline", { points: "-11,0 11,0" }), dot(seat, 0, 0))), ` ${name}`)),
  );

function table(names, decisions, title, value, solo) {
  const rows = decisions.map((decision, index) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, String(index + 1)),
      h("td", {}, names[decision.seat]),
      h("td", {}, solo ? value(decision).toFixed(1) : `${Math.round(100 * value(decision))}%`),
      h("td", {}, decision.verdict),
      h("td", {}, decision.loss.toFixed(2)),
    ),
  );
  const head = ["No.", "Who", title, "Verdict", "Loss"].map((words) => h("th", { scope: "col" }, words));
  return h("details", {}, h("summary", {}, "As a table"), h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows))));
}
