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
