// Drives a running server with the official TypeScript SDK: lists the tools, calls
// some with the arguments a coding agent would give, and checks what comes back.
// Usage: node client.mjs URL TOKEN, or node client.mjs --stdio COMMAND ARGUMENT…
// OMNIGRAPH_MCP_VERSION is the protocol version to ask for; the SDK itself asks for its newest.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, token, ...args] = process.argv.slice(2);
if (!url || !token) {
  console.error('usage: node client.mjs URL TOKEN, or node client.mjs --stdio COMMAND ARGUMENT…');
  process.exit(2);
}
const stdio = url === '--stdio';

const version = process.env.OMNIGRAPH_MCP_VERSION;
function asking(transport) {
  const send = transport.send.bind(transport);
  transport.send = (m, options) => send(version && m.method === 'initialize' ? { ...m, params: { ...m.params, protocolVersion: version } } : m, options);
  return transport;
}

async function connect(bearer) {
  const client = new Client({ name: 'omnigraph-client-test', version: '1' });
  if (stdio) {
    const env = { ...getDefaultEnvironment(), OMNIGRAPH_TOKEN: process.env.OMNIGRAPH_TOKEN ?? '' };
    await client.connect(asking(new StdioClientTransport({ command: token, args, env })));
    return client;
  }
  const transport = asking(new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: bearer ? { Authorization: `Bearer ${bearer}` } : {} },
  }));
  await client.connect(transport);
  if (version) assert.equal(transport.protocolVersion, version, 'the version that was agreed');
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

// Stored queries are tools, or where there are many run by a pair of tools.
const meta = tools.some((t) => t.name === 'stored_query_run');
const outputSchemas = process.env.OMNIGRAPH_MCP_OUTPUT_SCHEMAS === '1';
// Where arguments are flat, parameters stand beside each other, and options in the member _.
const flat = process.env.OMNIGRAPH_MCP_FLAT === '1';
function stored(name, args) {
  if (flat && typeof args.params === 'object') {
    const { params, ...options } = args;
    args = Object.keys(options).length > 0 ? { ...params, _: options } : params;
  }
  return client.callTool(meta ? { name: 'stored_query_run', arguments: { ...args, name } } : { name, arguments: args });
}

// The rows of an answer are arrays, whose values are in the order of the columns.
function named({ structuredContent: { columns, rows } }) {
  return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
}

await check('tools are listed with titles, schemas and hints', () => {
  const names = tools.map((t) => t.name);
  for (const want of ['graph_health', 'graph_query', 'schema_get', 'branch_list', 'graph_load', 'graph_mutate', ...(meta ? ['stored_query_list', 'stored_query_run'] : ['find_symbols', 'add_note'])]) {
    assert.ok(names.includes(want), `${want} is not among ${names}`);
  }
  assert.equal(names.includes('find_symbols'), !meta);
  for (const t of tools) {
    assert.ok(t.title, `${t.name} has no title`);
    assert.ok(t.description, `${t.name} has no description`);
    assert.equal(t.inputSchema.type, 'object');
    assert.equal(t.annotations.openWorldHint, false, t.name);
  }
});

// Where the tools have an outputSchema, the client validates structuredContent against it.
await check('a stored query answers rows', async () => {
  const res = await stored('find_symbols', { params: { words: 'graph' } });
  assert.ok(!res.isError, JSON.stringify(res.content));
  assert.ok(res.structuredContent.row_count > 0);
  assert.deepEqual(JSON.parse(res.content[0].text), res.structuredContent);
  assert.ok(res._meta['omnigraph/schemaVersion'].startsWith('sha256:'));
});

await check('an ad-hoc query answers rows', async () => {
  const query = 'query q() { match { $p: Package } return { count($p) as n } }';
  const res = await client.callTool({ name: 'graph_query', arguments: { query } });
  assert.ok(!res.isError, JSON.stringify(res.content));
  assert.ok(res.structuredContent.rows[0][0] > 0);
});

// The arguments that a parameter's name stands for, of a symbol that exists, so that
// rows come back where there are any.
const [found] = named(await stored('find_symbols', { params: { words: 'graph' } }));
const values = { path: found.path, symbol: found.path, words: 'graph', name: found.name, file: found.file };
const query = 'query q() { match { $s: Symbol } return { $s, $s.line as line } limit 3 }';
const { graph_commit_id: commit } = (await client.callTool({ name: 'commit_list', arguments: { limit: 1 } })).structuredContent.commits[0];
const given = {
  graph_query: { query }, query_validate: { query }, query_explain: { query, analyze: true },
  gq_reference: { topic: 'search' }, type_describe: { name: 'Symbol' }, type_path: { from: 'Module', to: 'Symbol' },
  commit_get: { commit }, change_list: { commit, limit: 3 },
};
if (meta) {
  given.stored_query_list = { filter: 'symbol', kind: 'read' };
}

for (const tool of tools.filter((t) => t.annotations.readOnlyHint)) {
  await check(`${tool.name} answers what its schema promises`, async () => {
    const isFlat = flat && tool.inputSchema.properties._ !== undefined;
    const wanted = (isFlat ? tool.inputSchema.required : tool.inputSchema.properties.params?.required) ?? [];
    const params = Object.fromEntries(wanted.map((name) => [name, values[name] ?? 'none']));
    const args = given[tool.name] ?? (wanted.length > 0 ? (isFlat ? params : { params }) : {});
    assert.equal(tool.outputSchema !== undefined, outputSchemas, 'whether it has an outputSchema');
    const res = await client.callTool({ name: tool.name, arguments: args });
    assert.ok(!res.isError, JSON.stringify(res.content));
    assert.deepEqual(JSON.parse(res.content[0].text), res.structuredContent);
  });
}

await check('a batch answers each query in its place', async () => {
  const query = 'query q() { match { $s: Symbol } return { count($s) as n } limit 1 }';
  const res = await client.callTool({ name: 'graph_query', arguments: { queries: [{ query }, { query: 'nonsense' }, { query }] } });
  assert.ok(!res.isError, JSON.stringify(res.content));
  const { results } = res.structuredContent;
  assert.deepEqual([results[0].row_count, results[1].code, results[2].row_count], [1, 'bad_request', 1]);
});

await check('a large result is cut, and says so', async () => {
  const query = 'query q() { match { $a: Symbol $b: Package } return { $a.path, $b.path } limit 20000 }';
  const res = await client.callTool({ name: 'graph_query', arguments: { query } });
  assert.ok(!res.isError, JSON.stringify(res.content));
  assert.equal(res.structuredContent.truncated, true);
  assert.equal(res.structuredContent.row_count, res.structuredContent.rows.length);
  assert.ok(['rows', 'bytes'].includes(res.structuredContent.truncated_by));
});

await check('the pages of a result are the whole', async () => {
  const query = 'query q() { match { $a: Symbol } return { $a.path as path } order { $a.path desc } limit 12000 }';
  const whole = (await client.callTool({ name: 'graph_query', arguments: { query: query.replace('$a.path as path', 'count($a) as n').replace('order { $a.path desc } ', '') } })).structuredContent.rows[0][0];
  const paths = [];
  let pages = 0;
  for (let args = { query }; args; pages++) {
    const res = await client.callTool({ name: 'graph_query', arguments: args });
    assert.ok(!res.isError, JSON.stringify(res.content));
    paths.push(...named(res).map((r) => r.path));
    const next = res.structuredContent.next_page_token; // absent after the last page, also of a read that its limit cut
    args = next ? { query, page_token: next } : undefined;
  }
  assert.equal(paths.length, Math.min(whole, 12000));
  assert.equal(new Set(paths).size, paths.length);
  console.log(`     ${paths.length} rows in ${pages} pages`);
});

await check('a knob that does not apply says why', async () => {
  const res = await stored('find_symbols', { params: { words: 'graph' }, dry_run: true });
  assert.equal(res.isError, true);
  assert.match(JSON.parse(res.content[0].text).error, /dry_run: does not apply to a read/);
});

if (meta) {
  await check('stored queries are found by words, and run by name', async () => {
    const res = await client.callTool({ name: 'stored_query_list', arguments: { filter: 'unused' } });
    const [first] = res.structuredContent.queries;
    assert.equal(first.name, 'unused_functions');
    assert.equal(first.params.type, 'object');
    const wrong = await stored('unused_function', {});
    assert.equal(wrong.isError, true);
    assert.match(wrong.content[0].text, /did you mean unused_functions\?/);
    await assert.rejects(client.callTool({ name: 'unused_functions', arguments: {} }), /unknown tool: unused_functions/);
  });
}

await check('a load of nothing changes nothing', async () => {
  const res = await client.callTool({ name: 'graph_load', arguments: { data: '', mode: 'merge' } });
  assert.ok(!res.isError, JSON.stringify(res.content));
  assert.equal(res.structuredContent.graph_commit_id, null);
});

await check('a text of another language is answered with the form', async () => {
  const res = await client.callTool({ name: 'graph_query', arguments: { query: 'MATCH (p:Package) RETURN p' } });
  assert.equal(res.isError, true);
  assert.match(JSON.parse(res.content[0].text).error, /write it, for example, like this: query /);
});

await check('a mutation and its removal', async () => {
  const symbol = named(await stored('find_symbols', { params: { words: 'graph' } }))[0].path;
  const params = { slug: `client-test-${process.pid}`, symbol, text: 'written by the client test' };
  const added = await stored('add_note', { params });
  assert.ok(!added.isError, JSON.stringify(added.content));
  assert.equal(added.structuredContent.affected_nodes, 1);
  const notes = await stored('notes_about', { params: { symbol } });
  assert.ok(named(notes).some((r) => r.slug === params.slug));
  const removed = await stored('remove_note', { params: { slug: params.slug } });
  assert.equal(removed.structuredContent.affected_nodes, 1);
  assert.equal(removed.structuredContent.affected_edges, 1);
});

await check('a wrong argument is an error that names it', async () => {
  const res = await stored('find_symbols', { params: { word: 'graph' } });
  assert.equal(res.isError, true);
  assert.match(res.content[0].text, /words/);
});

await check('a query with a fault is answered with its place and code', async () => {
  const res = await client.callTool({ name: 'graph_query', arguments: { query: 'query q() { match { $p: Pakage } return { $p } }' } });
  assert.equal(res.isError, true);
  const body = JSON.parse(res.content[0].text);
  assert.match(body.error, /query:1:\d+: error T1/);
  assert.equal(body.diagnostics, undefined);
  assert.match(res.content[0].text, /Package/);
});

await check('arguments as the text of an object are accepted', async () => {
  const text = await stored('find_symbols', { params: '{"words":"graph"}' });
  const object = await stored('find_symbols', { params: { words: 'graph' } });
  assert.ok(!text.isError, text.content[0].text);
  assert.deepEqual(text.structuredContent.rows, object.structuredContent.rows);
});

await check('an unknown tool is refused', async () => {
  await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), /unknown tool: no_such_tool/);
});

await check('resources are listed and read', async () => {
  const { resources } = await client.listResources();
  assert.ok(resources.some((r) => r.uri === 'omnigraph://schema'));
  const { contents } = await client.readResource({ uri: 'omnigraph://schema' });
  assert.match(contents[0].text, /node Package/);
  await assert.rejects(client.readResource({ uri: 'omnigraph://nosuch' }), /not found/i);
});

await check('prompts are listed and got', async () => {
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((p) => p.name).sort(), ['write_filter', 'write_query']);
  const { messages } = await client.getPrompt({ name: 'write_query', arguments: { intent: 'who calls whom', types: 'Symbol' } });
  assert.match(messages[0].content.text, /\$symbol calls \$symbol2/);
  await assert.rejects(client.getPrompt({ name: 'write_filter', arguments: { type: 'Symbl' } }), /did you mean Symbol/);
});

await check('every example of the reference runs', async () => {
  const { topics } = (await client.callTool({ name: 'gq_reference', arguments: {} })).structuredContent;
  for (const { topic } of topics) {
    const { examples = [] } = (await client.callTool({ name: 'gq_reference', arguments: { topic } })).structuredContent;
    for (const e of examples.filter((e) => !e.schema)) {
      const { valid, report } = (await client.callTool({ name: 'query_validate', arguments: { query: e.query } })).structuredContent;
      assert.ok(valid, `${topic}: ${report}`);
    }
  }
});

await check('a branch is made, changed, merged and deleted', async () => {
  const name = `client-test-${process.pid}`;
  const made = await client.callTool({ name: 'branch_create', arguments: { name } }).catch((err) => err);
  if (/unknown tool/.test(made.message ?? '')) return; // the policy of this server gives none
  const merged = await client.callTool({ name: 'branch_merge', arguments: { source: name } });
  assert.equal(merged.structuredContent.outcome, 'already_up_to_date');
  const gone = await client.callTool({ name: 'branch_delete', arguments: { name } });
  assert.equal(gone.structuredContent.name, name);
});

if (!stdio) {
  await check('a missing or wrong token is refused', async () => {
    await assert.rejects(connect(undefined));
    await assert.rejects(connect('not-the-token'));
  });
}

await client.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
