// Drives a running server with the official TypeScript SDK: lists the tools, calls
// some with the arguments a coding agent would give, and checks what comes back.
// Usage: node client.mjs URL TOKEN
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, token] = process.argv.slice(2);
if (!url || !token) {
  console.error('usage: node client.mjs URL TOKEN');
  process.exit(2);
}

async function connect(bearer) {
  const client = new Client({ name: 'omnigraph-client-test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: bearer ? { Authorization: `Bearer ${bearer}` } : {} },
  }));
  return client;
}

let passed = 0;
let failed = 0;
async function check(name, f) {
  try {
    await f();
    passed++;
    console.log(`ok   ${name}`);
  } catch (err) {
    failed++;
    console.log(`FAIL ${name}: ${err.stack}`);
  }
}

const client = await connect(token);
const { tools } = await client.listTools();

await check('tools are listed with titles, schemas and hints', () => {
  const names = tools.map((t) => t.name);
  for (const want of ['graph_health', 'graph_query', 'schema_get', 'branch_list', 'graph_load', 'graph_mutate', 'find_symbols', 'add_note']) {
    assert.ok(names.includes(want), `${want} is not among ${names}`);
  }
  for (const t of tools) {
    assert.ok(t.title, `${t.name} has no title`);
    assert.ok(t.description, `${t.name} has no description`);
    assert.equal(t.inputSchema.type, 'object');
    assert.equal(t.annotations.openWorldHint, false, t.name);
  }
});

// The client validates structuredContent against each tool's outputSchema.
await check('a stored query answers rows', async () => {
  const res = await client.callTool({ name: 'find_symbols', arguments: { params: { words: 'graph' } } });
  assert.ok(!res.isError, JSON.stringify(res.content));
  assert.ok(res.structuredContent.row_count > 0);
  assert.deepEqual(JSON.parse(res.content[0].text), res.structuredContent);
  assert.ok(res._meta['omnigraph/schemaVersion'].startsWith('sha256:'));
});

await check('an ad-hoc query answers rows', async () => {
  const query = 'query q() { match { $p: Package } return { count($p) as n } }';
  const res = await client.callTool({ name: 'graph_query', arguments: { query } });
  assert.ok(!res.isError, JSON.stringify(res.content));
  assert.ok(res.structuredContent.rows[0].n > 0);
});

await check('a mutation and its removal', async () => {
  const symbol = (await client.callTool({ name: 'find_symbols', arguments: { params: { words: 'graph' } } })).structuredContent.rows[0].path;
  const params = { slug: `client-test-${process.pid}`, symbol, text: 'written by the client test' };
  const added = await client.callTool({ name: 'add_note', arguments: { params } });
  assert.ok(!added.isError, JSON.stringify(added.content));
  assert.equal(added.structuredContent.affected_nodes, 1);
  const notes = await client.callTool({ name: 'notes_about', arguments: { params: { symbol } } });
  assert.ok(notes.structuredContent.rows.some((r) => r.slug === params.slug));
  const removed = await client.callTool({ name: 'remove_note', arguments: { params: { slug: params.slug } } });
  assert.equal(removed.structuredContent.affected_nodes, 1);
  assert.equal(removed.structuredContent.affected_edges, 1);
});

await check('a wrong argument is an error that names it', async () => {
  const res = await client.callTool({ name: 'find_symbols', arguments: { params: { word: 'graph' } } });
  assert.equal(res.isError, true);
  assert.match(res.content[0].text, /words/);
});

await check('a query with a fault is answered with its diagnostics', async () => {
  const res = await client.callTool({ name: 'graph_query', arguments: { query: 'query q() { match { $p: Pakage } return { $p } }' } });
  assert.equal(res.isError, true);
  const body = JSON.parse(res.content[0].text);
  assert.equal(body.diagnostics[0].code, 'T1');
  assert.match(res.content[0].text, /Package/);
});

await check('an unknown tool is refused', async () => {
  await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), /unknown tool: no_such_tool/);
});

await check('a missing or wrong token is refused', async () => {
  await assert.rejects(connect(undefined));
  await assert.rejects(connect('not-the-token'));
});

await client.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
