// The result of a finished game.

import { gamePath } from "./addresses.js";
import { html } from "./dom.js";
import { describeRanks, describeResult, nameTrack } from "./sentences.js";
import { texts } from "./texts.js";

/** @import { Ending, Game } from "./api_types.js" */

/**
 * Show how a game ended: ranks, markers, and the reasons.
 * @param {Game} game
 * @param {Ending} end
 */
export function createEnding({ key, rules, names }, end) {
  const solo = rules.seats_by_track.length === 1;
  const left = Object.entries(end.left);
  const tracks = end.ranks.map((_, track) => track).sort((a, b) => end.ranks[a] - end.ranks[b]);
  const rows = tracks.map((track) =>
    html(
      "tr",
      {},
      solo ? null : html("td", {}, `${end.ranks[track]}.`),
      html("th", { scope: "row" }, nameTrack(rules, names, track)),
      html("td", { class: "sorted" }, [...end.scores[track]].sort((a, b) => a - b).join(" ")),
    ),
  );
  const head = [...(solo ? [] : [texts.place]), texts.who, texts.markers];
  return html(
    "section",
    { class: "card ending", "aria-label": texts.result },
    html("h2", {}, describeResult(rules, names, end)),
    html(
      "div",
      { class: "buttons" },
      html("a", { class: "button main", href: `#/replay/${key}/review` }, texts.reviewGame),
      html("a", { class: "button", href: gamePath(key, "/record"), download: "" }, texts.download),
      html("a", { class: "button", href: "#/" }, texts.newGame),
    ),
    html(
      "table",
      {},
      html("thead", {}, html("tr", {}, head.map((words) => html("th", { scope: "col" }, words)))),
      html("tbody", {}, rows),
    ),
    left.map(([seat, reason]) => html("p", {}, texts.hasLeft[reason](names[Number(seat)]))),
    left.length ? null : describeRanks(rules, names, end).map((words) => html("p", {}, `${words[0].toUpperCase()}${words.slice(1)}.`)),
    html("p", { class: "hint" }, texts.ended(texts.ends[end.how] ?? end.how, end.seed)),
  );
}
