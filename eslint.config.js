import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    files: ["genial_env/web/static/**/*.js", "genial_env/render/*.js"],
    languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-irregular-whitespace": ["error", { skipTemplates: true }], // French has no-break spaces
      "no-shadow": "error",
      "no-var": "error",
      "prefer-const": "error",
    },
  },
  {
    files: ["genial_env/web/static/languages/fr.js"], // a line must not begin with one of these marks
    rules: {
      "no-restricted-syntax": [
        "error",
        ...["Literal[value=/ [:;!?]/]", "TemplateElement[value.raw=/ [:;!?]/]"].map((selector) => ({
          selector,
          message: "A no-break space stands before : ; ! and ? in French.",
        })),
      ],
    },
  },
  {
    files: ["genial_env/web/static/worker.js"], // its globals are not those of a page, for which TypeScript checks the rest
    languageOptions: { globals: globals.serviceworker },
  },
];
