// Requests to the server. A refused request becomes an Error with a message in the reader's language.

import { texts } from "./texts.js";

/** @import { Refused } from "./api_types.js" */

export class Refusal extends Error {
  /**
   * @param {number} status of HTTP; 0 if there was no answer
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * Get JSON.
 * @param {string} path
 * @param {AbortSignal} [signal]
 */
export const get = (path, signal) => requestJson(path, { signal });

/**
 * Send JSON, and get JSON.
 * @param {string} path
 * @param {unknown} data
 * @param {AbortSignal} [signal]
 */
export const post = (path, data, signal) => requestJson(path, { method: "POST", body: JSON.stringify(data), signal });

/**
 * Send text as it is, and get JSON: a file of records, or a line of one.
 * @param {string} path
 * @param {string} text
 */
export const postText = (path, text) => requestJson(path, { method: "POST", body: text });

/**
 * Send text, and call a function with each line of JSON of the answer as it comes.
 * @template Line
 * @param {string} path
 * @param {string} text
 * @param {AbortSignal} signal
 * @param {(line: Line) => void} onLine
 */
export async function postForLines(path, text, signal, onLine) {
  const answer = await request(path, { method: "POST", body: text, signal });
  if (answer.body === null) return;
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach((line) => onLine(parseAnswer(line)));
  }
}

/**
 * Send JSON, and get a file.
 * @param {string} path
 * @param {unknown} data
 */
export async function postForBlob(path, data) {
  return (await request(path, { method: "POST", body: JSON.stringify(data) })).blob();
}

/**
 * Get the text of a file of the server.
 * @param {string} path
 */
export async function getText(path) {
  return (await request(path, {})).text();
}

/**
 * @param {string} path
 * @param {RequestInit} options
 * @returns {Promise<any>}
 */
async function requestJson(path, options) {
  return parseAnswer(await (await request(path, options)).text());
}

/**
 * Parse an answer of the server. The names of seats in it become those of the reader's language.
 * @param {string} text JSON
 */
export function parseAnswer(text) {
  return JSON.parse(text, (_, value) =>
    value?.seat_names ? { ...value, names: value.seat_names.map(texts.seatName) } : value,
  );
}

/**
 * Say what the server refused: in the reader's language if there are words for it, else in English.
 * @param {Refused} refused
 */
export const describeRefusal = ({ code, values, error }) => texts.errors[code]?.(values) ?? error;

/**
 * @param {string} path
 * @param {RequestInit} options
 * @throws {Refusal} if the server refuses, or does not answer
 */
async function request(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Refusal(0, texts.noAnswer);
  }
  if (answer.ok) return answer;
  const refused = await answer.json().catch(() => ({ error: texts.badStatus(answer.status) }));
  throw new Refusal(answer.status, describeRefusal(refused));
}

/**
 * Return whether a request was broken off by its signal.
 * @param {unknown} error
 */
export const isAbort = (error) => error instanceof DOMException && error.name === "AbortError";
