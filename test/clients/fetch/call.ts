// Calls stored queries of the code graph with the client that openapi-generator made for TypeScript.
import assert from "node:assert/strict";
import { Configuration, QueriesApi, ResponseError, type FindSymbolsBody } from "./client/index.js";

const queries = new QueriesApi(new Configuration({ basePath: process.env["OMNIGRAPH_URL"] ?? "", accessToken: process.env["OMNIGRAPH_TOKEN"] ?? "" }));
const omnigraphIntegers = "string";

const called = await queries.mostCalled({ omnigraphIntegers, mostCalledBody: { params: { limit: 1 } } });
const callers: string | undefined = called.rows[0]?.callers;
assert.ok(callers !== undefined && BigInt(callers) > 0n);

const pages: string[] = [];
const findSymbolsBody: FindSymbolsBody = { params: { words: "shelf" }, maxRows: 1 };
for (;;) {
  const page = await queries.findSymbols({ omnigraphIntegers, findSymbolsBody });
  pages.push(...page.rows.map((row) => row.path));
  if (page.nextPageToken === undefined) break;
  findSymbolsBody.pageToken = page.nextPageToken;
}
assert.ok(pages.length > 1 && new Set(pages).size === pages.length);

const symbol = pages[0] ?? "";
for (let i = 0; i < 2; i++) {
  const added = await queries.addNote({ omnigraphIntegers, idempotencyKey: "fetch-1", addNoteBody: { params: { slug: "from-fetch", symbol, text: "Hello." } } });
  assert.equal(added.affectedNodes, 1);
}
const notes = await queries.notesAbout({ omnigraphIntegers, notesAboutBody: { params: { symbol } } });
assert.equal(notes.rows.filter((row) => row.slug === "from-fetch").length, 1);

const refused = await queries.findSymbols({ omnigraphIntegers, findSymbolsBody: { params: { words: "x", limit: 100_000 } } }).catch((error: unknown) => error);
assert.ok(refused instanceof ResponseError, String(refused));
assert.equal(refused.response.status, 400);
assert.equal((await refused.response.json()).code, "bad_request");
