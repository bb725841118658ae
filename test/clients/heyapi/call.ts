// Calls stored queries of the code graph with the client that hey-api made.
import assert from "node:assert/strict";
import { client } from "./client/client.gen.js";
import { addNote, findSymbols, mostCalled, notesAbout } from "./client/sdk.gen.js";

client.setConfig({ baseUrl: process.env["OMNIGRAPH_URL"] ?? "", auth: process.env["OMNIGRAPH_TOKEN"] ?? "" });
const headers = { "Omnigraph-Integers": "string" } as const;

const called = await mostCalled({ headers, body: { params: { limit: 1 } } });
assert.ok(called.data, JSON.stringify(called.error));
const callers: string | undefined = called.data.rows[0]?.callers;
assert.ok(callers !== undefined && BigInt(callers) > 0n);

const pages: string[] = [];
for (let page_token: string | undefined; ; ) {
  const page = await findSymbols({ headers, body: { params: { words: "shelf" }, max_rows: 1, ...(page_token === undefined ? {} : { page_token }) } });
  assert.ok(page.data, JSON.stringify(page.error));
  pages.push(...page.data.rows.map((row) => row.path));
  page_token = page.data.next_page_token;
  if (page_token === undefined) break;
}
assert.ok(pages.length > 1 && new Set(pages).size === pages.length);

const symbol = pages[0] ?? "";
for (let i = 0; i < 2; i++) {
  const added = await addNote({ headers: { ...headers, "Idempotency-Key": "hey-1" }, body: { params: { slug: "from-hey-api", symbol, text: "Hello." } } });
  assert.equal(added.data?.affected_nodes, 1, JSON.stringify(added.error));
}
const notes = await notesAbout({ headers, body: { params: { symbol } } });
assert.equal(notes.data?.rows.filter((row) => row.slug === "from-hey-api").length, 1);

const refused = await findSymbols({ headers, body: { params: { words: "x", limit: 100_000 } } });
assert.equal(refused.response?.status, 400);
assert.equal(refused.error?.code, "bad_request");
