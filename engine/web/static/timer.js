// The time left, told aloud ten, five and one minute before the end; at the end the page shows what comes then.
"use strict";

const clocks = [];
// What other scripts do when the time is up, called with a sentence about it; the page waits for what they promise.
const atEnd = [];

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
      const saved = Promise.all(atEnd.map((act) => act(sentence)));
      // Later than the server's own end, which allows for slow networks.
      saved.finally(() => setTimeout(() => location.assign(this.element.dataset.over), 1000 * this.element.dataset.grace));
    }
  }
}

// After the other scripts of the page: they have said by then what they do at the end.
document.addEventListener("DOMContentLoaded", () => {
  for (const element of document.querySelectorAll(".timer[data-seconds]")) clocks.push(new Clock(element));
});
