// An exercise: its editor, and its feedback as soon as there is some. Needs line_numbers.js.
"use strict";

// Code that waits for its grade: the page asks how far it is, and shows the feedback when it is there.
const exercisePage = () => document.getElementById("exercise");
const announce = (text) => {
  const region = document.querySelector("[data-announce]");
  if (region && region.textContent !== text) region.textContent = text;
};
async function showExercise(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("exercise");
  if (!answer.ok || !page) return false;
  exercisePage().replaceWith(document.adoptNode(page));
  for (const editor of document.querySelectorAll("[data-editor]")) beginEditor(editor);
  return true;
}
async function followHandIn() {
  const page = exercisePage();
  if (!page || !page.dataset.state) return;
  const began = Date.now();
  const place = page.querySelector("[data-progress]");
  const say = (text, isHeld) => {
    if (!place || place.textContent === text) return;
    place.textContent = text;
    place.parentElement.className = isHeld ? "note waiting" : "busy";
    announce(text);
  };
  let answered = began;
  while (page.isConnected) {
    // Most programs are graded at once; whoever waits longer needn't ask as often.
    const age = Date.now() - began;
    await new Promise((resolve) => setTimeout(resolve, age < 3000 ? 250 : age < 30000 ? 1000 : 3000));
    try {
      const answer = await fetch(page.dataset.state, { headers: { Accept: "application/json" } });
      // Signed out: nothing comes of asking again.
      if (answer.redirected || [401, 403, 404].includes(answer.status))
        return say("Your code is handed in, but you aren't signed in any more. Reload this page to see how far it is.", true);
      if (!answer.ok) throw new Error();
      const { open, text, held } = await answer.json();
      answered = Date.now();
      if (open) {
        say(text, held);
        continue;
      }
      if (await showExercise(page.dataset.here)) {
        const title = document.getElementById("result-title");
        const badge = document.querySelector("#result .badge");
        const points = document.querySelector("#result [data-result]");
        announce(["Graded:", badge && badge.textContent, points && points.textContent].filter(Boolean).join(" "));
        history.replaceState(null, "", exercisePage().dataset.here);
        if (title) title.scrollIntoView({ block: "start" });
        return followHandIn();
      }
      throw new Error();
    } catch {
      // Away for a moment only, perhaps: it is asked again, and said once that lasts.
      if (Date.now() - answered > 3000)
        say("The server doesn't answer at the moment. Your code is stored there; this page asks again by itself.", true);
    }
  }
}
followHandIn();

// The editor for code: Tab indents until Escape is pressed, Enter keeps the indentation, lines have numbers, and
// what is typed stays in this browser until it is handed in or its owner signs out.
const DRAFT = "softmark-draft:";
function beginEditor(editor) {
  const area = editor.querySelector("textarea");
  if (!area || editor.dataset.begun) return;
  editor.dataset.begun = "yes";
  const key = DRAFT + exercisePage().dataset.draft;
  const { frame, number } = numberLines(area);
  const first = area.value;
  const saved = document.createElement("p");
  saved.className = "saved";
  saved.setAttribute("role", "status");
  frame.after(saved);
  let mayLeave = false;

  const keep = () => {
    try {
      if (area.value === first) localStorage.removeItem(key);
      else localStorage.setItem(key, area.value);
    } catch {
      return; // a browser that keeps nothing
    }
    saved.textContent = area.value === first ? "" : "Kept in this browser, not handed in yet";
  };
  const changed = () => {
    number();
    keep();
  };
  // As typing does it, so that the browser can undo it.
  const put = (from, to, text) => {
    area.setSelectionRange(from, to);
    const done = text ? document.execCommand("insertText", false, text) : document.execCommand("delete");
    if (!done) {
      area.setRangeText(text, from, to, "end");
      changed();
    }
  };
  const indent = (back) => {
    const { selectionStart: from, selectionEnd: to, value } = area;
    const begin = value.lastIndexOf("\n", from - 1) + 1;
    if (from === to && !back) return put(from, to, " ".repeat(4 - ((from - begin) % 4)));
    const block = value.slice(begin, to > from && value[to - 1] === "\n" ? to - 1 : to);
    const moved = block
      .split("\n")
      .map((line) => (back ? line.replace(/^( {1,4}|\t)/, "") : line && `    ${line}`))
      .join("\n");
    if (moved === block) return undefined;
    put(begin, begin + block.length, moved);
    const shift = moved.split("\n")[0].length - block.split("\n")[0].length;
    if (from === to) area.setSelectionRange(Math.max(begin, from + shift), Math.max(begin, from + shift));
    else area.setSelectionRange(begin, begin + moved.length);
    return undefined;
  };

  let draft = null;
  try {
    draft = localStorage.getItem(key);
  } catch {
    draft = null;
  }
  if (draft !== null && draft !== first) {
    area.value = draft;
    saved.textContent = "This is what you typed here earlier. It isn't handed in yet. ";
    const back = document.createElement("button");
    back.type = "button";
    back.className = "button quiet small";
    back.textContent = "Discard it";
    back.addEventListener("click", () => {
      area.value = first;
      changed();
      area.focus();
    });
    saved.append(back);
  }
  number();

  area.addEventListener("input", changed);
  area.addEventListener("scroll", number);
  area.addEventListener("blur", () => {
    mayLeave = false;
  });
  area.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      mayLeave = true;
      return;
    }
    if (event.key === "Tab" && !mayLeave) {
      event.preventDefault();
      indent(event.shiftKey);
    } else if (event.key === "Enter" && area.selectionStart === area.selectionEnd) {
      event.preventDefault();
      const line = area.value.slice(area.value.lastIndexOf("\n", area.selectionStart - 1) + 1, area.selectionStart);
      const begin = line.match(/^[ \t]*/)[0] + (/:\s*(#.*)?$/.test(line) ? "    " : "");
      put(area.selectionStart, area.selectionStart, `\n${begin}`);
    }
    if (event.key !== "Shift") mayLeave = false;
  });
}
try {
  // What was typed has been handed in, whether or not this page shows the editor.
  if (exercisePage() && "handed" in exercisePage().dataset) localStorage.removeItem(DRAFT + exercisePage().dataset.draft);
} catch {
  // A browser that keeps nothing.
}
for (const editor of document.querySelectorAll("[data-editor]")) beginEditor(editor);
