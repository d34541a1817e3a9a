// Improves pages that work without it. One section a feature.
"use strict";

// A form is sent once, however often its button is pressed; a download leaves the page, so the button comes back.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  const button = event.submitter;
  if (button) button.setAttribute("aria-busy", "true");
  setTimeout(() => {
    delete form.dataset.sent;
    if (button) button.removeAttribute("aria-busy");
  }, 4000);
});
window.addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
  for (const button of document.querySelectorAll("button[aria-busy]")) button.removeAttribute("aria-busy");
});

// Files are dropped anywhere on their field.
for (const field of document.querySelectorAll("[data-drop]")) {
  const input = field.querySelector("input[type=file]");
  for (const name of ["dragenter", "dragover"]) {
    field.addEventListener(name, (event) => {
      event.preventDefault();
      field.classList.add("over");
    });
  }
  for (const name of ["dragleave", "drop"]) {
    field.addEventListener(name, () => field.classList.remove("over"));
  }
  field.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) {
      input.files = event.dataTransfer.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    }
  });
}

// The class table: asks every few seconds which rows have changed, and replaces these.
(() => {
  const table = document.querySelector("table[data-live]");
  if (!table) return;
  const status = document.getElementById("live");
  const ask = async () => {
    if (document.hidden) return;
    const address = new URL(table.dataset.live, location.href);
    address.searchParams.set("since", table.dataset.mark);
    try {
      const answer = await fetch(address, { headers: { accept: "application/json" } });
      if (!answer.ok) throw new Error();
      const news = await answer.json();
      if (news.reload) {
        status.replaceChildren("The table has new columns or people. ", link("Show them", location.href));
        return;
      }
      table.dataset.mark = news.mark;
      const place = document.createElement("tbody");
      for (const [handle, html] of Object.entries(news.rows)) {
        const row = document.getElementById("s-" + handle);
        place.innerHTML = html;
        if (!row || !place.firstElementChild) continue;
        place.firstElementChild.classList.add("fresh");
        row.replaceWith(place.firstElementChild);
      }
      const count = Object.keys(news.rows).length;
      if (count) status.textContent = (count === 1 ? "One row" : count + " rows") + " changed just now.";
      else if (!status.dataset.live) status.textContent = "The table updates itself.";
      status.dataset.live = "1";
    } catch {
      status.textContent = "The server isn't responding. Trying again …";
    }
  };
  const link = (words, address) => {
    const element = document.createElement("a");
    element.href = address;
    element.textContent = words;
    return element;
  };
  setInterval(ask, 5000);
  ask();
})();

// Long work: shows how far it is, and its result once it is there.
(() => {
  const place = document.querySelector("[data-job]");
  if (!place) return;
  const words = place.querySelector("[data-words]");
  const bar = place.querySelector("progress");
  const ask = async () => {
    try {
      const answer = await fetch(place.dataset.job, { headers: { accept: "application/json" } });
      if (!answer.ok) throw new Error();
      const job = await answer.json();
      if (job.state !== "running") return location.reload();
      if (job.total) {
        bar.max = job.total;
        bar.value = job.done;
        words.textContent = job.done + " of " + job.total;
      }
    } catch {
      words.textContent = "The server isn't responding. Trying again …";
    }
    setTimeout(ask, 1000);
  };
  setTimeout(ask, 1000);
})();

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
  while (page.isConnected) {
    // Most programs are graded at once; whoever waits longer needn't ask as often.
    const age = Date.now() - began;
    await new Promise((resolve) => setTimeout(resolve, age < 3000 ? 250 : age < 30000 ? 1000 : 3000));
    try {
      const answer = await fetch(page.dataset.state, { headers: { Accept: "application/json" } });
      if (!answer.ok) continue;
      const { open, text } = await answer.json();
      const place = page.querySelector("[data-progress]");
      if (open) {
        if (place && place.textContent !== text) {
          place.textContent = text;
          announce(text);
        }
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
    } catch {
      // The server is away for a moment: it is asked again.
    }
  }
}
followHandIn();

// Numbers before the lines of a text, for eyes only: faults are told by line.
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
document.addEventListener("submit", (event) => {
  // Somebody else may sit down at this browser.
  if (!(event.target.getAttribute("action") ?? "").includes("sign-out")) return;
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith("softmark-")) localStorage.removeItem(key);
  } catch {
    // It keeps nothing.
  }
});

// Answers save themselves: a moment after typing, when a field is left, and every few seconds while something
// isn't saved. Until the server has a text, this browser keeps it, also when the window is closed.
(() => {
  const ANSWERS = "softmark-answers:";
  class AnswerForm {
    static PAUSE = 1500;
    static AGAIN = 5000;
    static isPressed = false;

    constructor(form) {
      this.form = form;
      this.key = ANSWERS + form.dataset.key;
      this.line = form.querySelector(".saved");
      this.says = form.querySelector(".saved-says");
      this.sending = null;
      this.isFailing = false;
      this.fields = new Map();
      for (const element of form.querySelectorAll(".answer[data-part]")) {
        const part = element.dataset.part;
        // Unsure: texts that were sent, and of which nobody said what became of them.
        const field = { part, element, conflict: false, unsure: new Set() };
        field.revision = form.elements["revision." + part];
        field.before = form.elements["before." + part];
        field.length = document.getElementById("length-" + part);
        field.isLong = !!field.length && field.length.classList.contains("wrong");
        field.trouble = this.faultOf(field).dataset.trouble || "";
        field.saved = this.text(field);
        this.fields.set(part, field);
      }
      this.restore();
      for (const field of this.dirty()) this.count(field);
      form.addEventListener("input", (event) => this.changed(event));
      form.addEventListener("change", (event) => this.changed(event, true));
      form.addEventListener("submit", (event) => this.submitted(event));
      addEventListener("pagehide", () => this.save());
      document.addEventListener("visibilitychange", () => document.hidden && this.save());
      setInterval(() => this.dirty().length && this.save(), AnswerForm.AGAIN);
      if (this.dirty().length) this.save(true);
    }

    // What the inputs of a field say, as the form would send it.
    pairs(field) {
      const pairs = [];
      for (const [name, value] of new FormData(this.form)) {
        const [kind, part] = name.split(".");
        if (part === field.part && kind !== "revision" && kind !== "before") pairs.push([name, value]);
      }
      return pairs;
    }

    text(field) {
      return JSON.stringify(this.pairs(field).filter(([, value]) => value));
    }

    dirty() {
      return [...this.fields.values()].filter((field) => !field.conflict && this.text(field) !== field.saved);
    }

    // A text is read by the server when it is saved; what it says of one is shown at the field once that is left.
    changed(event, isLeft = false) {
      this.keep();
      for (const field of this.fields.values()) if (!isLeft && field.element.contains(event.target)) this.count(field);
      if (!this.dirty().length) {
        if (isLeft) this.showReadings();
        return;
      }
      if (!this.isFailing) this.status("Not saved yet…");
      clearTimeout(this.pause);
      // A choice is complete with its click; of typed text, a part may still come.
      const typed = event.target.matches("input[type=text], textarea");
      this.pause = setTimeout(() => this.save(isLeft), typed && !isLeft ? AnswerForm.PAUSE : 50);
    }

    async save(isLeft = false) {
      while (this.sending) await this.sending;
      const fields = this.dirty();
      if (fields.length) {
        this.sending = this.send(fields).finally(() => (this.sending = null));
        await this.sending;
      }
      if (isLeft) this.showReadings();
    }

    // After signing in again in another window, this page goes on with the token of the new session, if it is the
    // same person's and still shows what is asked.
    async renew() {
      try {
        const answer = await fetch(this.form.action, { headers: { accept: "text/html" } });
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const form = page.querySelector("form[data-save]");
        if (!form || form.dataset.key !== this.form.dataset.key) return false;
        const theirs = form.elements.csrf.value;
        if (theirs === this.form.elements.csrf.value) return false;
        for (const { elements } of document.forms) if (elements.csrf) elements.csrf.value = theirs;
        return true;
      } catch {
        return false;
      }
    }

    async send(fields, isRenewed = false) {
      clearTimeout(this.pause);
      const body = new URLSearchParams();
      for (const name of ["retry", "draw"]) body.set(name, this.form.elements[name].value);
      const texts = new Map();
      for (const field of fields) {
        body.set("revision." + field.part, field.revision.value);
        for (const [name, value] of this.pairs(field)) body.append(name, value);
        texts.set(field.part, this.text(field));
      }
      // Until there is an answer; the store may have them although none comes.
      for (const field of fields) for (const [, value] of this.pairs(field)) field.unsure.add(value);
      const headers = { accept: "application/json", "x-csrf-token": this.form.elements.csrf.value };
      let answer, value;
      try {
        answer = await fetch(this.form.dataset.save, { method: "POST", headers, body, keepalive: true });
        value = await answer.json();
      } catch {
        return this.failed("Not saved yet: the server can't be reached. Trying again; this browser keeps your text.");
      }
      if (answer.status === 403 || answer.status === 401) {
        if (!isRenewed && (await this.renew())) return this.send(fields, true);
        return this.failed("Not saved: you aren't signed in any more. Sign in again in another window; this browser keeps your text.");
      }
      if (!answer.ok) return this.failed("Not saved: " + [value.error, value.next].filter(Boolean).join("; ") + ".");
      if (value.seconds_left !== null) for (const clock of clocks) clock.set(value.seconds_left);
      for (const done of value.fields) this.done(done, texts.get(done.part));
      if (value.question) this.stand(value.question);
      const isTaken = value.fields.every((done) => done.state === "saved");
      if (isTaken && ![...this.fields.values()].some((field) => field.conflict)) {
        const dirty = this.dirty().length > 0;
        const sentence = "Saved at " + value.saved + this.butHow() + ".";
        if (this.isFailing) this.says.textContent = "Saved again" + this.butHow() + ".";
        else if (this.isAsked && !dirty) this.says.textContent = sentence;
        this.isFailing = false;
        if (!dirty) this.isAsked = false;
        if (dirty) this.status("Not saved yet…");
        else this.status(sentence, this.butHow() ? "partial" : "");
      }
      this.keep();
    }

    // What is saved and couldn't be handed in as it is: said with every "saved", before the field is left.
    butHow() {
      const faulty = [...this.fields.values()].filter((field) => field.trouble);
      if (!faulty.length) return "";
      const troubles = [...new Set(faulty.map((field) => field.trouble))].join(" or ");
      return faulty.length === 1 ? ", but the answer " + troubles : ", but " + faulty.length + " answers: " + troubles;
    }

    // The state of the question among the numbers above it.
    stand({ sign, words, kind }) {
      const link = document.querySelector(".strip [aria-current]");
      if (!link || "excused" in link.dataset) return;
      link.className = kind;
      const [shown, spoken] = link.querySelectorAll("span");
      shown.textContent = " " + sign;
      spoken.textContent = " " + words;
    }

    done(done, text) {
      const field = this.fields.get(done.part);
      if (done.state === "saved") {
        field.saved = text;
        field.revision.value = done.revision;
        field.before.value = done.text;
        field.unsure.clear();
        if (!("fault" in done)) return;
        field.trouble = done.trouble;
        field.reading = { ...done, of: text };
        // What stands at the field by now is about an earlier text.
        const isShown = this.faultOf(field).textContent || document.getElementById("reading-" + field.part).children.length;
        if (isShown && text === this.text(field)) this.show(field, done);
      } else if (done.state === "conflict" && field.unsure.has(done.text)) {
        // No other window: this one had sent it, and the answer was lost on the way. The next save replaces it.
        field.revision.value = done.revision;
        field.before.value = done.text;
        field.unsure.clear();
        this.pause = setTimeout(() => this.save(), 50);
      } else if (done.state === "conflict") {
        this.conflict(field, done.text, done.revision);
      } else {
        this.failed("Not saved: the quiz is over, or this question was handed in in another window. Reload the page; this browser keeps your text until then.");
      }
    }

    faultOf(field) {
      return document.getElementById("fault-" + field.part);
    }

    showReadings() {
      // A line that appears under a pressed pointer would move the button away before it is let go.
      if (AnswerForm.isPressed) {
        addEventListener("pointerup", () => setTimeout(() => this.showReadings()), { once: true });
        return;
      }
      for (const field of this.fields.values()) {
        if (field.reading && field.reading.of === this.text(field)) this.show(field, field.reading);
      }
    }

    // Words are counted as the server counts them; that they are too many is said once.
    count(field) {
      if (!field.length) return;
      const text = field.element.querySelector("textarea").value;
      const count = text.split(/\s+/).filter((word) => /[\p{L}\p{N}_]/u.test(word)).length;
      const most = Number(field.length.dataset.most) || Infinity;
      const words = count === 1 ? "1 word" : count + " words";
      const rest = most === Infinity ? "" : count > most ? ", " + (count - most) + " too many" : ", " + (most - count) + " left";
      field.length.textContent = words + rest;
      if (field.length.classList.toggle("wrong", count > most) && !field.isLong) this.says.textContent = words + rest;
      field.isLong = count > most;
    }

    // How the server reads a text: as numbers, or why it can't.
    show(field, { fault, numbers, length }) {
      if (field.length) field.length.textContent = length;
      const line = this.faultOf(field);
      if (line.textContent !== fault) line.textContent = fault;
      const input = document.getElementById("answer-" + field.part);
      if (input) {
        if (fault) input.setAttribute("aria-invalid", "true");
        else input.removeAttribute("aria-invalid");
      }
      const reading = document.getElementById("reading-" + field.part);
      reading.replaceChildren();
      if (!numbers.length) return;
      const words = document.createElement("span");
      words.className = "soft";
      words.textContent = "Read as";
      const table = document.createElement("table");
      for (const row of numbers) {
        const line = table.insertRow();
        for (const number of row) line.insertCell().textContent = number;
      }
      reading.append(words, table);
    }

    conflict(field, text, revision) {
      field.conflict = true;
      const note = document.createElement("div");
      note.className = "note wrong";
      note.setAttribute("role", "alert");
      const sentence = document.createElement("p");
      sentence.textContent = "This field was changed in another window, so the text here isn't saved. The other window has:";
      const other = document.createElement("pre");
      other.textContent = text || "(nothing)";
      const actions = document.createElement("div");
      actions.className = "actions";
      const button = (label, act) => {
        const made = document.createElement("button");
        made.type = "button";
        made.className = "button";
        made.textContent = label;
        made.addEventListener("click", act);
        actions.append(made);
      };
      button("Keep the text here", () => {
        field.conflict = false;
        field.revision.value = revision;
        note.remove();
        this.save(true);
      });
      button("Use the other text", () => {
        this.forget(field.part);
        location.reload();
      });
      note.append(sentence, other, actions);
      field.element.prepend(note);
      this.failed("One field isn't saved: see above.");
    }

    failed(sentence) {
      this.keep();
      if (!this.isFailing || this.isAsked) this.says.textContent = sentence;
      this.isFailing = true;
      this.isAsked = false;
      this.status(sentence, "wrong");
    }

    status(sentence, kind = "") {
      this.line.textContent = sentence;
      this.line.className = "saved " + kind;
    }

    // What isn't saved, in this browser.
    keep() {
      const unsaved = {};
      for (const field of this.fields.values()) {
        if (this.text(field) === field.saved && !field.conflict) continue;
        unsaved[field.part] = { pairs: this.pairs(field), revision: field.revision.value };
      }
      try {
        if (Object.keys(unsaved).length) localStorage.setItem(this.key, JSON.stringify(unsaved));
        else localStorage.removeItem(this.key);
      } catch {
        // A browser that keeps nothing still saves to the server.
      }
    }

    forget(part) {
      try {
        const unsaved = JSON.parse(localStorage.getItem(this.key) || "{}");
        delete unsaved[part];
        localStorage.setItem(this.key, JSON.stringify(unsaved));
      } catch {
        localStorage.removeItem(this.key);
      }
    }

    restore() {
      let unsaved = {};
      try {
        unsaved = JSON.parse(localStorage.getItem(this.key) || "{}");
      } catch {
        return;
      }
      for (const [part, { pairs, revision }] of Object.entries(unsaved)) {
        const field = this.fields.get(part);
        if (!field) continue;
        const stored = field.before.value;
        this.enter(field, pairs);
        if (this.text(field) !== field.saved && revision !== field.revision.value) {
          this.conflict(field, stored, field.revision.value);
        }
      }
    }

    enter(field, pairs) {
      const values = (name) => pairs.filter(([n]) => n === name).map(([, value]) => value);
      for (const input of this.form.elements) {
        const [kind, part] = (input.name || "").split(".");
        if (part !== field.part || kind === "revision" || kind === "before") continue;
        if (input.type === "radio" || input.type === "checkbox") input.checked = values(input.name).includes(input.value);
        else input.value = values(input.name)[0] ?? "";
      }
    }

    // Save alone needs no new page; everything else waits until what is under way has arrived.
    submitted(event) {
      const button = event.submitter;
      if (button && button.value === "save") {
        event.preventDefault();
        event.stopPropagation();
        // Whoever presses the button is answered, also aloud.
        this.isAsked = true;
        this.save(true).then(() => {
          if (!this.isAsked || this.isFailing || this.dirty().length) return;
          this.isAsked = false;
          const sentence = "Everything is saved" + this.butHow() + ".";
          this.status(sentence, this.butHow() ? "partial" : "");
          this.says.textContent = sentence;
        });
      } else if (this.sending) {
        event.preventDefault();
        event.stopPropagation();
        this.sending.then(() => this.form.requestSubmit(button));
      }
    }
  }

  for (const name of ["pointerdown", "pointerup", "pointercancel"]) {
    addEventListener(name, () => (AnswerForm.isPressed = name === "pointerdown"), { capture: true });
  }

  // What a form led to is on the page when it loads, where screen readers pass it over: it is said a moment later.
  const notices = document.querySelector(".notices");
  if (notices) {
    const line = document.createElement("p");
    line.className = "hidden";
    line.setAttribute("role", "status");
    document.body.append(line);
    const standing = document.querySelector(".result .standing");
    const sentences = [notices, standing].filter(Boolean).map((element) => element.textContent.trim().replace(/\s+/g, " "));
    setTimeout(() => (line.textContent = sentences.join(" ")), 400);
  }

  // The time left, told aloud ten, five and one minute before the end; at the end the page shows what comes then.
  const clocks = [];
  class Clock {
    static SPOKEN = [600, 300, 60];

    constructor(element) {
      this.element = element;
      this.words = element.querySelector(".left");
      this.says = document.querySelector(".clock-says");
      this.set(Number(element.dataset.seconds));
      this.spoken = Clock.SPOKEN.filter((seconds) => this.left() > seconds);
      if (this.words && this.left() < 86400) setInterval(() => this.tick(), 1000);
    }

    set(seconds) {
      this.end = Date.now() + seconds * 1000;
    }

    left() {
      return Math.max(0, Math.round((this.end - Date.now()) / 1000));
    }

    tick() {
      const left = this.left();
      const two = (number) => String(number).padStart(2, "0");
      const hours = Math.floor(left / 3600);
      const minutes = Math.floor(left / 60) % 60;
      this.words.textContent = (hours ? hours + ":" + two(minutes) : minutes) + ":" + two(left % 60);
      this.element.classList.toggle("soon", left <= 300);
      const due = this.spoken.filter((seconds) => left <= seconds);
      if (due.length) {
        const least = Math.min(...due) / 60;
        this.says.textContent = least === 1 ? "One minute left." : least + " minutes left.";
        this.spoken = this.spoken.filter((seconds) => left > seconds);
      }
      if (!left && !this.isOver) {
        this.isOver = true;
        const sentence = (this.element.classList.contains("still") ? "The quiz is over." : "Time is up.") + " What was saved is handed in.";
        this.says.textContent = sentence;
        const shown = document.createElement("strong");
        shown.textContent = sentence;
        this.words.parentElement.replaceChildren(shown);
        const saved = Promise.all(answerForms.map((form) => form.save()));
        // What is typed from here on would be lost.
        for (const { form } of answerForms) {
          form.inert = true;
          const line = document.createElement("p");
          line.className = "note waiting";
          line.textContent = sentence;
          form.querySelector(".actions").before(line);
        }
        // Later than the server's own end, which allows for slow networks.
        saved.finally(() => setTimeout(() => location.assign(this.element.dataset.over), 1000 * this.element.dataset.grace));
      }
    }
  }

  // An order is arranged by moving its cards; the lists to choose from stay for browsers without scripts.
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

  // Vectors and matrices can be entered in a grid, which writes the text that is saved and graded.
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

  // First what this browser has kept is entered again, then orders are arranged by it.
  const answerForms = [...document.querySelectorAll("form[data-save]")].map((form) => new AnswerForm(form));
  for (const element of document.querySelectorAll(".answer[data-kind=order]")) arrange(element);
  for (const element of document.querySelectorAll(".answer[data-rows]")) offerGrid(element);
  for (const element of document.querySelectorAll(".timer[data-seconds]")) clocks.push(new Clock(element));
})();

// Marking by keyboard: the key beside points gives them for the current criterion, arrows change it, n saves and
// goes on.
(() => {
  const form = document.querySelector("form[data-rubric]");
  if (!form) return;
  const criteria = [...form.querySelectorAll("[data-criterion]")];
  const open = criteria.findIndex((criterion) => !criterion.querySelector("input[type=radio]:checked"));
  let current = Math.max(open, 0);
  const show = (index, focus) => {
    current = Math.min(Math.max(index, 0), criteria.length - 1);
    criteria.forEach((criterion, place) => criterion.classList.toggle("current", place === current));
    if (focus) criteria[current].scrollIntoView({ block: "nearest" });
  };
  form.addEventListener("focusin", (event) => {
    const index = criteria.findIndex((criterion) => criterion.contains(event.target));
    if (index >= 0) show(index, false);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const writing = event.target.closest("textarea, select, input:not([type=radio]):not([type=checkbox])");
    if (writing) return;
    const radio = /^[0-9a-k]$/.test(event.key) && criteria[current].querySelector(`[data-press="${event.key}"]`);
    if (radio) {
      radio.checked = true;
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

// What was chosen goes back to the learning system at once; its window is closed when a registration is done.
for (const form of document.querySelectorAll("form[data-send]")) form.requestSubmit();
if (document.querySelector("[data-lti-close]")) {
  (window.opener || window.parent).postMessage({ subject: "org.imsglobal.lti.close" }, "*");
}

// Back to a refused form: the browser's own way back has in its fields what was entered.
for (const link of document.querySelectorAll("a[data-back]")) {
  link.addEventListener("click", (event) => {
    if (history.length < 2) return;
    event.preventDefault();
    history.back();
  });
}
