// The form that changes a position: cells, racks, markers, edition, who is to play. It writes the text of the position;
// the server says whether it is possible.

import { fill, html, svg } from "./dom.js";
import { drawDisc, nameColor } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { Grid } from "./board.js" */
/** @import { Letter, Shown } from "./api_types.js" */

const FREE = ".";
const KEPT = ["mode", "colors", "rack", "boxes", "onebonus", "first"]; // options that an edit leaves as they are

export class PositionEditor {
  /**
   * @param {Shown} shown
   * @param {Grid} grid
   * @param {string[]} editions that can be chosen
   * @param {{onChange: (board: string) => void, onDone: (text: string) => void, onCancel: () => void}} options
   */
  constructor(shown, grid, editions, { onChange, onDone, onCancel }) {
    this.shown = shown;
    this.grid = grid;
    this.onChange = onChange;
    this.onDone = onDone;
    this.cells = [...shown.position.board];
    /** @type {Letter} */
    this.brush = shown.rules.colors[0];
    const { rules, position, names } = shown;
    this.palette = html("div", { class: "palette", role: "group", "aria-label": texts.paintWith });
    this.racks = position.racks.map((rack, seat) =>
      html("input", {
        value: typeof rack === "number" ? String(rack) : rack.filter(Boolean).join(" ") || "-",
        "aria-label": texts.rackOf(names[seat]),
        autocomplete: "off",
        spellcheck: "false",
      }),
    );
    const top = rules.stops[rules.stops.length - 1];
    this.markers = position.scores.map((scores, track) =>
      scores.map((value, color) =>
        html("input", {
          type: "number",
          min: 0,
          max: top,
          value,
          "aria-label": texts.markerOf(names[rules.seats_by_track[track][0]], texts.colorName(rules.colors[color])),
        }),
      ),
    );
    this.seat = createSelect(names.map((name, seat) => [String(seat), name]), String(position.to_play));
    const phase = position.phase === "over" ? "place" : position.phase;
    const phases = Object.entries(texts.phases).filter(([name]) => rules.bonus_stops.length || name === "place");
    this.phase = createSelect(phases, phase);
    this.edition = createSelect(editions.map((name) => [name, texts.editionTitle(name)]), rules.edition);
    this.problem = html("p", { class: "problem", role: "alert", hidden: true });
    this.element = this.createForm(onCancel);
    this.showPalette();
  }

  /** @param {() => void} onCancel */
  createForm(onCancel) {
    const { names, rules } = this.shown;
    const racks = this.racks.map((input, seat) => html("label", {}, texts.rackOf(names[seat]), input));
    const markers = this.markers.map((inputs, track) =>
      html(
        "fieldset",
        { class: "marker-fields" },
        html("legend", {}, texts.markersOf(rules.seats_by_track[track].map((seat) => names[seat]))),
        inputs.map((input, color) => html("label", {}, texts.colorName(rules.colors[color]), input)),
      ),
    );
    return html(
      "form",
      { class: "editor", novalidate: true, "aria-label": texts.editPosition, onsubmit: (event) => this.submit(event) },
      html("h2", {}, texts.editPosition),
      html("p", { class: "hint" }, texts.editHelp),
      html("div", { class: "fields" }, racks),
      markers,
      html(
        "div",
        { class: "fields" },
        html("label", {}, texts.whoIsToPlay, this.seat),
        html("label", {}, texts.decision, this.phase),
        html("label", {}, texts.edition, this.edition),
      ),
      this.problem,
      html(
        "div",
        { class: "buttons" },
        html("button", { class: "main" }, texts.useEdit),
        html("button", { type: "button", onclick: () => this.clear() }, texts.clearBoard),
        html("button", { type: "button", onclick: onCancel }, texts.cancel),
      ),
    );
  }

  showPalette() {
    const brushes = [...this.shown.rules.colors, FREE];
    const buttons = brushes.map((letter) => {
      const label = letter === FREE ? texts.eraser : nameColor(letter);
      const attributes = {
        type: "button",
        "aria-pressed": String(letter === this.brush),
        "aria-label": label,
        title: label,
        onclick: () => {
          this.brush = letter;
          this.showPalette();
        },
      };
      const disc = letter === FREE ? "✕" : svg("svg", { viewBox: "-16 -16 32 32", width: 24, height: 24 }, drawDisc(letter));
      return html("button", attributes, disc);
    });
    fill(this.palette, buttons);
  }

  /**
   * Paint a cell; painted again it becomes free.
   * @param {number} cell
   */
  paint(cell) {
    if (this.shown.rules.start_symbols.includes(cell)) return;
    this.cells[cell] = this.cells[cell] === this.brush ? FREE : this.brush;
    this.onChange(this.cells.join(""));
  }

  /** Take all tiles off the board. */
  clear() {
    const symbols = this.shown.rules.start_symbols;
    this.cells = this.cells.map((letter, cell) => (symbols.includes(cell) ? letter : FREE));
    this.onChange(this.cells.join(""));
  }

  /** @param {SubmitEvent} event */
  submit(event) {
    event.preventDefault();
    this.onDone(this.text);
  }

  /** Say why the position is refused. @param {string} words */
  showProblem(words) {
    this.problem.textContent = words;
    this.problem.hidden = words === "";
  }

  /** The text of the position. The rest of the tiles is the bag. */
  get text() {
    const racks = this.racks.map(({ value }) => value.trim().toUpperCase().replaceAll(/[\s,]+/g, "") || "-");
    const markers = this.markers.map((inputs) => inputs.map(({ value }) => value.trim() || "0").join());
    const phase = this.phase.value === "bonus" ? "bonus:1" : this.phase.value;
    const options = this.shown.text.split(" ").slice(6);
    const kept = options.filter((option) => KEPT.includes(option.split("=")[0]));
    const fields = [this.boardText, racks.join("/"), markers.join("/"), "*", this.seat.value, phase];
    return [...fields, `edition=${this.edition.value}`, ...kept].join(" ");
  }

  get boardText() {
    const symbols = this.shown.rules.start_symbols;
    const letters = this.cells.map((letter, cell) => {
      const written = symbols.includes(cell) ? letter.toLowerCase() : letter;
      return this.grid.isLast(cell) && cell < this.cells.length - 1 ? `${written}/` : written;
    });
    return letters.join("").replaceAll(/\.+/g, (run) => String(run.length));
  }
}

/**
 * @param {[string, string][]} options value and label
 * @param {string} chosen
 */
function createSelect(options, chosen) {
  const select = html("select", {}, options.map(([value, words]) => html("option", { value }, words)));
  select.value = chosen;
  return select;
}
