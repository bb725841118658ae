// Measures `gq lsp` while an author types: node keystrokes.mjs GQ DIR FILE COUNT
//
// It types COUNT characters into a query of FILE, one after the other. After each one it waits for the
// diagnostics of that version, and for a completion. It prints figures as JSON. It fails if the server ever
// had 300 MB of memory.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Editor } from "./client.mjs";

const [gq, dir, file, count] = process.argv.slice(2);
const e = await Editor.start(gq, dir);
const started = performance.now();
const doc = await e.open(file);
await e.settled(60000);
const ready = performance.now() - started;

const peak = () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${e.process.pid}/status`, "utf8"))[1]) / 1024;
// cpu returns the processor time of the server in milliseconds; a tick of the kernel is 10 ms.
const cpu = () => {
  const fields = readFileSync(`/proc/${e.process.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
};
const text = "    $a: Type0 { name: $name }\n    $a edge0 $b\n    $b.name != \"x\"\n    $b.age >= 3\n";
const diagnostics = [];
const completions = [];
const both = [];
const at = doc.text.indexOf("match {\n") + "match {\n".length;
let typed = 0;
const before = cpu();
for (let i = 0; i < Number(count); i++) {
  if (typed === text.length) {
    await doc.change(at, at + typed, "");
    typed = 0;
  }
  const start = performance.now();
  const published = e.diagnostics(file, (_, p) => p.version === doc.version, 60000);
  await doc.change(at + typed, at + typed, text[typed]);
  const version = doc.version;
  typed++;
  const position = doc.position(at + typed);
  const answered = doc.request("completion", { position }).then(() => completions.push(performance.now() - start));
  await Promise.all([published.then(() => diagnostics.push(performance.now() - start)), answered]);
  if (version !== doc.version) throw new Error("the versions differ");
  both.push(performance.now() - start);
  await new Promise((resolve) => setTimeout(resolve, 20));
}
const used = cpu() - before;
await doc.change(at, at + typed, "");
await e.settled(60000);

const figures = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  const of = (q) => Number(sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))].toFixed(1));
  return { p50: of(0.5), p99: of(0.99), max: of(1) };
};
const memory = peak();
console.log(JSON.stringify({
  file, keystrokes: both.length, ready_ms: Math.round(ready), diagnostics_ms: figures(diagnostics),
  completion_ms: figures(completions),
  cpu_ms_per_keystroke: Number((used / both.length).toFixed(1)), memory_mib: Math.round(memory),
}));
assert.ok(memory * 1.048576 < 300, `the server had ${Math.round(memory)} MiB of memory, expected less than 300 MB`);
await e.stop();
