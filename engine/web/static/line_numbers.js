// Numbers before the lines of a text, for eyes only: faults are told by line.
"use strict";

function numberLines(area) {
  const numbers = document.createElement("div");
  numbers.className = "line-numbers";
  numbers.setAttribute("aria-hidden", "true");
  const frame = document.createElement("div");
  frame.className = "numbered";
  area.before(frame);
  frame.append(numbers, area);
  let lines = 0;
  const number = () => {
    const count = area.value.split("\n").length;
    if (count !== lines) {
      lines = count;
      numbers.textContent = Array.from({ length: count }, (_, n) => n + 1).join("\n");
    }
    numbers.scrollTop = area.scrollTop;
  };
  return { frame, number };
}
for (const area of document.querySelectorAll("[data-numbered] textarea")) {
  const { number } = numberLines(area);
  number();
  area.addEventListener("input", number);
  area.addEventListener("scroll", number);
}
