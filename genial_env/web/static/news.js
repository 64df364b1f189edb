// What others do in a game: a request waits at the server until something has changed.

import { gamePath } from "./addresses.js";
import { Refusal, get, isAbort } from "./api.js";
import { wait } from "./dom.js";

/** @import { Game } from "./api_types.js" */

const LONG_POLL_S = 25; // how long the server holds an answer back
const HIDDEN_MS = 15_000; // between two requests of a page that nobody sees: it keeps no connection
const RETRY_MS = 1000; // before the next request after one that failed, or that could not be shown

export class News {
  /**
   * @param {string} key of the game
   * @param {boolean} isOn whether there is anything to wait for
   * @param {(game: Game) => boolean} onGame shows a changed game; returns whether it is shown
   * @param {(words: string) => unknown} onGone is called when the game, or the link to it, is no longer there
   */
  constructor(key, isOn, onGame, onGone) {
    this.key = key;
    this.onGame = onGame;
    this.onGone = onGone;
    this.leaving = new AbortController();
    if (isOn) this.follow();
  }

  close() {
    this.leaving.abort();
  }

  async follow() {
    let version = "";
    while (!this.leaving.signal.aborted) {
      const hidden = document.visibilityState === "hidden";
      try {
        const path = gamePath(this.key, "", { after: version, wait: hidden ? 0 : LONG_POLL_S });
        /** @type {Game} */
        const game = await get(path, this.leaving.signal);
        if (this.onGame(game)) version = game.version;
        else await wait(RETRY_MS);
        if (game.end) return;
      } catch (error) {
        if (isAbort(error)) return;
        if (error instanceof Refusal && error.status === 404) {
          this.onGone(error.message);
          return;
        }
        await wait(RETRY_MS);
      }
      if (hidden) await wait(HIDDEN_MS);
    }
  }
}
