// Draw tiles. Shapes and colors come from the server; they are the same as in its pictures.

import { svg } from "./dom.js";
import { texts } from "./texts.js";

/** @import { Letter, Look } from "./api_types.js" */

export const HEX = 20; // from the middle of a cell to its corners
const ROOT3 = Math.sqrt(3);

/** @type {Look} */
let look = { colors: {}, shapes: {}, symbols: {}, tile: "" };

/** @param {Look} sent */
export function setLook(sent) {
  look = sent;
}

/**
 * Name a color with its shape: "red star".
 * @param {Letter} letter
 */
export const nameColor = (letter) => texts.color(letter, look.shapes[letter]);

/**
 * Name a tile: "red star and blue snowflake".
 * @param {string} tile
 */
export const nameTile = (tile) => texts.tile(nameColor(tile[0]), nameColor(tile[1]));

/**
 * Return the middle of a cell (q, r); that of the board is (0, 0).
 * @param {[number, number]} cell
 * @returns {[number, number]}
 */
export const centerOf = ([q, r]) => [ROOT3 * HEX * (q + r / 2), 1.5 * HEX * r];

/**
 * @param {number} radius
 * @param {import("./dom.js").Attributes} attributes
 */
export function drawHexagon(radius, attributes) {
  const corners = [0, 1, 2, 3, 4, 5].map((k) => {
    const angle = (Math.PI / 3) * k;
    return `${(radius * Math.sin(angle)).toFixed(2)},${(-radius * Math.cos(angle)).toFixed(2)}`;
  });
  return svg("polygon", { points: corners.join(" "), ...attributes });
}

/**
 * @param {Letter} letter
 * @param {number} radius
 */
export function drawSymbol(letter, radius) {
  return svg("path", { d: look.symbols[letter], transform: `scale(${radius})`, fill: look.colors[letter] });
}

/**
 * Draw half a tile about (0, 0).
 * @param {Letter} letter
 */
export function drawHalf(letter, radius = HEX) {
  return svg("g", {}, drawHexagon(radius * 0.97, { fill: look.tile, class: "half" }), drawSymbol(letter, radius * 0.62));
}

/**
 * Draw a symbol on a disc: printed on the board, or as a marker.
 * @param {Letter} letter
 * @param {number} disc the radius of the disc
 * @param {number} radius that of the symbol
 */
export function drawDisc(letter, disc = HEX * 0.72, radius = HEX * 0.5) {
  return svg("g", {}, svg("circle", { r: disc, fill: look.tile }), drawSymbol(letter, radius));
}

/**
 * Draw a tile as a picture of its own.
 * @param {string | null} tile null for a tile face down
 */
export function drawTile(tile, radius = 16) {
  const width = 2 * ROOT3 * radius;
  const aside = (ROOT3 / 2) * radius;
  const halves = [-aside, aside].map((x, side) =>
    svg(
      "g",
      { transform: `translate(${x} 0)` },
      tile === null ? drawHexagon(radius * 0.97, { class: "facedown" }) : drawHalf(tile[side], radius),
    ),
  );
  const viewBox = `${-width / 2} ${-radius} ${width} ${2 * radius}`;
  return svg("svg", { class: "tile", viewBox, width, height: 2 * radius, "aria-hidden": true }, halves);
}
