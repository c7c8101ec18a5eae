"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;

  const theme = byId("theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
  const nameTheme = () => { theme.textContent = isDark() ? "Light colours" : "Dark colours"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  prefersDark.addEventListener("change", nameTheme);
  nameTheme();
  theme.hidden = false;

  // Collapsed sections cannot be opened on paper, so all are opened before printing.
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });

  const control = byId("coverage-control");
  if (control) {
    const steps = JSON.parse(byId("coverage-steps").textContent);
    const slider = byId("threshold");
    const percent = (share) => (100 * share).toFixed(1) + "%";
    const show = () => {
      const step = steps[Number(slider.value)];
      byId("threshold-value").textContent = step.threshold;
      byId("at-coverage").textContent = percent(step.coverage);
      byId("at-accuracy").textContent = percent(step.accuracy);
      byId("at-texts").textContent = step.texts.toLocaleString("en");
      byId("at-errors").textContent = step.errors.toLocaleString("en");
      slider.setAttribute("aria-valuetext",
        `confidence ${step.threshold}, coverage ${percent(step.coverage)}, accuracy ${percent(step.accuracy)}`);
      byId("coverage-line").setAttribute("x1", step.x);
      byId("coverage-line").setAttribute("x2", step.x);
      byId("coverage-dot").setAttribute("cx", step.x);
      byId("coverage-dot").setAttribute("cy", step.y);
    };
    slider.addEventListener("input", show);
    show();
    control.hidden = false;
    byId("coverage-marker").removeAttribute("hidden");
  }

  // Lower case, with straight apostrophes and single spaces, so that a search need not match their exact form.
  const plain = (text) => text.toLowerCase().replace(/[\u2018\u2019]/g, "'").replace(/\s+/g, " ");
  const filters = byId("filters");
  if (filters) {
    const items = [...document.querySelectorAll(".texts > li")];
    const contents = items.map((item) => plain(item.textContent));
    const has = (list, value) => !value || list.split(" ").includes(value);
    const chosen = (id) => (byId(id) ? byId(id).value : "");
    const apply = () => {
      const wanted = plain(byId("search").value.trim());
      let shown = 0;
      items.forEach((item, number) => {
        const { kind, result, true: trueLabels, predicted } = item.dataset;
        item.hidden = !(contents[number].includes(wanted)
          && has(kind, chosen("filter-kind"))
          && has(result, chosen("filter-result"))
          && has(trueLabels, chosen("filter-true"))
          && has(predicted, chosen("filter-predicted")));
        shown += item.hidden ? 0 : 1;
      });
      const total = `${items.length} ${items.length === 1 ? "text" : "texts"}`;
      byId("found").textContent = shown === items.length ? total : `${shown} of ${total}`;
    };
    filters.addEventListener("input", apply);
    filters.addEventListener("submit", (event) => event.preventDefault());
    filters.addEventListener("reset", () => setTimeout(apply));
    // A click on a cell of the confusion matrix shows the texts of this cell.
    for (const link of document.querySelectorAll("a[data-true]")) {
      link.addEventListener("click", () => {
        filters.reset();
        byId("filter-true").value = link.dataset.true;
        byId("filter-predicted").value = link.dataset.predicted;
        apply();
      });
    }
    filters.hidden = false;
  }
})();
