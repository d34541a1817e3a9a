// Parses GIFT texts with gift-pegjs: a JSON list of texts in, a JSON list of trees or errors out.
'use strict';
const path = require('path');
const { parse } = require(path.join(process.argv[2], 'node_modules', 'gift-pegjs'));

const chunks = [];
process.stdin.on('data', (chunk) => chunks.push(chunk));
process.stdin.on('end', () => {
  const texts = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const results = texts.map((text) => {
    try {
      return { questions: parse(text) };
    } catch (error) {
      return { error: error.message, at: error.location ? error.location.start : null };
    }
  });
  process.stdout.write(JSON.stringify(results));
});
