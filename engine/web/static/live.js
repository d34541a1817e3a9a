// Pages that change while they are looked at.
"use strict";

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
  const held = place.querySelector("[data-held]");
  const ask = async () => {
    try {
      const answer = await fetch(place.dataset.job, { headers: { accept: "application/json" } });
      if (!answer.ok) throw new Error();
      const job = await answer.json();
      if (job.state !== "running") return location.reload();
      // Only what is new: a screen reader would say it every second.
      const reason = held.querySelector("span");
      if (reason.textContent !== job.held) reason.textContent = job.held;
      held.hidden = !job.held;
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
