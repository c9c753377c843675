// Weighs what a browser has to load: the first page, each lazy part, and all of it. gzip, in kB of 1000 bytes.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const BUDGET = { first: 125, part: 80, all: 260 };

const weight = (path) => gzipSync(readFileSync(join(dist, path)), { level: 9 }).length / 1000;
const index = readFileSync(join(dist, "index.html"), "utf8");
const named = [...index.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((found) => found[1]);
// What the first module imports statically is loaded with it.
for (const path of named) {
  if (!path.endsWith(".js")) continue;
  for (const found of readFileSync(join(dist, path), "utf8").matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g)) {
    if (!named.includes(`assets/${found[1]}`)) named.push(`assets/${found[1]}`);
  }
}
const parts = readdirSync(join(dist, "assets")).map((name) => `assets/${name}`);
const first = weight("index.html") + named.reduce((sum, path) => sum + weight(path), 0);
const lazy = parts.filter((path) => !named.includes(path)).map((path) => ({ path, kB: weight(path) }));
const all = weight("index.html") + parts.reduce((sum, path) => sum + weight(path), 0);
const largest = Math.max(0, ...lazy.map(({ kB }) => kB));

console.log(`first load ${first.toFixed(1)} kB of ${BUDGET.first}`);
for (const { path, kB } of lazy) console.log(`  later ${path} ${kB.toFixed(1)} kB`);
console.log(`largest part ${largest.toFixed(1)} kB of ${BUDGET.part}; all ${all.toFixed(1)} kB of ${BUDGET.all}`);
if (first > BUDGET.first || largest > BUDGET.part || all > BUDGET.all) {
  console.error("over the budget: make a part lazy, or take something out");
  process.exit(1);
}
