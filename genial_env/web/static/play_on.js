// The choice of an agent to play on against from a position.

import { post } from "./api.js";
import { fill, html } from "./dom.js";
import { texts } from "./texts.js";

/** @import { Rules } from "./api_types.js" */

const USUAL_AGENT = "value";

export class PlayOn {
  /**
   * @param {(agent: string) => void} onPlay
   * @param {() => void} onStop
   */
  constructor(onPlay, onStop) {
    this.onPlay = onPlay;
    this.onStop = onStop;
    this.rules = ""; // those whose agents are offered
    this.select = html("select", { "aria-label": texts.opponent });
    this.element = html("section", { class: "card play-on", "aria-label": texts.playFrom });
  }

  /**
   * @param {Rules} rules
   * @param {string | null} player the seat of the person in a game that goes on; null if there is none
   */
  async show(rules, player) {
    const button = player
      ? html("button", { type: "button", onclick: () => this.onStop() }, texts.stopPlaying)
      : html("button", { type: "button", onclick: () => this.onPlay(this.select.value) }, texts.playFrom);
    fill(this.element, html("div", { class: "across" }, player ? texts.youPlay(player) : this.select, button));
    const named = JSON.stringify(rules.named);
    if (named === this.rules) return;
    this.rules = named;
    /** @type {{agents: string[]}} */
    const { agents } = await post("/api/rules", rules.named);
    fill(this.select, agents.map((name) => html("option", { value: name }, texts.agent(name, texts.opponents[name]?.strength, undefined))));
    this.select.value = agents.includes(USUAL_AGENT) ? USUAL_AGENT : agents[0];
  }
}
