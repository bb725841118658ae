// Drives every feature of `gq lsp`: node features.mjs GQ CODE SEVERAL BROKEN OUTSIDE LARGE...
//
// CODE is a copy of the project of this repository's own graph, as a git repository with the branch
// main. SEVERAL is a project with several graphs, BROKEN a project with a faulty cluster.yaml, OUTSIDE a
// folder of sources without a cluster.yaml. Each LARGE is a project of 100 types and 1,000 queries, also as
// a git repository; the number of files differs.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Editor } from "./client.mjs";

const [gq, code, several, broken, outside, ...large] = process.argv.slice(2);
const calls = "queries/code/calls.gq";
const schema = "queries/code/schema.pg";
const labels = (list) => list.items.map((i) => i.label);

test("the code graph", async (t) => {
  const e = await Editor.start(gq, code);
  const doc = await e.open(calls);
  const pg = await e.open(schema);
  await e.settled();

  await t.test("no diagnostics in valid sources", () => {
    assert.deepEqual(e.published.get(doc.uri).diagnostics, []);
    assert.deepEqual(e.published.get(pg.uri).diagnostics, []);
  });

  await t.test("hover", async () => {
    const over = async (d, position) => (await d.request("hover", { position })).contents.value;
    assert.match(await over(doc, doc.at("$callee: Symbol", 1)), /\$callee: Symbol/);
    assert.match(await over(doc, doc.at(": Symbol", 3)), /node Symbol[\s\S]*A package-level declaration/);
    assert.match(await over(doc, doc.at("$c:calls", 4)), /edge Calls: Symbol -> Symbol/);
    assert.match(await over(doc, doc.at("$c.count", 4)), /Calls\.count: I32[\s\S]*How many times/);
    assert.match(await over(doc, doc.at("query callers", 8)), /query callers\(\$path: String\)[\s\S]*List the callers/);
    assert.match(await over(doc, doc.at("{ path: $path }", 10)), /\$path: String[\s\S]*ath of the function/);
    assert.match(await over(pg, pg.at("Package -> Symbol", 2)), /node Package/);
    assert.equal(await doc.request("hover", { position: doc.at("match") }), null);
  });

  await t.test("definition and references", async () => {
    const [type] = await doc.request("definition", { position: doc.at(": Symbol", 3) });
    assert.equal(type.uri, pg.uri);
    assert.equal(pg.slice(type.range), "Symbol");
    assert.match(pg.text.split("\n")[type.range.start.line], /^node Symbol/);
    const [edge] = await doc.request("definition", { position: doc.at("$c:calls", 4) });
    assert.match(pg.text.split("\n")[edge.range.start.line], /^edge Calls/);
    const [property] = await doc.request("definition", { position: doc.at("$c.count", 4) });
    assert.match(pg.text.split("\n")[property.range.start.line], /^ {2}count: I32/);
    const [variable] = await doc.request("definition", { position: doc.at("$callee", 2, 2) });
    assert.deepEqual(variable.range.start, doc.at("$callee: Symbol"));
    const [param] = await doc.request("definition", { position: doc.at("{ path: $path }", 9) });
    assert.deepEqual(param.range.start, doc.at("$path: String"));

    const uses = await pg.request("references", { position: pg.at("edge Calls", 6), context: { includeDeclaration: true } });
    const inCalls = uses.filter((l) => l.uri === doc.uri);
    assert.equal(inCalls.length, (doc.text.match(/(?:\$\w+ |:)calls(?:\{[^}]*\})? \$/g) ?? []).length, "uses of calls");
    assert.ok(uses.some((l) => l.uri === pg.uri), "the declaration");
    const without = await pg.request("references", { position: pg.at("edge Calls", 6), context: { includeDeclaration: false } });
    assert.equal(without.length, uses.length - 1);
    assert.deepEqual(await doc.request("definition", { position: doc.at("match") }), []);
  });

  await t.test("rename", async () => {
    const rename = (d, position, newName) => d.request("rename", { position, newName });
    const edge = await rename(pg, pg.at("edge Calls", 6), "Invokes");
    assert.match(pg.applied(edge.changes[pg.uri]), /\nedge Invokes: Symbol -> Symbol/);
    const after = doc.applied(edge.changes[doc.uri]);
    assert.match(after, /\$caller \$c:invokes \$callee/);
    assert.doesNotMatch(after, /\$c:calls/);

    const property = await rename(doc, doc.at("$c.count", 4), "times");
    assert.match(pg.applied(property.changes[pg.uri]), /\n {2}times: I32 @description\("How many times/);
    assert.match(doc.applied(property.changes[doc.uri]), /\$c\.times as references/);

    const parameter = await rename(doc, doc.at("$path: String"), "$of");
    const renamed = doc.applied(parameter.changes[doc.uri]);
    assert.match(renamed, /query callers\(\n {2}\$of: String/);
    assert.match(renamed, /query callees\(\n {2}\$path: String/);
    assert.equal(parameter.changes[doc.uri].length, 2);

    const variable = await rename(doc, doc.at("$caller $c", 1), "by");
    assert.match(doc.applied(variable.changes[doc.uri]), /return \{ \$by\.path as caller/);
    const query = await rename(doc, doc.at("query callers", 7), "who_calls");
    assert.match(doc.applied(query.changes[doc.uri]), /query who_calls\(/);

    const type = await rename(pg, pg.at("node Symbol", 6), "Declaration");
    assert.match(pg.applied(type.changes[pg.uri]), /edge Calls: Declaration -> Declaration/);
    assert.ok(Object.keys(type.changes).length >= 4, "files with Symbol");

    await assert.rejects(rename(pg, pg.at("node Symbol", 6), "Package"), /already has the node Package/);
    await assert.rejects(rename(doc, doc.at("$caller $c", 1), "callee"), /already uses the name \$callee/);
    await assert.rejects(rename(doc, doc.at("query callers", 7), "callees"), /already has a query callees/);
    await assert.rejects(rename(doc, doc.at("query callers", 7), "Who Calls"), /is not a name/);
    await assert.rejects(doc.request("prepareRename", { position: doc.at("match") }), /part of the language/);
    const prepared = await doc.request("prepareRename", { position: doc.at("$caller $c", 1) });
    assert.equal(prepared.placeholder, "$caller");
  });

  await t.test("symbols", async () => {
    const symbols = await doc.request("documentSymbol");
    assert.equal(symbols.length, (doc.text.match(/^query /gm) ?? []).length);
    assert.equal(symbols[0].name, "callers");
    assert.deepEqual(symbols[0].children.map((c) => c.name), ["$path"]);
    const types = await pg.request("documentSymbol");
    assert.deepEqual(types.map((s) => s.name).slice(0, 4), ["Module", "Package", "File", "Symbol"]);
    assert.ok(types[3].children.some((c) => c.name === "signature"));
    const found = await e.connection.sendRequest("workspace/symbol", { query: "cllrs" });
    assert.deepEqual(found.map((s) => s.name), ["callers"]);
    assert.equal((await e.connection.sendRequest("workspace/symbol", { query: "Package" }))[0].name, "Package");
  });

  await t.test("completion", async () => {
    const start = doc.text.length;
    const body = "\nquery mine($n: I32, $s: Symbol) {\n  match {\n    $p: Package { path: \"x\" }\n    $p holds $x\n    CURSOR\n  }\n  return { $p.path as path }\n  limit 5\n}\n";
    const complete = async (insert) => {
      const text = body.replace("CURSOR", insert);
      await doc.change(start, doc.text.length, text);
      const position = doc.position(doc.text.indexOf(`${insert}\n`, start) + insert.length);
      return labels(await doc.request("completion", { position }));
    };
    assert.deepEqual((await complete("$x.")).filter((l) => ["signature", "kind", "id", "dependencies"].includes(l)).sort(), ["id", "kind", "signature"]);
    assert.ok((await complete("$y: ")).includes("Symbol"));
    const edges = await complete("$x c");
    assert.ok(edges.includes("calls") && edges.includes("contains"), edges.join());
    const vars = await complete("$x calls $");
    assert.ok(vars.includes("$p") && vars.includes("$x") && vars.includes("$n"), vars.join());
    assert.ok((await complete("$y: Symbol { ")).includes("exported"));
    assert.ok((await complete("no")).includes("not"));
    const expression = await complete("$n > cou");
    assert.ok(expression.includes("count") && expression.includes("lower"), expression.join());
    assert.deepEqual(await complete('$x.name = "a'), []);
    await doc.change(start, doc.text.length, "\nquery other($a: ");
    const types = labels(await doc.request("completion", { position: doc.position(doc.text.length) }));
    assert.ok(types.includes("String") && types.includes("Symbol"), types.join());
    await doc.change(start, doc.text.length, "\nquery other() @");
    assert.deepEqual(labels(await doc.request("completion", { position: doc.position(doc.text.length) })).sort(), ["description", "instruction", "mcp", "must_be_empty", "question"]);
    await doc.change(start, doc.text.length, "\nqu");
    assert.deepEqual(labels(await doc.request("completion", { position: doc.position(doc.text.length) })), ["query"]);
    await doc.change(start, doc.text.length, "");
    const end = pg.text.length;
    await pg.change(end, end, "\nnode New {\n  name: ");
    assert.ok(labels(await pg.request("completion", { position: pg.position(pg.text.length) })).includes("DateTime"));
    await pg.change(end, pg.text.length, "\nedge Made: ");
    assert.ok(labels(await pg.request("completion", { position: pg.position(pg.text.length) })).includes("Module"));
    await pg.change(end, pg.text.length, "");
  });

  await t.test("diagnostics while typing, in UTF-16", async () => {
    const text = '\nquery smile() @description("😀") { match { $p: Package { path: "😀𝄞" } $p.nam = "x" } return { $p.path as path } limit 1 }\n';
    const from = doc.text.length;
    const found = e.diagnostics(calls, (list) => list.some((d) => /has no property nam\b|nam/.test(d.message) && d.severity === 1));
    await doc.change(from, from, text);
    const fault = (await found).find((d) => d.severity === 1);
    assert.match(fault.message, /nam[\s\S]*name/);
    assert.equal(doc.slice(fault.range), "nam");
    const gone = e.diagnostics(calls, (list, p) => p.version === doc.version && list.length === 0);
    await doc.change(from, doc.text.length, "");
    await gone;
  });

  await t.test("code actions are the fixes of gq lint", async () => {
    const from = doc.text.length;
    const text = '\nquery twice() @description("Return the packages without a name, by their paths.") @mcp(expose = true) {\n  match { $p: Package $p.doc is not null }\n  return { $p.path as path }\n  order { path }\n  limit 10\n}\n';
    const found = e.diagnostics(calls, (list, p) => p.version === doc.version && list.length > 0);
    await doc.change(from, from, text);
    const list = await found;
    const fault = list.find((d) => /colon/.test(d.message));
    const actions = await doc.request("codeAction", { range: fault.range, context: { diagnostics: list } });
    const fix = actions.find((a) => a.kind === "quickfix");
    assert.ok(fix, `a fix of ${JSON.stringify(list)}`);
    assert.match(doc.applied(fix.edit.changes[doc.uri]), /@mcp\(expose: true\)/);
    assert.ok(actions.some((a) => a.kind === "source.fixAll.gq"));
    await doc.change(from, doc.text.length, "");
  });

  await t.test("formatting", async () => {
    const from = doc.text.length;
    await doc.change(from, from, "\nquery   ugly( ) {match{$p:Package} return{$p.path} limit 3}\n");
    const edits = await doc.request("formatting", { options: { tabSize: 2, insertSpaces: true } });
    assert.match(doc.applied(edits), /\nquery ugly\(\) \{\n {2}match|\nquery ugly\(\) \{ match \{ \$p: Package \} return/);
    assert.ok(edits.every((x) => doc.index(x.range.start) >= from - 1), "only the new query changes");
    await doc.change(from, doc.text.length, "");
    assert.deepEqual(await doc.request("formatting", { options: { tabSize: 2, insertSpaces: true } }), []);
  });

  await t.test("semantic tokens", async () => {
    const { data } = await doc.request("semanticTokens/full");
    const legend = e.initialized.capabilities.semanticTokensProvider.legend.tokenTypes;
    let [line, character] = [0, 0];
    const kinds = new Map();
    for (let i = 0; i < data.length; i += 5) {
      character = data[i] ? data[i + 1] : character + data[i + 1];
      line += data[i];
      const text = doc.slice({ start: { line, character }, end: { line, character: character + data[i + 2] } });
      if (!kinds.has(text)) kinds.set(text, legend[data[i + 3]]);
    }
    for (const [text, kind] of [["query", "keyword"], ["callers", "method"], ["$path", "parameter"], ["$callee", "variable"], ["Symbol", "class"], ["calls", "struct"], ["path", "property"], ["String", "type"], ["500", "number"], ["// Who refers to what.", "comment"]]) {
      assert.equal(kinds.get(text), kind, text);
    }
  });

  await t.test("inlay hints", async () => {
    const range = { start: { line: 0, character: 0 }, end: doc.position(doc.text.length) };
    const hints = await doc.request("inlayHint", { range });
    const at = (position) => hints.find((h) => h.position.line === position.line && h.position.character === position.character)?.label;
    assert.equal(at(doc.at("$caller $c", "$caller".length)), ": Symbol");
    assert.equal(at(doc.at("$c:calls", 2)), ": Calls");
    assert.equal(at(doc.at("$f declares", 2)), ": File");
    assert.equal(at(doc.at("as references", "as references".length)), ": I32");
    assert.equal(at(doc.at("$callee: Symbol", 7)), undefined);
  });

  await t.test("lenses", async () => {
    const titles = async () => {
      const lenses = await doc.request("codeLens");
      return lenses.filter((l) => doc.slice(l.range) === "callers").map((l) => l.command.title);
    };
    const before = await titles();
    assert.match(before[0], /^tool callers: about \d+ tokens in tools\/list$/);
    assert.equal(before[1], "group readers, act-dev may call it");
    assert.equal(before[2], "unchanged since main");
    const settled = e.settled();
    await doc.replace("$caller.path as caller", "$caller.path as by");
    await settled;
    assert.match((await titles())[2], /^breaking against main: .*caller/);
    const again = e.settled();
    await doc.replace("$caller.path as by", "$caller.path as caller");
    await again;
  });

  await t.test("a saved policy changes the lenses", async () => {
    const path = join(code, "queries/code/policy.yaml");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace("{ group: readers }, actions: [read, invoke_query]", "any, actions: [read, invoke_query]"));
    const settled = e.settled();
    await e.connection.sendNotification("workspace/didChangeWatchedFiles", { changes: [{ uri: e.uri("queries/code/policy.yaml"), type: 2 }] });
    await settled;
    const lenses = await doc.request("codeLens");
    assert.ok(lenses.some((l) => l.command.title === "every actor may call it"), JSON.stringify(lenses));
    writeFileSync(path, text);
  });

  await t.test("errors of the client", async () => {
    await assert.rejects(e.connection.sendRequest("textDocument/nonsense", {}), (err) => err.code === -32601);
    await assert.rejects(e.connection.sendRequest("textDocument/hover", { position: 3 }), (err) => err.code === -32602);
    await e.connection.sendNotification("textDocument/didChange", {
      textDocument: { uri: e.uri("nothing.gq"), version: 2 }, contentChanges: [{ text: "x" }],
    });
    assert.ok(await doc.request("documentSymbol"));
    assert.ok(e.logs.some((m) => /nothing\.gq is not open/.test(m)), e.logs.join());
  });

  assert.equal(await e.stop(), 0);
});

test("a project with several graphs", async () => {
  const e = await Editor.start(gq, several);
  const one = await e.open("one/q.gq");
  const two = await e.open("two/q.gq");
  const shared = await e.open("shared.gq");
  await e.settled();
  const [first] = await one.request("definition", { position: one.at(": Thing", 3) });
  const [second] = await two.request("definition", { position: two.at(": Thing", 3) });
  assert.equal(first.uri, e.uri("one/schema.pg"));
  assert.equal(second.uri, e.uri("two/schema.pg"));
  // A source of two graphs is checked against both schemas.
  const messages = e.published.get(shared.uri).diagnostics.map((d) => d.message).join("\n");
  assert.match(messages, /only_two/);
  assert.match(messages, /only_one/);
  const rename = await one.request("rename", { position: one.at(": Thing", 3), newName: "Item" });
  assert.ok(!Object.keys(rename.changes).includes(two.uri), "the other graph stays");
  const query = await two.request("rename", { position: two.at("query listed", 8), newName: "renamed" });
  assert.ok(Object.keys(query.changes).includes(e.uri("cluster.yaml")), "cluster.yaml lists the query");
  // A finding across files is there, and stays while an author types.
  assert.equal(await e.stop(), 0);
});

test("a project with a broken cluster.yaml", async () => {
  const e = await Editor.start(gq, broken);
  const doc = await e.open("q.gq");
  await e.settled();
  const cluster = e.published.get(e.uri("cluster.yaml"));
  assert.ok(cluster.diagnostics.length > 0);
  assert.equal(cluster.diagnostics[0].severity, 1);
  // The schema of the folder serves until cluster.yaml is correct.
  assert.ok(labels(await doc.request("completion", { position: doc.at("$t.", 3) })).includes("name"));
  const yaml = await e.open("cluster.yaml");
  const gone = e.diagnostics("cluster.yaml", (list) => list.length === 0);
  await yaml.replace("scheme:", "schema:");
  await gone;
  await e.settled();
  assert.ok((await doc.request("definition", { position: doc.at(": Thing", 3) })).length === 1);
  // A new fault in cluster.yaml keeps the graphs.
  const back = e.diagnostics("cluster.yaml", (list) => list.length > 0);
  await yaml.replace("schema:", "scheme:");
  await back;
  assert.ok((await doc.request("definition", { position: doc.at(": Thing", 3) })).length === 1);
  assert.equal(await e.stop(), 0);
});

test("sources outside of any graph", async () => {
  const e = await Editor.start(gq, outside);
  const alone = await e.open("alone/q.gq");
  const pair = await e.open("pair/q.gq");
  const fresh = await e.open("fresh.gq", "query a() { match { $p Person } return { $p } }");
  await e.settled();
  assert.deepEqual(e.published.get(alone.uri).diagnostics, []);
  assert.equal(e.published.get(fresh.uri).diagnostics.length, 1, "errors of the grammar");
  assert.match(e.published.get(pair.uri).diagnostics[0].message, /nme[\s\S]*name/);
  assert.equal((await pair.request("definition", { position: pair.at(": Thing", 3) }))[0].uri, e.uri("pair/schema.pg"));
  assert.deepEqual(await fresh.request("codeLens"), []);
  await e.connection.sendNotification("textDocument/didOpen", {
    textDocument: { uri: "untitled:x.gq", languageId: "gq", version: 1, text: "query" },
  });
  assert.deepEqual((await e.connection.sendRequest("textDocument/completion", { textDocument: { uri: "untitled:x.gq" }, position: { line: 0, character: 0 } })).items, []);
  assert.equal(await e.stop(), 0);
});

for (const dir of large) {
  const files = readdirSync(join(dir, "queries")).filter((f) => f.endsWith(".gq"));
  // Query 707 reads the types 7 and 8, as every hundredth query does.
  const file = "queries/" + files.find((f) => readFileSync(join(dir, "queries", f), "utf8").includes("query query_707("));
  test(`a project of 1,000 queries in ${files.length === 1 ? "one file" : `${files.length} files`}`, async (t) => {
    const e = await Editor.start(gq, dir);
    const doc = await e.open(file);
    const pg = await e.open("schema.pg");
    await e.settled(120000);
    // here returns a position within query 707.
    const here = (text, plus = 0) => {
      const start = doc.text.indexOf("query query_707(");
      return doc.position(doc.text.indexOf(text, start) + plus);
    };
    const inFile = (edits) => doc.applied(edits.changes[doc.uri]);

    // Each query binds $z and does not use it.
    const queries = doc.text.match(/^query /gm).length;
    const usual = (list) => list.length === queries && list.every((d) => d.code === "L102");
    await t.test("one warning for each query", () => {
      assert.ok(usual(e.published.get(doc.uri).diagnostics));
      assert.deepEqual(e.published.get(pg.uri).diagnostics, []);
    });

    await t.test("hover", async () => {
      const over = async (position) => (await doc.request("hover", { position })).contents.value;
      assert.match(await over(here(": Type7", 3)), /node Type7[\s\S]*Type number 7/);
      assert.match(await over(here("edge7 $q", 2)), /edge Edge7: Type7 -> Type8[\s\S]*From one to the next/);
      assert.match(await over(here("$q.age", 4)), /Type8\.age: I32/);
      assert.match(await over(here("$q.age", 1)), /\$q: Type8/);
      assert.match(await over(here("query_707", 3)), /query query_707\(\$name: String[\s\S]*number 707/);
    });

    await t.test("definition and references", async () => {
      const [type] = await doc.request("definition", { position: here(": Type7", 3) });
      assert.equal(type.uri, pg.uri);
      assert.match(pg.text.split("\n")[type.range.start.line], /^node Type7 /);
      const [variable] = await doc.request("definition", { position: here("$p $e", 1) });
      assert.deepEqual(variable.range.start, here("$p: Type7"));
      // Ten queries of a hundred bind Type7; two edges end at it.
      const uses = await doc.request("references", { position: here(": Type7", 3), context: { includeDeclaration: true } });
      assert.equal(uses.length, 10 + 1 + 2);
      // Each edge is in two of a hundred queries: as the edge of one, and in the `not` of the one before.
      const edges = await doc.request("references", { position: here("edge7 $q", 2), context: { includeDeclaration: false } });
      assert.equal(edges.length, 20);
      const variables = await doc.request("references", { position: here("$q.age", 1), context: { includeDeclaration: true } });
      assert.equal(variables.length, 5);
      assert.ok(variables.every((v) => v.uri === doc.uri));
    });

    await t.test("rename", async () => {
      const rename = (position, newName) => doc.request("rename", { position, newName });
      const type = await rename(here(": Type7", 3), "Renamed");
      assert.match(inFile(type), /query query_707\([\s\S]*?\$p: Renamed \{/);
      assert.match(pg.applied(type.changes[pg.uri]), /\nnode Renamed [\s\S]*\nedge Edge7: Renamed -> Type8/);
      assert.equal(Object.values(type.changes).flat().length, 13);
      const variable = await rename(here("$q.age", 1), "other");
      assert.equal(variable.changes[doc.uri].length, 5);
      assert.match(inFile(variable), /\$p \$e:edge7 \$other\n {4}\$other\.age >= \$least\?/);
      const parameter = await rename(here("$least", 1), "youngest");
      assert.equal(parameter.changes[doc.uri].length, 2);
      assert.match(inFile(await rename(here("query_707", 1), "query_of_seven")), /\nquery query_of_seven\(/);
      await assert.rejects(rename(here("query_707", 1), "query_706"), /already has a query query_706/);
    });

    await t.test("symbols", async () => {
      const symbols = await doc.request("documentSymbol");
      assert.equal(symbols.length, (doc.text.match(/^query /gm) ?? []).length);
      const one = symbols.find((s) => s.name === "query_707");
      assert.deepEqual(one.children.map((c) => c.name), ["$name", "$least"]);
      assert.deepEqual(one.selectionRange.start, here("query_707"));
      assert.equal((await pg.request("documentSymbol")).length, 200);
      const found = await e.connection.sendRequest("workspace/symbol", { query: "query_707" });
      assert.deepEqual(found.map((s) => s.name), ["query_707"]);
    });

    await t.test("semantic tokens", async () => {
      const { data } = await doc.request("semanticTokens/full");
      const legend = e.initialized.capabilities.semanticTokensProvider.legend.tokenTypes;
      const want = here("query_707");
      let [line, character, kind] = [0, 0, ""];
      for (let i = 0; i < data.length && !kind; i += 5) {
        character = data[i] ? data[i + 1] : character + data[i + 1];
        line += data[i];
        if (line === want.line && character === want.character) kind = legend[data[i + 3]];
      }
      assert.equal(kind, "method");
      assert.ok(data.length / 5 > 40 * (doc.text.match(/^query /gm) ?? []).length, `${data.length / 5} tokens`);
    });

    await t.test("inlay hints", async () => {
      const range = { start: here("query_707"), end: here("limit 20") };
      const hints = await doc.request("inlayHint", { range });
      const at = (position) => hints.find((h) => h.position.line === position.line && h.position.character === position.character)?.label;
      assert.equal(at(here("$e:edge7", 2)), ": Edge7");
      assert.equal(at(here("$q\n", 2)), ": Type8");
      assert.equal(at(here("as since", "as since".length)), ": Date?");
      assert.ok(hints.length < 10, `${hints.length} hints in one query`);
    });

    await t.test("lenses", async () => {
      const titles = async () => {
        const lenses = await doc.request("codeLens");
        return lenses.filter((l) => doc.slice(l.range) === "query_707").map((l) => l.command.title);
      };
      assert.deepEqual(await titles(), [
        "tool query_707: stored_query_run runs it, because the graph has many queries", "act-ada may call it", "unchanged since main",
      ]);
      const from = doc.index(here("$q.name as name"));
      const settled = e.settled(120000);
      await doc.change(from, from + "$q.name as name".length, "$q.name as label");
      await doc.change(doc.index(here("n desc, name")), doc.index(here("n desc, name")) + "n desc, name".length, "n desc, label");
      await settled;
      assert.match((await titles())[2], /^breaking against main: .*name/);
    });

    await t.test("completion and diagnostics after edits", async () => {
      const from = doc.index(here("    $q.age >="));
      const found = e.diagnostics(file, (list) => list.some((d) => /agee/.test(d.message)), 60000);
      await doc.change(from, from, "    $q.agee > 3\n");
      assert.match((await found).find((d) => /agee/.test(d.message)).message, /agee[\s\S]*age/);
      await doc.change(from, from + "    $q.agee > 3\n".length, "    $q.\n");
      const list = labels(await doc.request("completion", { position: here("$q.\n", 3) }));
      assert.ok(["name", "age", "born", "kind"].every((l) => list.includes(l)), list.join());
      const gone = e.diagnostics(file, (list, p) => p.version === doc.version && usual(list), 60000);
      await doc.change(from, from + "    $q.\n".length, "");
      await gone;
      // The places behind the edits have moved with them.
      const [edge] = await doc.request("definition", { position: here("edge7 $q", 2) });
      assert.match(pg.text.split("\n")[edge.range.start.line], /^edge Edge7/);
    });

    await t.test("formatting", async () => {
      const options = { tabSize: 2, insertSpaces: true };
      const before = doc.applied(await doc.request("formatting", { options }));
      const from = doc.index(here("limit 20"));
      await doc.change(from, from + "limit 20".length, "limit    20");
      assert.equal(doc.applied(await doc.request("formatting", { options })), before);
      await doc.change(from, from + "limit    20".length, "limit 20");
    });

    assert.equal(await e.stop(), 0);
  });
}
