// Light or dark, if that was chosen by hand. It comes before the page is drawn, so it is no module.

try {
  document.documentElement.dataset.theme = localStorage.getItem("genial theme") ?? "";
} catch {
  // the browser keeps nothing: the page follows the system
}
