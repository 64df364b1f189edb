// Short sounds of a game, made by the browser. They are off until the reader turns them on.

import { readSetting, writeSetting } from "./settings.js";

/** @import { Game } from "./api_types.js" */

/** @typedef {"lay" | "turn" | "bonus" | "end"} Sound */

/** @type {Record<Sound, number[]>} frequencies in hertz, one after the other */
const NOTES = { lay: [330], turn: [440, 554], bonus: [523, 659, 784], end: [392, 523, 659, 784] };
const NOTE_S = 0.11; // from the beginning of a note to that of the next
const LOUDNESS = 0.12;
const SILENCE = 0.0001; // loudness falls exponentially, so it never is 0

/** @type {AudioContext | null} */
let context = null;
let isOn = readSetting("sounds") === "on";

export const soundsAreOn = () => isOn;

/** @param {boolean} on */
export function turnSounds(on) {
  isOn = on;
  writeSetting("sounds", on ? "on" : "off");
  if (on) play("turn");
}

/**
 * Play the sound of what has changed in a game.
 * @param {Game} before
 * @param {Game} after
 */
export function playChange(before, after) {
  if (before.id !== after.id || after.turn <= before.turn) return;
  const isOwnTurn = after.waits && after.own.includes(after.position.to_play) && before.position.to_play !== after.position.to_play;
  if (after.end) play("end");
  else if (after.position.phase === "bonus") play("bonus");
  else play(isOwnTurn ? "turn" : "lay");
}

/** @param {Sound} name */
function play(name) {
  if (!isOn) return;
  context ??= new AudioContext();
  context.resume();
  const begin = context.currentTime;
  NOTES[name].forEach((frequency, at) => playNote(/** @type {AudioContext} */ (context), frequency, begin + NOTE_S * at));
}

/**
 * @param {AudioContext} audio
 * @param {number} frequency
 * @param {number} from in seconds of the context
 */
function playNote(audio, frequency, from) {
  const note = audio.createOscillator();
  const volume = audio.createGain();
  note.type = "triangle";
  note.frequency.value = frequency;
  volume.gain.setValueAtTime(LOUDNESS, from);
  volume.gain.exponentialRampToValueAtTime(SILENCE, from + 2 * NOTE_S);
  note.connect(volume).connect(audio.destination);
  note.start(from);
  note.stop(from + 2 * NOTE_S);
}
