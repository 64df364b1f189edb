// Addresses of positions and games, and the buttons that share them: links, pictures, films, records, pages.

import { Refusal, postForBlob } from "./api.js";
import { announce, html } from "./dom.js";
import { texts } from "./texts.js";

/** @import { Steps } from "./api_types.js" */
/** @import { Told } from "./sentences.js" */

/**
 * Return the address of a position.
 * @param {string} text
 */
export const positionAddress = (text) => `#/analysis/${encodeURI(text.replaceAll(" ", "_"))}`;

/**
 * Pack a text for an address: deflate, then base 64.
 * @param {string} text
 */
export async function pack(text) {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const letters = [...bytes].map((each) => String.fromCharCode(each)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Return a text that was packed.
 * @param {string} packed
 */
export async function unpack(packed) {
  const letters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (each) => each.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}

/**
 * Return the data of the page with a replay (genial_env/render/replay_page.py).
 * @param {Steps} game
 * @param {Told[]} told
 */
export function embedData(game, told) {
  const { rules, names, frames, events } = game;
  return {
    title: names.join(", "),
    side: rules.side,
    symbols: rules.start_symbols,
    colors: rules.colors,
    names,
    tracks: rules.seats_by_track,
    top: rules.stops[rules.stops.length - 1],
    labels: texts.replayLabels,
    frames: frames.map(({ position }, index) => {
      const happened = index === 0 ? [] : events.slice(frames[index - 1].event, frames[index].event);
      return {
        board: position.board,
        scores: position.scores,
        racks: position.racks,
        marks: happened.flatMap(({ cells }) => cells ?? []),
        words: happened.map(({ event }) => told[event].words).join("; "),
      };
    }),
  };
}

/**
 * Copy a text, and say so.
 * @param {string} text
 * @param {HTMLElement} status where that is said
 */
export async function copy(text, status) {
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = texts.linkCopied;
  } catch {
    const input = html("input", { readonly: true, value: text, "aria-label": texts.copyByHand });
    status.replaceChildren(texts.copyByHand, " ", input); // the page has no right to the clipboard
    input.select();
  }
  announce(status.textContent ?? "");
}

/**
 * Save a file of the server, or say why not.
 * @param {string} path
 * @param {unknown} data
 * @param {string} name
 * @param {HTMLElement} status
 */
export async function saveFile(path, data, name, status) {
  status.textContent = texts.making;
  try {
    download(await postForBlob(path, data), name);
    status.textContent = "";
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    status.textContent = error.message;
    announce(error.message);
  }
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  html("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/**
 * Create the buttons that share a game.
 * @param {{line: string | null, step: () => number, text: () => string | undefined, link: () => Promise<string>,
 *   embed: () => unknown}} game line: the record of a finished game; step: the decision that is looked at; text: of its
 *   position; link: to it; embed: the data of a replay
 */
export function createShare({ line, step, text, link, embed }) {
  const status = html("p", { class: "hint", role: "status" });
  /** @type {(words: string, onclick: () => unknown) => HTMLElement} */
  const button = (words, onclick) => html("button", { type: "button", onclick }, words);
  const picture = () => (line ? { record: line, step: step() } : { position: text() });
  const whole = [
    button(texts.saveFilm, () => saveFile("/api/share/film", { record: line }, "genial.gif", status)),
    button(texts.saveRecord, () => download(new Blob([`${line}\n`], { type: "application/x-ndjson" }), "genial.jsonl")),
    button(texts.savePage, () => saveFile("/api/share/page", { record: line }, "genial.html", status)),
    button(texts.copyEmbed, async () => copy(await createEmbed(embed()), status)),
  ];
  return html(
    "details",
    { class: "card share" },
    html("summary", {}, texts.share),
    html(
      "div",
      { class: "buttons" },
      button(texts.copyLink, async () => copy(await link(), status)),
      line || text() ? button(texts.savePicture, () => saveFile("/api/share/picture", picture(), "genial.png", status)) : null,
      line ? whole : null,
    ),
    status,
  );
}

/** @param {unknown} data of a replay */
async function createEmbed(data) {
  const address = `${location.origin}/embed#${await pack(JSON.stringify(data))}`;
  return `<iframe src="${address}" title="Génial!" style="border:0;width:100%;height:560px"></iframe>`;
}
