// Below the board: the rack and the buttons of the person to play.

import { html } from "./dom.js";
import { drawTile, nameTile } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { Game } from "./api_types.js" */

/**
 * What the buttons do.
 * @typedef {Record<"lay" | "takeBack" | "rotate" | "hint" | "swap" | "decline", () => unknown>} Actions
 */

/**
 * Create the card that hides the rack until the person to play says so.
 * @param {string} name of the seat to play
 * @param {() => unknown} onOpen
 */
export function createCurtain(name, onOpen) {
  return html(
    "div",
    { class: "card curtain" },
    html("p", {}, html("strong", {}, texts.handOver(name)), texts.racksHidden),
    html("button", { class: "main", type: "button", "data-act": "open", onclick: onOpen }, texts.showTiles(name)),
  );
}

/**
 * Create the rack, with a button for each tile.
 * @param {string[]} tiles by slot
 * @param {{chosen: number | null, disabled: boolean, onPick: (slot: number) => void}} options
 */
export function createRack(tiles, { chosen, disabled, onPick }) {
  const slots = tiles.map((tile, slot) => {
    if (!tile) return html("span", { class: "slot empty", "aria-hidden": true });
    return html(
      "button",
      {
        type: "button",
        class: "slot",
        "data-act": `tile-${slot}`,
        "aria-pressed": String(slot === chosen),
        "aria-label": texts.slot(slot, nameTile(tile)),
        disabled,
        onclick: () => onPick(slot),
      },
      drawTile(tile, 18),
      html("kbd", { "aria-hidden": true }, String(slot + 1)),
    );
  });
  return html("div", { class: "my-rack", role: "group", "aria-label": texts.yourRack }, slots);
}

/**
 * Create the buttons.
 * @param {Pick<Game, "choice" | "position" | "judge">} game
 * @param {{choosing: boolean, placing: boolean, isHeld: boolean, isFixed: boolean}} state choosing: the person may
 *   decide now; placing: the person may place a tile now; isHeld: a tile is in hand; isFixed: it has been put down
 * @param {Actions} actions
 */
export function createButtons({ choice, position, judge }, { choosing, placing, isHeld, isFixed }, actions) {
  const { keys } = texts;
  /** @type {(words: string, onclick: () => unknown, options: {main?: boolean, enabled: boolean, key?: string}) => HTMLElement} */
  const button = (words, onclick, { main = false, enabled, key }) =>
    html(
      "button",
      { type: "button", class: main ? "main" : null, "data-act": words, disabled: !enabled, onclick },
      words,
      key ? html("kbd", { "aria-hidden": true }, key) : null,
    );
  const hint = judge
    ? button(texts.hint, actions.hint, { enabled: choice?.swap ? choosing : placing, key: keys.hint })
    : null;
  if (choice?.swap) {
    return html(
      "div",
      { class: "buttons" },
      button(texts.swapAll, actions.swap, { main: true, enabled: choosing }),
      button(texts.keep, actions.decline, { enabled: choosing }),
      hint,
    );
  }
  const mayDecline = choice?.decline && position.phase === "bonus";
  return html(
    "div",
    { class: "buttons" },
    button(texts.lay, actions.lay, { main: true, enabled: placing && isFixed, key: keys.lay }),
    button(texts.takeBack, actions.takeBack, { enabled: placing && isHeld, key: keys.takeBack }),
    button(texts.rotate, actions.rotate, { enabled: placing && isHeld, key: keys.rotate }),
    mayDecline ? button(texts.declineBonus, actions.decline, { enabled: choosing }) : null,
    hint,
  );
}
