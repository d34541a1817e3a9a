// Fields of numbers: vectors and matrices can be entered in a grid, which writes the text that is saved and graded.
"use strict";

const GRID = "softmark-grid";
const cellsOf = (text, rows, columns) => {
  const plain = text.replace(/^\s*[\w.]*\(|,?\s*(dtype=[\w.']*\s*)?\)\s*$/g, "").replace(/\]\s*,?\s*\[/g, "\n").replace(/[[\]()]/g, "");
  const lines = plain.split(/[\n;]/).filter((line) => line.trim());
  const table = lines.map((line) => {
    if (line.includes("\t")) return line.split("\t").map((cell) => cell.trim());
    const isList = line.includes(",") && (line.includes(".") || !/\d,\d/.test(line));
    return isList ? line.split(",").map((cell) => cell.trim()) : line.trim().split(/\s+/);
  });
  const flat = table.flat();
  if (!flat.length) return Array(rows * columns).fill("");
  // A row may be pasted as a column, and long rows are printed on several lines.
  const fits = rows === 1 ? flat.length === columns : table.length === rows && table.every((row) => row.length === columns);
  return fits ? flat : null;
};
function offerGrid(element) {
  const [rows, columns] = [Number(element.dataset.rows), Number(element.dataset.columns)];
  const text = element.querySelector("[name^='text.']");
  const group = document.createElement("div");
  group.className = "cells";
  group.setAttribute("role", "group");
  group.setAttribute("aria-labelledby", text.getAttribute("aria-labelledby"));
  group.setAttribute("aria-describedby", text.getAttribute("aria-describedby"));
  group.style.gridTemplateColumns = `repeat(${columns}, auto)`;
  const note = document.createElement("p");
  note.className = "over";
  note.setAttribute("role", "status");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small";
  const cells = Array.from({ length: rows * columns }, (_, place) => {
    const cell = document.createElement("input");
    cell.type = "text";
    cell.autocomplete = "off";
    cell.spellcheck = false;
    const [row, column] = [Math.floor(place / columns) + 1, (place % columns) + 1];
    cell.setAttribute("aria-label", rows === 1 ? `number ${column} of ${columns}` : `row ${row}, column ${column}`);
    return cell;
  });
  const write = () => {
    const values = cells.map((cell) => cell.value.trim());
    const between = values.some((value) => value.includes(",")) ? (rows === 1 ? "; " : " ") : ", ";
    const lines = Array.from({ length: rows }, (_, row) => values.slice(row * columns, (row + 1) * columns).join(between));
    text.value = values.some(Boolean) ? lines.join(text.tagName === "TEXTAREA" ? "\n" : "; ") : "";
  };
  const fill = (values) => cells.forEach((cell, place) => (cell.value = values[place]));
  const show = (isGrid) => {
    const values = isGrid ? cellsOf(text.value, rows, columns) : null;
    note.textContent = isGrid && !values ? "The text in the field doesn't fit the grid." : "";
    group.hidden = !values;
    text.hidden = !!values;
    button.textContent = values ? "Enter as text" : "Enter in a grid";
    if (values) fill(values);
  };
  const move = (place) => {
    if (!cells[place]) return;
    cells[place].focus();
    cells[place].select();
  };
  group.addEventListener("input", write);
  // A cell that is left isn't the field that is left.
  group.addEventListener("change", (event) => event.stopPropagation());
  group.addEventListener("focusout", (event) => {
    if (!group.contains(event.relatedTarget)) text.dispatchEvent(new Event("change", { bubbles: true }));
  });
  group.addEventListener("paste", (event) => {
    const pasted = event.clipboardData.getData("text").trim();
    if (!/[\s;,[]/.test(pasted) || /^\S+,\S+$/.test(pasted)) return; // one number
    event.preventDefault();
    const values = cellsOf(pasted, rows, columns);
    note.textContent = values ? "Pasted into all fields." : "What you pasted doesn't fit: nothing is changed.";
    if (!values) return;
    fill(values);
    cells[0].dispatchEvent(new Event("input", { bubbles: true }));
  });
  group.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const cell = event.target;
    const place = cells.indexOf(cell);
    const isAll = cell.selectionStart === 0 && cell.selectionEnd === cell.value.length;
    const isFirst = isAll || cell.selectionEnd === 0;
    const isLast = isAll || cell.selectionStart === cell.value.length;
    const steps = { ArrowUp: -columns, ArrowDown: columns, Enter: 1, ArrowLeft: isFirst && !event.shiftKey ? -1 : 0, ArrowRight: isLast && !event.shiftKey ? 1 : 0 };
    if (!steps[event.key]) return;
    event.preventDefault();
    move(place + steps[event.key]);
  });
  button.addEventListener("click", () => {
    const isGrid = group.hidden;
    show(isGrid);
    if (isGrid !== group.hidden) (isGrid ? cells[0] : text).focus();
    try {
      if (isGrid) localStorage.setItem(GRID, "yes");
      else localStorage.removeItem(GRID);
    } catch {
      // A browser that keeps nothing: it is offered again.
    }
  });
  group.append(...cells);
  text.after(group, button, note);
  let isWanted = false;
  try {
    isWanted = localStorage.getItem(GRID) === "yes";
  } catch {
    isWanted = false;
  }
  show(isWanted);
  if (group.hidden) note.textContent = "";
}

for (const element of document.querySelectorAll(".answer[data-rows]")) offerGrid(element);

// Keypads of numbers have no minus on some phones: a button changes the sign.
if (matchMedia("(pointer: coarse)").matches) {
  for (const input of document.querySelectorAll(".answer[data-kind=number] input[type=text]")) {
    input.inputMode = "decimal";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button small sign";
    button.textContent = "±";
    button.setAttribute("aria-label", "Change the sign");
    button.addEventListener("click", () => {
      input.value = /^\s*[-−]/.test(input.value) ? input.value.replace(/^\s*[-−]/, "") : "-" + input.value.trim();
      input.dispatchEvent(new Event("input", { bubbles: true }));
      input.focus();
    });
    input.after(button);
  }
}
