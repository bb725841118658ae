// Calls everything in @omnigraph/client and in the generated module against a server that is killed again and again.
import assert from "node:assert/strict";
import { BusyError, Client, ConflictError, DateTime, ForbiddenError, Graph, InvalidError, NoProgressError, NotFoundError, NotModifiedError, PreconditionError, ServerError, UnauthorizedError, UnavailableError } from "@omnigraph/client";
import { Shop, type ByMakerRow, type ThingState } from "./shop.js";

const env = (name: string): string => process.env[name] ?? assert.fail(`${name} is not set`);
const kill = async (): Promise<void> => assert.ok((await fetch(`${env("CONTROL")}/kill`, { method: "POST" })).ok);

const called = new Set<string>();
/** Records the calls of an object's methods. */
function recorded<T extends object>(of: T): T {
  return new Proxy(of, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      called.add(`${target.constructor.name}.${String(name)}`);
      return value.bind(target) as unknown;
    },
  });
}

let retried = 0;
const options = { retries: { attempts: 30, within: 60_000 }, onRetry: () => retried++ };
const client = recorded(new Client(env("OMNIGRAPH_URL"), { ...options, token: async () => env("ADA_TOKEN") }));
const graph = recorded(client.graph("shop"));
const bo = recorded(new Client(env("OMNIGRAPH_URL"), { ...options, token: env("BO_TOKEN") }).graph("shop"));
const db = new Shop(graph);

/** Runs a call that may be repeated while the server is down. */
async function down<T>(call: () => PromiseLike<T>): Promise<T> {
  await kill();
  return await call();
}
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

// The server.
assert.equal((await down(() => client.health())).status, "ok");
assert.equal((await client.ready()).status, "ready");
assert.equal((await down(() => client.actor())).actor_id, "act-ada");
assert.deepEqual((await client.graphs()).graphs.map((g) => g.graph_id), ["shop", "team"]);
assert.match(await client.metrics(), /omnigraph_/);
assert.ok("/graphs/{id}/query" in ((await client.openapi())["paths"] as object));
assert.ok("/graphs/shop/queries/by_maker" in ((await graph.openapi())["paths"] as object));
await assert.rejects(client.resourceMetadata(), NotFoundError);
await assert.rejects(graph.resourceMetadata("mcp"), NotFoundError);
await assert.rejects(new Client(env("OMNIGRAPH_URL"), { token: "wrong" }).actor(), (e) => e instanceof UnauthorizedError && e.code === "unauthorized" && /valid token/.test(e.message));
await assert.rejects(new Client(env("OMNIGRAPH_URL")).graph("shop").schema(), UnauthorizedError);
assert.throws(() => new Client("ftp://x"), TypeError);

// Loads, and 64-bit integers at their bounds.
const extremes = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n];
const made = new DateTime("2026-03-01T12:30:00.123456Z");
const loaded = await down(() =>
  graph.load([
    { type: "Maker", data: { slug: "acme", name: "Acme", founded: "1950-01-02" } },
    ...extremes.map((stock, i) => ({ type: "Thing", data: { sku: `t-${i}`, state: "on-sale", stock, serial: 2n ** 64n - 1n, lots: extremes, made } })),
    ...extremes.map((_, i) => ({ edge: "Makes", from: "acme", to: `t-${i}` })),
  ]),
);
assert.equal(loaded.total_entities, 7);
const rows: ByMakerRow[] = await down(() => db.byMaker({ maker: "acme" }));
assert.deepEqual(rows.map((r) => r.stock), extremes);
assert.deepEqual(rows[0]?.lots, extremes);
assert.equal(rows[0]?.serial, 2n ** 64n - 1n);
assert.equal(rows[0]?.madeAt?.toISOString(), "2026-03-01T12:30:00.123456Z");
assert.ok(rows[0].madeAt instanceof Date && rows[0].founded === "1950-01-02" && rows[0].weight === null);
const state: ThingState = rows[0].state;
assert.equal(state, "on-sale");

// Stored queries.
const photo = new Uint8Array([0, 1, 255, 128]);
const key = crypto.randomUUID();
const thing = { sku: "lamp-1", stock: 2n ** 62n, maker: "acme", weight: 0.1, price: "12.50", madeAt: made, lots: [-1n], photo };
const dry = await db.addThing(thing, { dryRun: true });
assert.ok(dry.dry_run === true && dry.commit === null && dry.changes?.length === 2);
const added = await down(() => db.addThing(thing, { idempotencyKey: key }));
const again = await down(() => db.addThing(thing, { idempotencyKey: key }));
assert.equal(again.commit?.graph_commit_id, added.commit?.graph_commit_id);
await assert.rejects(db.addThing({ ...thing, sku: "lamp-2", weight: Number.NaN }), InvalidError);
await assert.rejects(db.addThing(thing), (e) => e instanceof ConflictError && e.envelope.key_conflict?.id === "lamp-1");
await assert.rejects(db.restock({ sku: "lamp-1", by: 1n }, { ifCommit: loaded.commit?.graph_commit_id }), (e) => e instanceof PreconditionError && e.envelope.precondition_failure?.actual === added.commit?.graph_commit_id);
const restocked = await db.restock({ sku: "lamp-1", by: 1n }, { ifCommit: added.commit?.graph_commit_id, message: "one more,\n100 % sûr" });
assert.equal((await graph.commit(restocked.commit?.graph_commit_id ?? "")).message, "one more,\n100 % sûr");
const lamp = (await db.byMaker({ maker: "acme" })).find((r) => r.sku === "lamp-1");
assert.ok(lamp?.stock === 2n ** 62n + 1n && lamp.weight === 0.1 && lamp.price === "12.50");
assert.deepEqual(lamp.lots, [-1n]);
const whole = await down(() => db.makerWithThings({ maker: "acme" }).one());
assert.ok(whole.maker.name === "Acme" && whole.things.length === 4 && whole.things[0]?.inStock === 2n ** 62n + 1n);
assert.equal(await db.makerWithThings({ maker: "nobody" }).first(), undefined);
assert.deepEqual((await db.findThings({ state: "on-sale", atLeast: 2n ** 63n - 1n })).map((r) => r.sku), ["t-1"]);
const received = await db.receive({ maker: "bolt", boxes: [{ sku: "b-1", stock: 1n, madeAt: made }, { sku: "b-2", stock: 2n }] });
assert.ok(received.row?.maker.slug === "bolt" && received.row.letters === 4 && received.affected_nodes === 3);
assert.deepEqual(await db.thingsWithoutMaker(), []);
assert.ok((await down(() => graph.queries())).queries.some((q) => q.name === "by_maker"));
assert.match((await down(() => graph.explain("by_maker"))).plan ?? "", /Maker/);
await assert.rejects(graph.read("no_such").all(), NotFoundError);
await assert.rejects(graph.write("by_maker", { maker: "acme" }), InvalidError);

/** What the types refuse. */
export function refused(): unknown[] {
  return [
    // @ts-expect-error: the parameter is maker
    db.byMaker({ make: "acme" }),
    // @ts-expect-error: no thing has this state
    db.findThings({ state: "sold" }),
    // @ts-expect-error: a number would lose digits
    db.restock({ sku: "t-1", by: 1 }),
    // @ts-expect-error: a read has no dry run
    db.byMaker({ maker: "acme" }, { dryRun: true }),
  ];
}

// Texts.
const text = "query q($s: String) { match { $t: Thing { sku: $s } } return { $t.sku as sku, $t.stock as stock } limit 1 }";
assert.deepEqual(await down(() => graph.query(text, { s: "t-1" })), [{ sku: "t-1", stock: "9223372036854775807" }]);
await assert.rejects(graph.query("query q() { match { $t: Thingy } return { $t } limit 1 }").all(), (e) => e instanceof InvalidError && (e.envelope.diagnostics?.length ?? 0) > 0);
assert.equal((await down(() => graph.mutate('query m() { update Thing set { title: "Lamp" } where sku = "lamp-1" }'))).affected_nodes, 1);

// Big pages, an upload in pieces, and streams.
const many = 30_000;
async function* lines(): AsyncGenerator<string> {
  for (let i = 0; i < many; i++) yield `{"type":"Thing","data":{"sku":"m-${i}","state":"draft","stock":${i},"title":"${"x".repeat(400)}"}}\n{"edge":"Makes","from":"bolt","to":"m-${i}"}\n`;
}
const sending = graph.load(lines(), { branch: "many", from: "main" });
await kill();
assert.equal((await sending).total_entities, 2 * many);
const onMany = { branch: "many" };
let count = 0;
for await (const row of db.byMaker({ maker: "bolt" }, onMany)) count += row.sku === "" ? 0 : 1;
assert.equal(count, many + 2);
const titles = graph.query("query q() { match { $t: Thing } return { $t.sku as sku, $t.title as title } order { $t.sku } limit 100000 }", {}, onMany);
assert.equal((await titles.answer()).row_count, many + 6);
assert.equal((await graph.read("by_maker", { maker: "bolt" }, { ...onMany, maxRows: 25_000, pageSize: 10_000 })).length, 25_000);
const pages = await all(graph.read("by_maker", { maker: "bolt" }, { ...onMany, pageSize: 12_000 }).pages());
assert.deepEqual(pages.map((p) => p.row_count), [12_000, 12_000, 6_002]);
assert.ok((await (await down(() => titles.arrow())).bytes()).length > many * 400);
const exported = await down(() => graph.export({ type_names: ["Thing"], ...onMany }));
assert.equal((await all(exported.records())).length, many + 6);
assert.equal(exported.commit, (await graph.snapshot(onMany)).graph_commit_id);
assert.ok((await (await graph.exportArrow("Maker")).bytes()).length > 100);
const place = { entity: "node", type: "Thing", id: "lamp-1", property: "photo" } as const;
assert.deepEqual(await (await down(() => graph.blob(place))).bytes(), photo);
assert.deepEqual(await (await graph.blob(place, { first: 1, last: 2 })).bytes(), photo.slice(1, 3));
await assert.rejects(graph.blob(place, { ifCommit: "01M0000000000000000000000A" }), PreconditionError);
const id = await down(() => graph.uploads.open("main"));
await graph.uploads.append(id, 0, new TextEncoder().encode("{}"));
assert.equal((await down(() => graph.uploads.get(id))).offset, 2);
await graph.uploads.delete(id);

// Branches, commits and changes.
const created = await graph.createBranch({ name: "review/june" });
assert.deepEqual((await down(() => all(graph.branches(2)))).map((b) => b.name).sort(), ["main", "many", "review/june"]);
const june = { branch: "review/june" };
await down(() => db.restock({ sku: "t-2", by: 5n }, june));
assert.equal((await graph.mergeBranches({ source: "review/june", dry_run: true })).dry_run, true);
const merged = await down(() => graph.mergeBranches({ source: "review/june" }));
assert.equal(merged.outcome, "fast_forward");
await graph.deleteBranch("review/june");
await assert.rejects(graph.deleteBranch("review/june"), NotFoundError);
const head = await down(() => graph.snapshot());
await assert.rejects(graph.snapshot({}, { ifChanged: head.graph_commit_id }), NotModifiedError);
const commits = await down(() => all(graph.commits("main", 2)));
assert.ok(commits.length >= 6 && commits[0]?.graph_commit_id === head.graph_commit_id);
assert.equal((await down(() => graph.commit(created.graph_commit_id))).graph_commit_id, created.graph_commit_id);
const changes = await down(() => all(graph.commitChanges(added.commit?.graph_commit_id ?? "", { kind: ["node"], limit: 1 })));
assert.equal(changes[0]?.after?.properties["stock"], String(2n ** 62n));
assert.equal((await down(() => graph.history({ type: "Thing", id: "t-2" }))).versions.length, 2);
assert.equal((await graph.changes({ start: "latest" })).caught_up, true);
const feed = await down(() => all(graph.feed({ limit: 2 })));
const blocks = feed.flatMap((p) => p.blocks);
assert.equal(new Set(blocks.map((b) => b.cause.graph_commit_id)).size, commits.length);
const baseline = await all((await down(() => graph.baseline())).records());
const cursor = (baseline.at(-1)?.["baseline"] as { resume_cursor: string }).resume_cursor;
const seen: string[] = [];
for await (const page of graph.follow({ cursor, op: ["update"] })) {
  seen.push(...page.blocks.flatMap((b) => b.changes.map((c) => c.id)));
  if (seen.length >= 3) break;
  if (page.caught_up) await down(() => db.restock({ sku: `t-${seen.length}`, by: 0n === BigInt(seen.length) ? 1n : -1n }));
}
assert.deepEqual(seen, ["t-0", "t-1", "t-2"]);
const stop = new AbortController();
const following = graph.follow({ start: "latest" }, stop.signal);
const next = following.next().then(() => following.next());
setTimeout(() => stop.abort(new Error("enough")), 200);
await assert.rejects(next, /enough/);

// Watches. Each change is told once, although the server is killed in between.
const watch = await graph.createWatch({ query: "by_maker", params: { maker: "acme" }, webhook: "http://127.0.0.1:1/hook" });
assert.match(watch.webhook?.secret ?? "", /^whsec_/);
assert.deepEqual((await down(() => graph.watches())).watches.map((w) => [w.watch_id, w.webhook?.url, w.webhook?.secret]), [[watch.watch_id, "http://127.0.0.1:1/hook", undefined]]);
assert.deepEqual((await graph.redeliverWatch(watch.watch_id)).webhook?.undelivered, []);
assert.deepEqual((await graph.dismissUndelivered(watch.watch_id)).webhook?.undelivered, []);
const answered = await down(() => graph.watchEvent(watch.watch_id));
assert.ok(answered.reset === "first" && (answered.rows?.length ?? 0) > 3);
const told: number[] = [];
for await (const event of graph.followWatch(watch.watch_id, answered.cursor)) {
  assert.equal(event.reset, null);
  told.push(...(event.changed ?? []).map(({ before, after }) => Number(BigInt(String(after["stock"])) - BigInt(String(before["stock"])))));
  if (told.length === 2) break;
  if (told.length === 0 || event.changed !== undefined) await down(() => db.restock({ sku: "t-2", by: -1n }));
}
assert.deepEqual(told, [-1, -1]);
assert.equal((await graph.deleteWatch(watch.watch_id)).deleted, watch.watch_id);

// Proposals.
await graph.createBranch({ name: "work" });
await db.restock({ sku: "b-1", by: 1n }, { branch: "work" });
const opened = await graph.openProposal({ source: "work", title: "Count" });
await graph.changeProposal(opened.id, { title: "Count again" });
assert.equal((await down(() => graph.proposalChanges(opened.id))).changes.length, 1);
await bo.reviewProposal(opened.id, { decision: "comment", comment: "Why?" });
await bo.reviewProposal(opened.id, { decision: "approve", digest: opened.digest });
const proposal = await down(() => graph.proposal(opened.id));
assert.ok(proposal.title === "Count again" && proposal.approved_by.includes("act-bo"));
assert.equal((await graph.mergeProposal(opened.id, { digest: proposal.digest })).state, "merged");
await graph.createBranch({ name: "other" });
await db.restock({ sku: "b-2", by: 1n }, { branch: "other" });
const other = await graph.openProposal({ source: "other", title: "Not this" });
assert.equal((await graph.closeProposal(other.id)).state, "closed");
assert.deepEqual((await down(() => all(graph.proposals({ limit: 1 })))).map((p) => p.state), ["closed", "merged"]);
const events = await down(() => graph.proposalEvents());
assert.ok(events.caught_up && events.events.length === 7, JSON.stringify(events.events.map((e) => e.kind)));
for await (const page of graph.followProposals({ cursor: events.events[4]?.id ?? "" })) {
  assert.equal(page.events.length, 2);
  break;
}
const counting = await graph.proposeQuery({ name: "counted", query: "query counted() { match { $t: Thing } return { count($t) as n } }", description: "Counts all things.", why: "It is asked each day." });
assert.equal(counting.query?.name, "counted");
assert.deepEqual((await down(() => graph.publishedQueries())).queries, []);
await graph.closeProposal(counting.id);

// The graph as a whole.
assert.match((await down(() => graph.schema())).schema_source, /node Thing/);
assert.equal((await down(() => graph.types())).types.length, 3);
await assert.rejects(graph.applySchema({ schema_source: "node A { a: String @key }", dry_run: true }), /belongs to a cluster/);
assert.equal((await down(() => graph.checks())).checks[0]?.outcome, "passed");
assert.ok((await down(() => graph.access({ actor: "act-bo" }))).decisions.length > 5);
for (let i = 0; i < 3; i++) await db.findThings({ state: "gone" });
for (let tries = 100; (await all(graph.audit({ tool: "find_things", limit: 2, from: new Date(0) }))).length < 3; ) {
  assert.ok(--tries > 0, "the audit trail lacks calls"); // a record is in the trail soon after the answer
  await new Promise((r) => setTimeout(r, 100));
}
assert.deepEqual((await down(() => graph.verify())).faults, []);
assert.equal((await graph.cleanup({ keep_commits: 1, dry_run: true })).dry_run, true);
await assert.rejects(new Client(env("OMNIGRAPH_URL"), { token: env("FEW_TOKEN") }).graph("shop").schema(), ForbiddenError);

// Writes during kills count once.
const before = (await db.findThings({ state: "on-sale" })).find((r) => r.sku === "b-1")?.stock ?? 0n;
let killing = true;
const killer = (async () => {
  for (let i = 0; i < 3 || killing; i++) {
    await kill();
    await new Promise((r) => setTimeout(r, 1200));
  }
})();
for (let i = 0; i < 40; i++) await db.restock({ sku: "b-1", by: 1n });
killing = false;
await killer;
assert.equal((await db.findThings({ state: "on-sale" })).find((r) => r.sku === "b-1")?.stock, before + 40n);

// Time limits and signals.
await assert.rejects(client.actor({ signal: AbortSignal.abort(new Error("no more")) }), /no more/);
await kill();
await assert.rejects(new Client(env("OMNIGRAPH_URL"), { ...options, timeout: 50 }).health(), { name: "TimeoutError" });

// Answers that only a script gives.
const json = (status: number, body: unknown, headers: HeadersInit = {}): Response => new Response(JSON.stringify(body), { status, headers });
async function scripted<T>(answers: Response[], call: (c: Client) => PromiseLike<T>): Promise<{ result: T | Error; left: number }> {
  const scriptedFetch = async (): Promise<Response> => answers.shift() ?? assert.fail("another request");
  const result = await call(new Client("http://scripted", { fetch: scriptedFetch })).then((v) => v, (e: unknown) => e as Error);
  return { result, left: answers.length };
}
const ok = (): Response => json(200, { status: "ok" });
const soon = { "Retry-After": "0" };
assert.deepEqual(await scripted([json(429, { error: "busy" }, soon), json(503, { error: "stops" }, soon), ok()], (c) => c.health()), { result: { status: "ok" }, left: 0 });
const slow = await scripted([json(503, { error: "too slow" }), ok()], (c) => c.health());
assert.ok(slow.left === 1 && slow.result instanceof UnavailableError && slow.result.message === "too slow");
const once = await scripted([json(429, { error: "busy" }, soon), ok()], (c) => c.graph("g").createBranch({ name: "b" }));
assert.ok(once.left === 1 && once.result instanceof BusyError);
const moved = await scripted([new Response(null, { status: 302, headers: { Location: "http://elsewhere" } }), ok()], (c) => c.health());
assert.ok(moved.left === 1 && moved.result instanceof ServerError && /does not follow redirects/.test(moved.result.message));
const stranger = await scripted([new Response("<html>", { status: 200 })], (c) => c.health());
assert.match(String(stranger.result), /omnigraph-server/);
const page = { query_name: "q", target: { branch: "main", snapshot: null }, columns: ["a"], rows: [{ a: 1 }], row_count: 1, graph_commit_id: "c", truncated: true, next_page_token: "same" };
const stuck = await scripted([json(200, page), json(200, page)], (c) => c.graph("g").query("…").all());
assert.ok(stuck.result instanceof NoProgressError);

for (const of of [Client, Graph]) {
  const own = Object.getOwnPropertyNames(of.prototype).filter((n) => !["constructor", "get", "post", "commit_", "stream", "rows", "pages"].includes(n));
  assert.deepEqual(own.filter((n) => !called.has(`${of.name}.${n}`)), []);
}
console.log(`every call of TypeScript answered; ${retried} requests repeated`);
