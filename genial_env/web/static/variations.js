// The tree of the moves that were tried in an analysis, and the analyses that the browser keeps.

import { html } from "./dom.js";
import { texts } from "./texts.js";

/** @import { Move } from "./api_types.js" */

/**
 * A position, and the move that led to it.
 * @typedef {object} Variation
 * @property {string} text of the position
 * @property {string} words what was done, "" for the first position
 * @property {number[]} cells of the tile that was laid
 * @property {string} key of the move
 * @property {number} parent its number, -1 for the first position
 */

const STORE = "genial-analyses";
const MOST_SAVED = 40;
const MOST_POSITIONS = 2000;

export class Variations {
  /**
   * @param {string} text of the first position
   * @param {Variation[]} [nodes]
   * @param {number} [at]
   */
  constructor(text, nodes = [{ text, words: "", cells: [], key: "", parent: -1 }], at = 0) {
    this.nodes = nodes;
    this.at = at;
  }

  get current() {
    return this.nodes[this.at];
  }

  /** @param {number} at */
  children(at) {
    return this.nodes.flatMap(({ parent }, index) => (parent === at ? [index] : []));
  }

  /**
   * Go to the position after a move that was tried before; return whether there is one.
   * @param {Move} move
   */
  enter(move) {
    const found = this.children(this.at).find((index) => this.nodes[index].key === keyOf(move));
    if (found !== undefined) this.at = found;
    return found !== undefined;
  }

  /**
   * Add the position that a move leads to, and go there.
   * @param {Move} move
   * @param {string} text
   * @param {string} words
   */
  add(move, text, words) {
    if (this.nodes.length >= MOST_POSITIONS) return;
    this.nodes.push({ text, words, cells: "cells" in move ? move.cells : [], key: keyOf(move), parent: this.at });
    this.at = this.nodes.length - 1;
  }

  /** Forget the current position and what follows it. */
  remove() {
    if (this.at === 0) return;
    const { parent } = this.current;
    const gone = new Set([this.at]);
    this.nodes.forEach((node, index) => gone.has(node.parent) && gone.add(index));
    const kept = this.nodes.flatMap((_, index) => (gone.has(index) ? [] : [index]));
    this.at = kept.indexOf(parent);
    this.nodes = kept.map((index) => ({ ...this.nodes[index], parent: kept.indexOf(this.nodes[index].parent) }));
  }

  /** Go back by a move. */
  back() {
    if (this.at > 0) this.at = this.current.parent;
  }

  /** Go on along the first variation. */
  next() {
    this.at = this.children(this.at)[0] ?? this.at;
  }

  /** @param {(at: number) => void} onPick */
  createList(onPick) {
    return html("ol", { class: "moves variations" }, this.createLine(0, onPick));
  }

  /**
   * List a position and what follows it; other variations are lists inside.
   * @param {number} from
   * @param {(at: number) => void} onPick
   * @returns {HTMLElement[]}
   */
  createLine(from, onPick) {
    const items = [];
    let at = from;
    for (;;) {
      const here = at;
      const { words } = this.nodes[here];
      const button = html(
        "button",
        { type: "button", class: "move", "data-now": here === this.at, onclick: () => onPick(here) },
        words || texts.firstPosition,
      );
      const [main, ...others] = this.children(here);
      const branches = others.map((other) => html("ol", { class: "branch" }, this.createLine(other, onPick)));
      items.push(html("li", {}, button, branches));
      if (main === undefined) return items;
      at = main;
    }
  }

  toJson() {
    return { nodes: this.nodes, at: this.at };
  }
}

/** @param {Move} move */
const keyOf = (move) => ("word" in move ? move.word : `${move.slot}:${move.cells.join()}`);

/**
 * @param {unknown} data of `toJson`, perhaps of an older page
 * @returns {Variations | null}
 */
export function readVariations(data) {
  const { nodes, at } = /** @type {{nodes?: Variation[], at?: number}} */ (data ?? {});
  const isFine = Array.isArray(nodes) && nodes.length > 0 && nodes.every((node) => typeof node?.text === "string");
  if (!isFine || typeof at !== "number" || !nodes[at]) return null;
  return new Variations(nodes[0].text, nodes, at);
}

/**
 * Return the analyses that were saved, the newest first.
 * @returns {{title: string, date: number, tree: unknown}[]}
 */
export function listSaved() {
  try {
    const found = JSON.parse(localStorage.getItem(STORE) ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

/** @param {{title: string, date: number, tree: unknown}[]} saved */
function store(saved) {
  try {
    localStorage.setItem(STORE, JSON.stringify(saved.slice(0, MOST_SAVED)));
    return true;
  } catch {
    return false; // the browser keeps nothing, or has no room
  }
}

/**
 * Save an analysis in the browser; return whether it could.
 * @param {string} title
 * @param {Variations} tree
 */
export const save = (title, tree) =>
  store([{ title, date: Date.now(), tree: tree.toJson() }, ...listSaved().filter((each) => each.title !== title)]);

/** @param {string} title */
export const forget = (title) => store(listSaved().filter((each) => each.title !== title));
