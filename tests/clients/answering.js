"use strict";

// Gives an item one response after the other, each as another candidate's, and returns what the player made of it.
async function answerAll(xml, responses) {
  const results = [];
  let asked = "";
  for (const response of responses) {
    // Fields that are all typed anew need no new page: that is most of the time it takes.
    const fields = Object.values(response).every((value) => typeof value === "string") ? Object.keys(response).join() : "";
    if (!fields || fields !== asked) await show(xml);
    asked = fields;
    for (const [identifier, value] of Object.entries(response)) {
      if (value !== null) await enter(identifier, value);
    }
    results.push(await end());
  }
  return results;
}
