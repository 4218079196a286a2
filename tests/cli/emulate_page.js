// emulate_page.js - runs the script of a page of "echelon emulate --html" in a small imitation of a browser, goes
// through all steps, and prints what the page shows.
//
//     node emulate_page.js PAGE.html
//
// SPDX-License-Identifier: Apache-2.0
"use strict";
const fs = require("fs");

const page = fs.readFileSync(process.argv[2], "utf8");
const elements = new Map();

class Element {
  constructor(tag) {
    this.tag = tag;
    this.children = [];
    this.style = {};
    this.own = "";
    this.classes = new Set();
    const classes = this.classes;
    this.classList = { add: name => classes.add(name), remove: name => classes.delete(name) };
    this.scrollTop = this.offsetTop = this.clientHeight = 0;
  }
  get textContent() { return this.own + this.children.map(c => c.textContent === undefined ? "" + c : c.textContent).join(" "); }
  set textContent(text) { this.own = "" + text; this.children = []; }
  set className(name) { this.classes.add(name); }
  set id(id) { elements.set(id, this); }
  append(...more) { this.children.push(...more); }
  replaceChildren(...more) { this.children = more; this.own = ""; }
}

// The elements of the page itself, by their ids.
for (const [, tag, id] of page.matchAll(/<(\w+)[^>]* id="(\w+)"/g)) elements.set(id, new Element(tag));
const data = page.match(/<script id="data"[^>]*>([^]*?)<\/script>/)[1];
elements.get("data").textContent = data;
const script = page.match(/<script>([^]*?)<\/script>/)[1];

const document = {
  getElementById: id => elements.get(id),
  createElement: tag => new Element(tag),
  querySelectorAll: () => [...elements.values()].filter(e => e.classes.has("now")),
  title: "",
};
new Function("document", script)(document);

const report = JSON.parse(data), $ = id => elements.get(id);
console.log($("block").textContent);
console.log(document.title);
console.log($("launch").textContent.replace(/Echelon .*/, "Echelon V"));
console.log($("findings").children.length + " findings: " + $("findings").textContent.replace(/\s+/g, " ").slice(0, 160));
$("warp").value = "all";
$("warp").onchange();
let shown = 0;
for (let i = 0; i < report.events.length; i++) {
  if (i) $("next").onclick();
  if ($("count").textContent !== "step " + (i + 1) + " of " + report.events.length) console.log("wrong: " + $("count").textContent);
  if (/undefined|NaN/.test($("what").textContent + $("lanes").textContent + $("memory").textContent + $("warps").textContent))
    console.log("wrong at step " + i + ": " + $("what").textContent + $("memory").textContent);
  if ($("lanes").children.length !== 32) console.log("not 32 lanes");
  if (report.events[i].line && document.querySelectorAll().filter(e => e.tag === "tr").length !== 1) console.log("not one line at step " + i);
  if (i < 60) console.log($("what").textContent + " | " + $("memoryTitle").textContent);
  shown++;
}
console.log(shown === report.events.length && shown > 0 ? "all steps were shown" : "no steps");
$("back").onclick();
console.log($("count").textContent.replace(/[0-9]+/g, "N"));
console.log(/https?:|src=|import /.test(page.replace(data, "")) ? "refers to the network" : "one file");
