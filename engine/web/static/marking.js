// Marking by keyboard: the key beside points gives them for the current criterion, arrows change it, n saves and
// goes on. Places of scanned sheets are decided by the same keys: a row of bubbles is a criterion there.
"use strict";

(() => {
  const form = document.querySelector("form[data-rubric]");
  if (!form) return;
  const criteria = [...form.querySelectorAll("[data-criterion]")];
  const open = criteria.findIndex((criterion) => !criterion.querySelector("input[type=radio]:checked"));
  let current = Math.max(open, 0);
  const show = (index, focus) => {
    current = Math.min(Math.max(index, 0), criteria.length - 1);
    criteria.forEach((criterion, place) => criterion.classList.toggle("current", place === current));
    if (focus) criteria[current]?.scrollIntoView({ block: "nearest" });
  };
  form.addEventListener("focusin", (event) => {
    const index = criteria.findIndex((criterion) => criterion.contains(event.target));
    if (index >= 0) show(index, false);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const writing = event.target.closest("textarea, select, input:not([type=radio]):not([type=checkbox])");
    if (writing) return;
    const choice = /^[0-9a-k]$/.test(event.key) && criteria[current]?.querySelector(`[data-press="${event.key}"]`);
    if (choice) {
      choice.checked = choice.type === "radio" || !choice.checked;
      show(current + 1, true);
    } else if (event.key === "ArrowDown" && !event.target.matches("input[type=radio]")) show(current + 1, true);
    else if (event.key === "ArrowUp" && !event.target.matches("input[type=radio]")) show(current - 1, true);
    else if (event.key === "n") form.requestSubmit(form.querySelector("button[value=next]"));
    else if (event.key === "s") location.href = form.dataset.rubric;
    else return;
    event.preventDefault();
  });
  show(current, false);
})();
