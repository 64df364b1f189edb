// Numbers, lists, dates and plurals in a language, by the browser's Intl.

/**
 * Words by the plural category of a number ("one", "few" and so on, as Intl.PluralRules has them); "#" is the number.
 * @typedef {Partial<Record<Intl.LDMLPluralRule, string>> & {other: string}} Forms
 */

/**
 * Create the functions that write numbers, lists and dates.
 * @param {string} language a tag as "fr"
 */
export function createFormats(language) {
  const plurals = new Intl.PluralRules(language);
  const lists = new Intl.ListFormat(language);
  const dates = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const shares = new Intl.NumberFormat(language, { style: "percent" });
  /** @param {number} value @param {Intl.NumberFormatOptions} options */
  const write = (value, options) => new Intl.NumberFormat(language, options).format(value).replace("-", "−");
  /** @param {number} value @param {number} digits after the point */
  const number = (value, digits = 0) => write(value, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return {
    number,
    /** @param {number} value @param {number} digits after the point */
    signed: (value, digits) =>
      write(value, { minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: "always" }),
    /** @param {number} share */
    percent: (share) => shares.format(share),
    /** @param {string[]} names */
    list: (names) => lists.format(names),
    /** @param {Date} moment */
    date: (moment) => dates.format(moment),
    /**
     * Write a number with the form of the words that goes with it.
     * @param {number} value
     * @param {Forms} forms
     */
    count: (value, forms) => (forms[plurals.select(value)] ?? forms.other).replace("#", number(value)),
  };
}
