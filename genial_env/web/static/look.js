// How tiles look: shapes and colors come from the server, the same as in its pictures.

import { s } from "./dom.js";

export const HEX = 20; // from the middle of a cell to its corners
const ROOT3 = Math.sqrt(3);

let look = null;

export function setLook(given) {
  look = given;
}

export const NAMES = { R: "red", G: "green", B: "blue", O: "orange", Y: "yellow", P: "purple" };

/** A color for people: "red star". */
export const inWords = (letter) => `${NAMES[letter]} ${look.shapes[letter]}`;

/** A tile for people: "red star and blue snowflake". */
export const tileInWords = (tile) =>
  tile[0] === tile[1] ? `double ${inWords(tile[0])}` : `${inWords(tile[0])} and ${inWords(tile[1])}`;

/** The middle of a cell (q, r), the board's middle being (0, 0). */
export const centre = ([q, r]) => [ROOT3 * HEX * (q + r / 2), 1.5 * HEX * r];

export function hexagon(radius, attributes) {
  const corners = [0, 1, 2, 3, 4, 5].map((k) => {
    const angle = (Math.PI / 3) * k;
    return `${(radius * Math.sin(angle)).toFixed(2)},${(-radius * Math.cos(angle)).toFixed(2)}`;
  });
  return s("polygon", { points: corners.join(" "), ...attributes });
}

export function symbol(letter, radius) {
  return s("path", { d: look.symbols[letter], transform: `scale(${radius})`, fill: look.colors[letter] });
}

/** Half a tile about (0, 0). */
export function half(letter, radius = HEX) {
  return s("g", {}, hexagon(radius * 0.97, { fill: look.tile, class: "half" }), symbol(letter, radius * 0.62));
}

/** A symbol that is printed on the board. */
export function printed(letter) {
  return s("g", {}, s("circle", { r: HEX * 0.72, fill: look.tile }), symbol(letter, HEX * 0.5));
}

/** A tile as a picture of its own; null for one face down. */
export function tilePicture(tile, radius = 16, turn = 0) {
  const wide = 2 * ROOT3 * radius;
  const aside = (ROOT3 / 2) * radius;
  const halves = [-aside, aside].map((x, side) =>
    s("g", { transform: `translate(${x} 0)` }, tile === null ? hexagon(radius * 0.97, { class: "facedown" }) : half(tile[side], radius)),
  );
  return s(
    "svg",
    { class: "tile", viewBox: `${-wide / 2} ${-radius} ${wide} ${2 * radius}`, width: wide, height: 2 * radius, "aria-hidden": true },
    s("g", { transform: `rotate(${turn})` }, halves),
  );
}

export const ground = () => look.tile;
