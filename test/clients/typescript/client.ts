// Calls stored queries of the code graph. The client has its types from the graph's OpenAPI
// document. tsc checks the types before the program runs.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const client = createClient<paths>({
  baseUrl: process.env["OMNIGRAPH_URL"] ?? "",
  headers: { Authorization: `Bearer ${process.env["OMNIGRAPH_TOKEN"]}` },
});

// Every answer writes 64-bit integers as strings of digits.
const exact = { header: { "Omnigraph-Integers": "string" } } as const;

// A read with a parameter and typed rows.
const found = await client.POST("/graphs/code/queries/find_symbols", { params: exact, body: { params: { words: "shelf", limit: 5 } } });
assert.ok(found.data, found.error?.error);
const rows: components["schemas"]["FindSymbolsRow"][] = found.data.rows;
const first = rows[0];
assert.ok(first);
const kind: "func" | "method" | "type" | "interface" | "const" | "var" = first.kind;
const signature: string | null = first.signature;
assert.ok(kind && (signature === null || signature.length > 0));
assert.equal(found.data.row_count, rows.length);

// A count is a string of digits.
const called = await client.POST("/graphs/code/queries/most_called", { params: exact, body: { params: { limit: 1 } } });
assert.ok(called.data, called.error?.error);
const callers: string | undefined = called.data.rows[0]?.callers;
assert.ok(callers !== undefined && BigInt(callers) > 0n);
assert.ok(called.data.next_page_token === undefined);

// Pages.
const pages: string[] = [];
let page_token: string | undefined;
do {
  const page = await client.POST("/graphs/code/queries/find_symbols", {
    params: exact, body: { params: { words: "shelf" }, max_rows: 1, ...(page_token === undefined ? {} : { page_token }) },
  });
  assert.ok(page.data, page.error?.error);
  pages.push(...page.data.rows.map((row) => row.path));
  page_token = page.data.next_page_token;
} while (page_token !== undefined);
assert.ok(pages.length > 1);
assert.equal(new Set(pages).size, pages.length);

// A mutation. It is sent twice, and must run only once.
const note = { params: { slug: "from-typescript", symbol: first.path, text: "Hello." } };
for (let i = 0; i < 2; i++) {
  const added = await client.POST("/graphs/code/queries/add_note", {
    params: { header: { ...exact.header, "Idempotency-Key": "typescript-1" } }, body: note,
  });
  assert.ok(added.data, added.error?.error);
  assert.equal(added.data.affected_nodes, 1);
}
const notes = await client.POST("/graphs/code/queries/notes_about", { params: exact, body: { params: { symbol: first.path } } });
assert.equal(notes.data?.rows.filter((row) => row.slug === "from-typescript").length, 1);

// A typed error.
const unknown = await client.POST("/graphs/code/queries/find_symbols", { params: exact, body: { params: { words: "x", limit: 100_000 } } });
assert.equal(unknown.response.status, 400);
assert.equal(unknown.error?.code, "bad_request");

// These calls are wrong, and tsc must refuse each of them. The program never calls the function.
export async function faults(): Promise<void> {
  // @ts-expect-error the parameter words is required
  await client.POST("/graphs/code/queries/find_symbols", { params: exact, body: { params: {} } });
  // @ts-expect-error the parameter limit is an integer
  await client.POST("/graphs/code/queries/most_called", { params: exact, body: { params: { limit: true } } });
  // @ts-expect-error there is no such query
  await client.POST("/graphs/code/queries/nothing", {});
  const { data } = await client.POST("/graphs/code/queries/callers", { params: exact, body: { params: { path: "a" } } });
  // @ts-expect-error the rows have no such column
  void data?.rows[0]?.nothing;
}
