// Open a file of game records, by choosing or dropping it.

import { Refusal, postText } from "./api.js";
import { fill, html } from "./dom.js";
import { texts } from "./texts.js";

/** @import { RecordSummary } from "./api_types.js" */

const MAX_FILE_BYTES = 5_000_000;

export class Opener {
  /** @param {(line: string) => Promise<void>} open shows a game */
  constructor(open) {
    this.open = open;
    this.input = html("input", {
      type: "file",
      accept: ".jsonl,.json,.txt",
      onchange: (event) => this.read(event.target.files[0]),
    });
    this.problem = html("p", { class: "problem", role: "alert", hidden: true });
    this.list = html("div");
    this.element = html(
      "section",
      {
        class: "card opener",
        "aria-label": texts.openerTitle,
        ondragover: (event) => event.preventDefault(),
        ondrop: (event) => {
          event.preventDefault();
          this.read(event.dataTransfer?.files[0]);
        },
      },
      html("label", {}, html("span", {}, texts.openerHelp), this.input),
      this.problem,
      this.list,
    );
  }

  /** @param {File | undefined} file */
  async read(file) {
    if (!file) return;
    this.showProblem(null);
    fill(this.list);
    try {
      if (file.size > MAX_FILE_BYTES) throw new Refusal(413, texts.tooLarge);
      const text = await file.text();
      await this.offer(text.split("\n"), await postText("/api/records", text));
    } catch (error) {
      this.showProblem(error);
    }
  }

  /**
   * Open the only game, or offer several.
   * @param {string[]} lines
   * @param {{games: RecordSummary[], more: number}} summary more: games that are not listed
   */
  async offer(lines, { games, more }) {
    const valid = games.filter((game) => !game.fault);
    const faulty = games.find((game) => game.fault);
    if (faulty) this.showProblem(new Refusal(422, texts.faultyLine(faulty.line, faulty.fault ?? "")));
    if (games.length === 1 && !faulty) {
      await this.open(lines[games[0].line - 1]);
      return;
    }
    if (!valid.length) return;
    const options = games.map((game) =>
      html("option", { value: game.line, disabled: Boolean(game.fault) }, describeRecord(game)),
    );
    const select = html("select", {}, options);
    select.value = String(valid[0].line);
    const show = () => this.attempt(lines[Number(select.value) - 1]);
    fill(
      this.list,
      html("label", {}, html("span", {}, texts.gameCount(games.length)), select),
      html("button", { type: "button", class: "main", onclick: show }, texts.showGame),
      more ? html("p", { class: "hint" }, texts.moreGames(more)) : null,
    );
  }

  /** @param {string} line */
  async attempt(line) {
    try {
      await this.open(line);
      this.showProblem(null);
    } catch (error) {
      this.showProblem(error);
    }
  }

  /** @param {unknown} error null for none */
  showProblem(error) {
    if (error !== null && !(error instanceof Refusal)) throw error;
    this.problem.textContent = error?.message ?? "";
    this.problem.hidden = error === null;
  }
}

/** @param {RecordSummary} game */
function describeRecord(game) {
  if (game.fault) return texts.cannotShow(game.line);
  const lowest = game.scores.map((markers) => Math.min(...markers));
  return texts.recordTitle(game.line, game.names, lowest, texts.ends[game.end] ?? game.end);
}
