import { NoProgressError } from "./errors.js";
import { follow } from "./feed.js";
import { get, post, segment, type CallOptions, type Request, type Transport } from "./http.js";
import { loadRequest, piecesOf, Uploads, type LoadData } from "./load.js";
import { Rows, type RowLimits } from "./rows.js";
import { Stream } from "./stream.js";
import type { Params, Row } from "./values.js";
import type * as w from "./wire.js";

/** Which state a call reads: a branch, main by default, or a snapshot: a commit, or an instant such as 2026-05-01T12:00:00Z on the branch. */
export interface At {
  branch?: string | undefined;
  snapshot?: string | undefined;
}

export interface ReadOptions extends At, RowLimits, CallOptions {}

export interface WriteOptions extends CallOptions {
  branch?: string | undefined;
  /** Commit nothing, and report what the write would do. */
  dryRun?: boolean | null | undefined;
  /** Within a day, a request with the same key gets the answer of the first one. The client makes a new key by default. */
  idempotencyKey?: string | undefined;
  /** Write only if this commit is the head of the branch. */
  ifCommit?: string | undefined;
  /** Why the write is made: the message of its commit, at most 1,024 bytes of UTF-8. */
  message?: string | undefined;
}

/** What a mutation did, and the row that it returns; null if it matched nothing. */
export type Written<R> = w.MutationAnswer & { row: R | null };

/** Which changes a list has. */
export interface ChangeFilter {
  kind?: ("node" | "edge")[] | undefined;
  type?: string[] | undefined;
  op?: ("insert" | "update" | "delete")[] | undefined;
  /** The maximum number of changes of a page. */
  limit?: number | undefined;
  page_token?: string | undefined;
}

export interface FeedQuery extends ChangeFilter {
  branch?: string | undefined;
  /** The cursor of the page before, or of a baseline. */
  cursor?: string | undefined;
  /** Where a feed without a cursor starts: at the first commit of the branch, or after its head. */
  start?: "earliest" | "latest" | undefined;
}

export interface LoadOptions extends WriteOptions {
  from?: string | undefined;
  mode?: "merge" | "patch" | "append" | "overwrite" | "sync" | undefined;
  newEdges?: boolean | undefined;
  lastWins?: boolean | undefined;
  /** With the mode sync: the name of the source, and what the load may let go and delete. */
  source?: string | undefined;
  types?: string[] | undefined;
  yield?: string[] | undefined;
  cascade?: boolean | undefined;
  approveDeletes?: number | undefined;
}

export interface ProposalQuery {
  state?: "open" | "merged" | "closed" | undefined;
  source?: string | undefined;
  target?: string | undefined;
  author?: string | undefined;
  reviewer?: string | undefined;
  limit?: number | undefined;
  page_token?: string | undefined;
}

type Page = { next_page_token?: string | null | undefined };

/** One graph of a server. Its methods have the names of the operations, see docs/reference/rest.md. */
export class Graph {
  /** Data of loads that is sent in pieces. `load` does so by itself. */
  readonly uploads: Uploads;
  private readonly path: string;

  constructor(
    private readonly t: Transport,
    readonly id: string,
  ) {
    this.path = `/graphs/${segment(id)}`;
    this.uploads = new Uploads(t, `${this.path}/uploads`);
  }

  private get<T>(path: string, query: object = {}, call?: CallOptions): Promise<T> {
    return this.t.json(get(this.path + path, query), call);
  }

  private post<T>(path: string, body: object, repeats: boolean, call?: CallOptions): Promise<T> {
    return this.t.json(post(this.path + path, body, repeats), call);
  }

  /** Sends a write with its options. A write with a condition has a path of its own, so that no server ignores the condition. */
  private commit_<T>(path: string, body: object, options: WriteOptions, conditional = false): Promise<T> {
    const to = conditional && options.ifCommit !== undefined ? `${path}/if-graph-commit` : path;
    const request = post(this.path + to, body, true);
    Object.assign((request.headers ??= {}), writeHeaders(options));
    return this.t.json(request, options);
  }

  private async stream(request: Request, what: string, call?: CallOptions): Promise<Stream> {
    return new Stream(await this.t.open(request, call), what);
  }

  private rows<R>(path: string, body: object, options: ReadOptions, decode: (row: Row) => R): Rows<R> {
    const { branch, snapshot, maxRows } = options;
    const of = { ...body, branch, snapshot };
    return new Rows(
      (max_rows, page_token) => this.post(path, { ...of, max_rows, page_token }, true, options),
      () => {
        const request = post(this.path + path, { ...of, max_rows: maxRows }, true);
        Object.assign((request.headers ??= {}), { Accept: "application/vnd.apache.arrow.stream" });
        return this.stream(request, "the answer", options);
      },
      options,
      decode,
    );
  }

  /** Asks for one page after the other. */
  private async *pages<P extends Page>(ask: (page_token: string | undefined) => Promise<P>, start?: string): AsyncGenerator<P, void, undefined> {
    for (let token = start; ; ) {
      const page = await ask(token);
      yield page;
      const next = page.next_page_token;
      if (!next) return;
      if (next === token) throw new NoProgressError();
      token = next;
    }
  }

  /** Runs a read that is given as GQ text. */
  query(query: string, params?: Params, options: ReadOptions & { name?: string } = {}): Rows {
    return this.rows("/query", { query, name: options.name, params }, options, (row) => row);
  }

  /** Runs a mutation that is given as GQ text, as one commit. */
  mutate(query: string, params?: Params, options: WriteOptions & { name?: string } = {}): Promise<w.MutationAnswer> {
    return this.commit_("/mutate", { query, name: options.name, params, branch: options.branch, dry_run: options.dryRun }, options, true);
  }

  /** Runs a stored read. */
  read<R = Row>(name: string, params?: Params, options: ReadOptions = {}, decode: (row: Row) => R = (row) => row as R): Rows<R> {
    return this.rows(`/queries/${segment(name)}`, { params, expect_mutation: false }, options, decode);
  }

  /** Runs a stored mutation, as one commit. */
  write(name: string, params?: Params, options: WriteOptions = {}): Promise<w.MutationAnswer> {
    const body: w.InvokeBody = { branch: options.branch, dry_run: options.dryRun, expect_mutation: true };
    return this.commit_(`/queries/${segment(name)}`, { ...body, params }, options, true);
  }

  /** Runs a stored mutation that returns a row. */
  async writeRow<R = Row>(name: string, params?: Params, options: WriteOptions = {}, decode: (row: Row) => R = (row) => row as R): Promise<Written<R>> {
    const answer = await this.write(name, params, options);
    const row = answer.rows?.[0];
    return { ...answer, row: row === undefined ? null : decode(row) };
  }

  /** Lists the stored queries that the caller may run. */
  queries(call?: CallOptions): Promise<w.QueryList> {
    return this.get("/queries", {}, call);
  }

  /** Describes a stored query: its parameters, and the plan with which the server runs it. */
  explain(name: string, at: At = {}, call?: CallOptions): Promise<w.QueryDescription> {
    return this.get(`/queries/${segment(name)}`, at, call);
  }

  /** Loads nodes and edges as NDJSON, as one commit or not at all. */
  async load(data: LoadData, options: LoadOptions = {}): Promise<w.LoadAnswer> {
    const { branch, from, mode, source } = options;
    const set = (on: boolean | null | undefined): true | undefined => on || undefined;
    const query = { branch, from, mode, source, types: options.types?.join(","), yield: options.yield?.join(","), approve_deletes: options.approveDeletes,
      dry_run: set(options.dryRun), new_edges: set(options.newEdges), last_wins: set(options.lastWins), cascade: set(options.cascade) };
    const send = (body: Uint8Array<ArrayBuffer> | undefined, upload?: string): Promise<w.LoadAnswer> =>
      this.t.json(loadRequest(`${this.path}/load/ndjson`, { ...query, upload }, writeHeaders(options), body, true), options);
    const pieces = piecesOf(data);
    const first = (await pieces.next()).value as Uint8Array<ArrayBuffer>;
    const second = await pieces.next();
    if (second.done) return await send(first);
    const rest = (async function* () {
      yield second.value;
      yield* pieces;
    })();
    return await this.uploads.send(branch, first, rest, (id) => send(undefined, id), options);
  }

  /** Exports the entities of a commit as NDJSON that `load` takes. */
  export(body: w.ExportBody = {}, call?: CallOptions): Promise<Stream> {
    return this.stream(post(`${this.path}/export`, body, true), "the export", call);
  }

  /** Exports the entities of one type as an Arrow IPC stream. */
  exportArrow(type: string, at: At = {}, call?: CallOptions): Promise<Stream> {
    const request = post(`${this.path}/export`, { ...at, type_names: [type] }, true);
    Object.assign((request.headers ??= {}), { Accept: "application/vnd.apache.arrow.stream" });
    return this.stream(request, "the export", call);
  }

  /** Returns the bytes of a Blob, or of a part of it; `last` is included. */
  blob(place: { entity: "node" | "edge"; type: string; id: string; property: string }, options: At & CallOptions & { first?: number; last?: number; ifCommit?: string } = {}): Promise<Stream> {
    const { branch, snapshot, first, last, ifCommit } = options;
    const request = get(`${this.path}/blob`, { ...place, branch, snapshot });
    request.headers = {};
    if (first !== undefined) request.headers["Range"] = `bytes=${first}-${last ?? ""}`;
    if (ifCommit !== undefined) request.headers["If-Match"] = JSON.stringify(ifCommit);
    return this.stream(request, "the Blob", options);
  }

  /** Returns all branches that the caller may read, each with its last commit. */
  async *branches(limit = 1000, call?: CallOptions): AsyncGenerator<w.BranchHead, void, undefined> {
    for await (const page of this.pages((page_token) => this.get<w.BranchList>("/branches", { limit, page_token }, call))) yield* page.heads;
  }

  createBranch(body: w.BranchBody, call?: CallOptions): Promise<w.BranchCreated> {
    return this.post("/branches", body, false, call);
  }

  deleteBranch(name: string, call?: CallOptions): Promise<w.BranchDeleted> {
    return this.t.json({ method: "DELETE", path: `${this.path}/branches/${segment(name)}`, repeats: false }, call);
  }

  /** Merges a branch into another one, as one commit. A ConflictError lists the conflicts, if there are any. */
  mergeBranches(body: w.MergeBody, options: WriteOptions = {}): Promise<w.MergeAnswer> {
    const of = { dryRun: body.dry_run, ...options };
    // A repeated merge that has deleted its source could find another branch of that name.
    if (body.delete_branch && !body.dry_run && of.idempotencyKey === undefined) return this.post("/branches/merge", body, false, options);
    return this.commit_("/branches/merge", body, of);
  }

  /** Describes the state of a branch or of a commit. With `ifChanged`, a NotModifiedError says that it still is that commit. */
  snapshot(at: At = {}, options: CallOptions & { ifChanged?: string } = {}): Promise<w.SnapshotAnswer> {
    const request = get(`${this.path}/snapshot`, at);
    if (options.ifChanged !== undefined) request.headers = { "If-None-Match": JSON.stringify(options.ifChanged) };
    return this.t.json(request, options);
  }

  /** Returns the commits of a branch, the newest first. */
  async *commits(branch?: string, limit?: number, call?: CallOptions): AsyncGenerator<w.CommitAnswer, void, undefined> {
    for await (const page of this.pages((page_token) => this.get<w.CommitList>("/commits", { branch, limit, page_token }, call))) yield* page.commits;
  }

  commit(id: string, at: At = {}, call?: CallOptions): Promise<w.CommitAnswer> {
    return this.get(`/commits/${segment(id)}`, at, call);
  }

  /** Returns the changes that a commit made against its first parent. */
  async *commitChanges(id: string, filter: ChangeFilter & At = {}, call?: CallOptions): AsyncGenerator<w.EntityChange, void, undefined> {
    const ask = (page_token: string | undefined): Promise<w.ChangesAnswer> => this.get(`/commits/${segment(id)}/changes`, { ...filter, page_token }, call);
    for await (const page of this.pages(ask, filter.page_token)) yield* page.changes;
  }

  /** Lists a page of the changes of a branch. After a GoneError, start again from a baseline. */
  changes(query: FeedQuery = {}, call?: CallOptions): Promise<w.ChangeFeed> {
    return this.get("/changes", query, call);
  }

  /** Returns the changes of a branch up to its head. */
  async *feed(from: FeedQuery = {}, call?: CallOptions): AsyncGenerator<w.ChangeFeed, void, undefined> {
    for (let at = from; ; ) {
      const page = await this.changes(at, call);
      const next = after(at, page);
      yield page;
      if (page.caught_up && page.next_page_token === null) return;
      if (next.cursor === at.cursor && next.page_token === at.page_token) throw new NoProgressError();
      at = next;
    }
  }

  /** Returns the changes of a branch, and goes on when it gets new commits. Store the cursor of each page to continue in another process. */
  follow(from: FeedQuery = {}, signal?: AbortSignal): AsyncGenerator<w.ChangeFeed, void, undefined> {
    let at = from;
    return follow(this.t, "changes", () => get(`${this.path}/changes`, at), (page: w.ChangeFeed) => (at = after(at, page)), signal);
  }

  /** Returns the entities of a branch as NDJSON. The last line has the cursor with which the feed continues. */
  baseline(body: w.BaselineBody = {}, call?: CallOptions): Promise<Stream> {
    return this.stream(post(`${this.path}/changes/baseline`, body, true), "the baseline", call);
  }

  /** Lists the commits that changed a node, the newest first. */
  history(query: { type: string; id: string; branch?: string; before?: number; limit?: number }, call?: CallOptions): Promise<w.NodeHistory> {
    return this.get("/node/history", query, call);
  }

  schema(at: At = {}, call?: CallOptions): Promise<w.SchemaAnswer> {
    return this.get("/schema", at, call);
  }

  types(at: At = {}, call?: CallOptions): Promise<w.TypeList> {
    return this.get("/schema/types", at, call);
  }

  /** Replaces the schema of a branch and converts the data, as one commit. */
  applySchema(body: w.SchemaBody, options: WriteOptions = {}): Promise<w.SchemaApplied> {
    return this.commit_("/schema/apply", body, { dryRun: body.dry_run, ...options });
  }

  /** Returns the proposals between branches that the caller may read, the newest first. */
  async *proposals(query: ProposalQuery = {}, call?: CallOptions): AsyncGenerator<w.ProposalSummary, void, undefined> {
    for await (const page of this.pages((page_token) => this.get<w.ProposalList>("/proposals", { ...query, page_token }, call), query.page_token)) yield* page.proposals;
  }

  proposal(id: string, call?: CallOptions): Promise<w.ProposalAnswer> {
    return this.get(`/proposals/${segment(id)}`, {}, call);
  }

  /** Lists a page of what the merge of a proposal changes on the target. */
  proposalChanges(id: string, filter: ChangeFilter = {}, call?: CallOptions): Promise<w.ProposalChanges> {
    return this.get(`/proposals/${segment(id)}/changes`, filter, call);
  }

  /** Opens a proposal. If the request fails, it is not repeated, because it may have opened the proposal. */
  openProposal(body: w.ProposalBody, call?: CallOptions): Promise<w.ProposalAnswer> {
    return this.post("/proposals", body, false, call);
  }

  /** Changes the title, the description or the resolutions of an open proposal. */
  changeProposal(id: string, body: w.ProposalChangeBody, call?: CallOptions): Promise<w.ProposalAnswer> {
    return this.post(`/proposals/${segment(id)}`, body, false, call);
  }

  /** Approves an open proposal, asks for changes, or adds a comment. */
  reviewProposal(id: string, body: w.ProposalReviewBody, call?: CallOptions): Promise<w.ProposalAnswer> {
    return this.post(`/proposals/${segment(id)}/review`, body, false, call);
  }

  closeProposal(id: string, body: w.ProposalCloseBody = {}, call?: CallOptions): Promise<w.ProposalAnswer> {
    return this.post(`/proposals/${segment(id)}/close`, body, false, call);
  }

  mergeProposal(id: string, body: w.ProposalMergeBody = {}, call?: CallOptions): Promise<w.ProposalAnswer> {
    return this.post(`/proposals/${segment(id)}/merge`, body, false, call);
  }

  /** Proposes a stored query. It changes the caller's open proposal of a query with this name, if there is one. */
  proposeQuery(body: w.QueryProposalBody, call?: CallOptions): Promise<w.ProposalAnswer> {
    return this.post("/proposed-queries", body, false, call);
  }

  /** Lists the proposed queries that were merged and that the caller may run. */
  publishedQueries(call?: CallOptions): Promise<w.PublishedQueries> {
    return this.get("/proposed-queries", {}, call);
  }

  /** Lists a page of the events of proposals. */
  proposalEvents(query: { cursor?: string; start?: "earliest" | "latest"; limit?: number } = {}, call?: CallOptions): Promise<w.ProposalFeed> {
    return this.get("/proposals/events", query, call);
  }

  /** Returns the events of proposals, and goes on when there are new ones. */
  followProposals(from: { cursor?: string; start?: "earliest" | "latest" } = {}, signal?: AbortSignal): AsyncGenerator<w.ProposalFeed, void, undefined> {
    let at = from;
    return follow(this.t, "proposals", () => get(`${this.path}/proposals/events`, at), (page: w.ProposalFeed) => (at = { cursor: page.cursor }), signal);
  }

  /** Keeps a stored read with its arguments as a watch. If the request fails, it is not repeated, because it may have made the watch. */
  createWatch(body: w.WatchBody, call?: CallOptions): Promise<w.Watch> {
    return this.post("/watches", body, false, call);
  }

  /** Lists the watches of the caller, the oldest first. */
  watches(call?: CallOptions): Promise<w.WatchList> {
    return this.get("/watches", {}, call);
  }

  /** Returns the answer of a watch, or how it has changed after a cursor. */
  watchEvent(id: string, cursor?: string, call?: CallOptions): Promise<w.WatchEvent> {
    return this.get(`/watches/${segment(id)}/events`, { cursor }, call);
  }

  /**
   * Returns the answer of a watch, or how it has changed after a cursor, and goes on when the answer changes. Store the cursor of each event
   * together with its rows to continue in another process.
   */
  followWatch(id: string, cursor?: string, signal?: AbortSignal): AsyncGenerator<w.WatchEvent, void, undefined> {
    let at = cursor;
    return follow(this.t, "watch", () => get(`${this.path}/watches/${segment(id)}/events`, { cursor: at }), (event: w.WatchEvent) => (at = event.cursor), signal);
  }

  /** Sends the events of the webhook of a watch again that could not be delivered. */
  redeliverWatch(id: string, call?: CallOptions): Promise<w.Watch> {
    return this.t.json({ method: "POST", path: `${this.path}/watches/${segment(id)}/redeliver`, repeats: false }, call);
  }

  /** Removes the events of the webhook of a watch from its list that could not be delivered. */
  dismissUndelivered(id: string, call?: CallOptions): Promise<w.Watch> {
    return this.t.json({ method: "POST", path: `${this.path}/watches/${segment(id)}/dismiss`, repeats: false }, call);
  }

  deleteWatch(id: string, call?: CallOptions): Promise<w.WatchDeleted> {
    return this.t.json({ method: "DELETE", path: `${this.path}/watches/${segment(id)}`, repeats: false }, call);
  }

  /** Runs the checks of the graph on the head of a branch. */
  checks(branch?: string, call?: CallOptions): Promise<w.ChecksAnswer> {
    return this.get("/checks", { branch }, call);
  }

  /** Says what an actor may do on the graph, and which rules decide it. */
  access(about: { actor?: string; group?: string[]; branch?: string } = {}, call?: CallOptions): Promise<w.AccessAnswer> {
    return this.get("/access", about, call);
  }

  /** Returns calls in the audit trail, the latest first. */
  async *audit(query: { actor?: string; tool?: string; entity?: string; decision?: "allowed" | "denied"; from?: Date; to?: Date; limit?: number } = {}, call?: CallOptions): AsyncGenerator<w.AuditRecord, void, undefined> {
    for await (const page of this.pages((page_token) => this.get<w.AuditAnswer>("/audit", { ...query, page_token }, call))) yield* page.records;
  }

  /** Reads all stored data and lists the faults. */
  verify(call?: CallOptions): Promise<w.Verified> {
    return this.post("/verify", {}, true, call);
  }

  /** Makes old commits unreadable and frees their space. */
  cleanup(body: w.CleanupBody, call?: CallOptions): Promise<w.CleanedUp> {
    return this.post("/cleanup", body, body.dry_run === true, call);
  }

  /** Returns the OpenAPI document of the stored queries that the caller may run. */
  openapi(call?: CallOptions): Promise<Row> {
    return this.get("/openapi.json", {}, call);
  }

  /** Returns the issuers of tokens that the server accepts for the routes of the graph, or for its MCP endpoint. */
  resourceMetadata(endpoint: "rest" | "mcp" = "rest", call?: CallOptions): Promise<w.ResourceMetadata> {
    return this.t.json(get(`/.well-known/oauth-protected-resource${this.path}${endpoint === "mcp" ? "/mcp" : ""}`), call);
  }
}

/** The headers of a write. Every write that commits has an idempotency key, so it can be repeated. */
function writeHeaders({ idempotencyKey, ifCommit, dryRun, message }: WriteOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  const key = idempotencyKey ?? (dryRun ? undefined : crypto.randomUUID());
  if (key !== undefined) headers["Idempotency-Key"] = key;
  if (ifCommit !== undefined) headers["Omnigraph-If-Graph-Commit"] = ifCommit;
  if (message) headers["Omnigraph-Message"] = encodeURIComponent(message);
  return headers;
}

/** The query of the page of a feed that follows another one. */
function after(at: FeedQuery, page: w.ChangeFeed): FeedQuery {
  const { page_token: _, ...rest } = at;
  if (page.next_page_token !== null) return { ...rest, page_token: page.next_page_token };
  return page.cursor === null ? rest : { ...rest, cursor: page.cursor, start: undefined };
}
