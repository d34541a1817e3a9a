// Answers save themselves: a moment after typing, when a field is left, and every few seconds while something
// isn't saved. Until the server has a text, this browser keeps it, also when the window is closed. Needs timer.js.
"use strict";

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

// What this browser has kept is entered again here: scripts that show a field in another way come after this one.
for (const element of document.querySelectorAll("form[data-save]")) {
  const answers = new AnswerForm(element);
  atEnd.push((sentence) => {
    const saved = answers.save();
    // What is typed from here on would be lost.
    element.inert = true;
    const line = document.createElement("p");
    line.className = "note waiting";
    line.textContent = sentence;
    element.querySelector(".actions").before(line);
    return saved;
  });
}
