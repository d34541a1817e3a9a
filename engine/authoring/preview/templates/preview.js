"use strict";
// Redraws the page when the server says that the file was saved. What is open stays open, what has the focus
// keeps it, and the page doesn't move.
(() => {
  const shown = () => document.getElementById("content").dataset.number;
  let wanted = shown();
  let busy = false;

  const say = (text, stopped) => {
    const live = document.getElementById("live");
    if (live.textContent !== text) live.textContent = text;
    live.parentElement.classList.toggle("stopped", stopped);
  };

  const place = (node) => node && (node.id ? `#${node.id}` : node.parentElement && node.parentElement.id
    ? `#${node.parentElement.id} > ${node.localName}` : node.getAttribute("href") && `[href="${node.getAttribute("href")}"]`);

  const replace = (page) => {
    const closed = [...document.querySelectorAll("details:not([open])")].map((node) => node.id);
    const focus = document.activeElement !== document.body && place(document.activeElement);
    const before = new Map([...document.querySelectorAll("article")].map((node) => [node.id, node.innerHTML]));
    document.title = page.title;
    for (const part of ["h1", "#drawn", "header > p:last-child", "main"]) {
      const here = document.querySelector(part), there = page.querySelector(part);
      if (here && there && here.outerHTML !== there.outerHTML) here.replaceWith(document.adoptNode(there));
    }
    for (const id of closed) {
      const node = document.getElementById(id);
      if (node) node.open = false;
    }
    for (const node of document.querySelectorAll("article"))
      node.classList.toggle("fresh", before.get(node.id) !== node.innerHTML);
    const target = focus && document.querySelector(focus);
    if (target && target !== document.activeElement) target.focus({ preventScroll: true });
  };

  const redraw = async () => {
    if (busy) return;
    busy = true;
    try {
      while (shown() !== wanted) {
        const asked = wanted;
        const answer = await fetch("/", { cache: "no-store" });
        if (!answer.ok) throw new Error(answer.statusText);
        const [x, y] = [window.scrollX, window.scrollY];
        replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
        window.scrollTo(x, y);
        if (wanted === asked) wanted = shown();
      }
    } finally {
      busy = false;
    }
  };

  const listen = () => {
    const events = new EventSource("/events");
    events.onopen = () => say("Redrawn whenever you save.", false);
    events.onmessage = (event) => {
      wanted = event.data;
      redraw().catch(() => say("The page couldn't be redrawn; reload it.", true));
    };
    events.onerror = () => {
      say("The preview has ended. Start grade preview again, and this page goes on by itself.", true);
      if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
    };
  };
  listen();
})();
