// The clocks of people: how much time each has left.

import { fill, html } from "./dom.js";
import { texts } from "./texts.js";

/** @import { Game } from "./api_types.js" */

const TICK_MS = 250;
const LOW_S = 30; // a clock with less is shown as low

export class Clocks {
  /** @param {() => unknown} onTimeUp is called when a clock has run down */
  constructor(onTimeUp) {
    this.element = html("span", { class: "clocks", hidden: true });
    this.onTimeUp = onTimeUp;
    /** @type {Game | null} */
    this.game = null;
    this.from = 0; // when the times were those of the game
    this.isUp = false;
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  close() {
    clearInterval(this.timer);
  }

  /** @param {Game} game */
  show(game) {
    this.game = game;
    this.from = Date.now();
    this.isUp = false;
    const { clock, left } = game.seating;
    this.element.hidden = clock === undefined || Boolean(game.end);
    if (clock === undefined) return;
    const seats = game.people.filter((seat) => !(seat in left));
    this.times = new Map(seats.map((seat) => [seat, html("span", { class: "time" })]));
    fill(
      this.element,
      seats.map((seat) => {
        const running = seat === clock.running;
        return html("span", { class: running ? "clock running" : "clock" }, `${game.names[seat]} `, this.times?.get(seat));
      }),
    );
    this.tick();
  }

  tick() {
    const clock = this.game?.seating.clock;
    if (!clock || !this.game) return;
    for (const [seat, element] of this.times ?? []) {
      const isRunning = seat === clock.running && !this.game.end;
      const seconds = Math.max(0, clock.left[seat] - (isRunning ? (Date.now() - this.from) / 1000 : 0));
      element.textContent = texts.clock(seconds);
      element.classList.toggle("low", seconds < LOW_S);
      if (isRunning && seconds === 0 && !this.isUp) {
        this.isUp = true;
        this.onTimeUp();
      }
    }
  }
}
