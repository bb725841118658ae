// Calls stored queries of the code graph with the client that orval made.
import assert from "node:assert/strict";
import { addNote, findSymbols, mostCalled, notesAbout } from "./client.js";

// The client leaves headers, also those that the document requires, to its caller.
const headers = { Authorization: `Bearer ${process.env["OMNIGRAPH_TOKEN"]}`, "Omnigraph-Integers": "string" };

const called = await mostCalled({ params: { limit: 1 } }, { headers });
assert.ok(called.status === 200, JSON.stringify(called.data));
const callers: string | undefined = called.data.rows[0]?.callers;
assert.ok(callers !== undefined && BigInt(callers) > 0n);

const pages: string[] = [];
for (let page_token: string | undefined; ; ) {
  const page = await findSymbols({ params: { words: "shelf" }, max_rows: 1, ...(page_token === undefined ? {} : { page_token }) }, { headers });
  assert.ok(page.status === 200, JSON.stringify(page.data));
  pages.push(...page.data.rows.map((row) => row.path));
  page_token = page.data.next_page_token;
  if (page_token === undefined) break;
}
assert.ok(pages.length > 1 && new Set(pages).size === pages.length);

const symbol = pages[0] ?? "";
for (let i = 0; i < 2; i++) {
  const added = await addNote({ params: { slug: "from-orval", symbol, text: "Hello." } }, { headers: { ...headers, "Idempotency-Key": "orval-1" } });
  assert.ok(added.status === 200 && added.data.affected_nodes === 1, JSON.stringify(added.data));
}
const notes = await notesAbout({ params: { symbol } }, { headers });
assert.ok(notes.status === 200 && notes.data.rows.filter((row) => row.slug === "from-orval").length === 1);

const refused = await findSymbols({ params: { words: "x", limit: 100_000 } }, { headers });
assert.ok(refused.status === 400 && refused.data.code === "bad_request");
