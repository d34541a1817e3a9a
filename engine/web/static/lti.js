// What was chosen goes back to the learning system at once; its window is closed when a registration is done.
"use strict";

for (const form of document.querySelectorAll("form[data-send]")) form.requestSubmit();
if (document.querySelector("[data-lti-close]")) {
  (window.opener || window.parent).postMessage({ subject: "org.imsglobal.lti.close" }, "*");
}
