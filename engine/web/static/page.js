// Every page: improves what works without a script. Each other file here is one feature, loaded by the pages that have it.
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

// Back to a refused form: the browser's own way back has in its fields what was entered.
for (const link of document.querySelectorAll("a[data-back]")) {
  link.addEventListener("click", (event) => {
    if (history.length < 2) return;
    event.preventDefault();
    history.back();
  });
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

// What was typed and not sent stays in this browser; when its owner signs out, somebody else may sit down at it.
document.addEventListener("submit", (event) => {
  if (!(event.target.getAttribute("action") ?? "").includes("sign-out")) return;
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith("softmark-")) localStorage.removeItem(key);
  } catch {
    // It keeps nothing.
  }
});
