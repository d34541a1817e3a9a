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
      else if (!status.dataset.live) status.textContent = "The table keeps itself up to date.";
      status.dataset.live = "1";
    } catch {
      status.textContent = "The server doesn't answer; this page tries again.";
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
      words.textContent = "The server doesn't answer; this page tries again.";
    }
    setTimeout(ask, 1000);
  };
  setTimeout(ask, 1000);
})();
