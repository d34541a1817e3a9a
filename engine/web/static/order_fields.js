// An order is arranged by moving its cards; the lists to choose from stay for browsers without scripts.
"use strict";

function arrange(element) {
  const cards = element.querySelector(".options");
  const places = element.querySelector(".places");
  const selects = [...places.querySelectorAll("select")];
  const chosen = selects.map((select) => select.value).filter(Boolean);
  const items = new Map();
  const list = document.createElement("ol");
  list.className = "arrange";
  for (const card of cards.children) items.set(card.dataset.letter, card);
  const rest = [...items.keys()].filter((letter) => !chosen.includes(letter));
  const note = document.createElement("p");
  note.className = "soft";
  note.setAttribute("role", "status");
  const accept = document.createElement("button");
  const write = () => {
    [...list.children].forEach((row, place) => (selects[place].value = row.dataset.letter));
    accept.hidden = true;
    selects[0].dispatchEvent(new Event("change", { bubbles: true }));
  };
  for (const letter of [...chosen, ...rest]) {
    const row = document.createElement("li");
    row.dataset.letter = letter;
    const text = document.createElement("div");
    text.className = "words";
    text.append(...[...items.get(letter).cloneNode(true).childNodes]);
    if (items.get(letter).hasAttribute("tabindex")) text.tabIndex = 0;
    const moves = document.createElement("span");
    moves.className = "moves";
    for (const [sign, way, label] of [["↑", -1, "up"], ["↓", 1, "down"]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "button small";
      button.textContent = sign;
      button.setAttribute("aria-label", `Move (${letter}) ${label}`);
      button.addEventListener("click", () => {
        const other = way < 0 ? row.previousElementSibling : row.nextElementSibling;
        if (!other) return;
        if (way < 0) other.before(row);
        else other.after(row);
        write();
        button.focus();
        note.textContent = `(${letter}) is now in place ${[...list.children].indexOf(row) + 1} of ${items.size}.`;
      });
      moves.append(button);
    }
    row.append(text, moves);
    list.append(row);
  }
  accept.type = "button";
  accept.className = "button small";
  accept.textContent = "This order is my answer";
  accept.hidden = chosen.length === items.size;
  accept.addEventListener("click", () => {
    write();
    note.textContent = "This order is your answer.";
  });
  if (!accept.hidden) note.textContent = "Not answered yet: move the cards.";
  cards.hidden = places.hidden = true;
  places.after(list, accept, note);
}

for (const element of document.querySelectorAll(".answer[data-kind=order]")) arrange(element);
