// Requests to the public routes of the server. The server's OpenAPI document, GET /openapi.json,
// describes the members of the answers.

import { parseJson, writeJson, type Json } from "./json";
import { logOut, token } from "./session";

export interface Commit {
  graph_commit_id: string;
  graph_branch: string;
  graph_manifest_version: number;
  parent_commit_id: string | null;
  merged_parent_commit_id: string | null;
  actor_id: string | null;
  agents?: string[]; // that acted for the actor, the current one first
  created_at: number;
  message?: string; // why it was made
}

export interface Param {
  name: string;
  kind: string;
  nullable: boolean;
  description?: string;
}

export interface Query {
  name: string;
  tool_name: string;
  description?: string;
  instruction?: string;
  questions?: string[];
  mutation: boolean;
  params: Param[];
}

export interface ParamSchema {
  type?: string | string[];
  format?: string;
  enum?: Json[];
  description?: string;
  default?: Json;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  examples?: Json[];
  items?: ParamSchema;
  /** The members of an object. */
  properties?: Record<string, ParamSchema>;
}

export interface QueryDescription extends Query {
  run_tool: string;
  input_schema: { properties: { params?: { properties: Record<string, ParamSchema>; required: string[] } } };
  plan?: string;
}

export type Row = Record<string, Json>;

export interface Rows {
  query_name: string;
  columns: string[];
  rows: Row[];
  row_count: number;
  graph_commit_id: string;
  notes?: string[];
  truncated?: boolean;
  truncated_by?: "rows" | "bytes" | "limit";
  next_page_token?: string;
}

export interface Mutated {
  branch: string;
  query_name: string;
  affected_nodes: number;
  affected_edges: number;
  commit: Commit | null;
  dry_run?: boolean;
}

export interface Property {
  name: string;
  type: string;
  kind: string;
  list: boolean;
  enum?: string[];
  description?: string;
}

export interface Type {
  kind: "node" | "edge";
  name: string;
  description?: string;
  from?: string;
  to?: string;
  implements?: string[];
  key?: string[];
  rules: string[];
  properties: Property[];
  queries: string[];
}

export interface Snapshot {
  graph_branch: string;
  graph_commit_id: string;
  datasets: { type_name: string; entity_kind: "node" | "edge"; entity_count: number }[];
}

/** A node at an end of an edge: its id, or its type and id if the schema names an interface at this end. */
export type End = string | { type: string; id: string };

export interface Image {
  endpoints: { from: End; to: End } | null;
  properties: Record<string, Json>;
}

export interface Change {
  kind: "node" | "edge";
  op: "insert" | "update" | "delete";
  id: string;
  type: { id: string; name: string };
  before: Image | null;
  after: Image | null;
}

export interface NodeHistory {
  versions: { commit: Commit; op: Change["op"]; before: Image | null; after: Image | null }[];
  examined: number;
  next_before: number | null;
  reclaimed: boolean;
}

export interface Rule {
  id: string;
  deny: boolean;
  file?: string;
  line?: number;
}

export interface Decision {
  action: string;
  via?: string;
  query?: string;
  allowed: boolean;
  rules: Rule[];
  near?: (Rule & { missing: string })[];
  reason?: string;
}

export interface Access {
  actor: string;
  branch: string;
  actors: string[];
  decisions: Decision[];
  tools: { name: string; title: string; query?: string; visible: boolean; needs: Decision[] }[];
}

/** Counts of calls. */
export interface Tally {
  calls: number;
  failed: number; // with the denied ones
  denied: number;
  p99_micros: number;
}

/** The calls of the last 24 hours. */
export interface CallSummary {
  complete: boolean; // otherwise only the latest were counted
  all: Tally;
  hours: (Tally & { from: number })[];
  tools: (Tally & { tool: string })[];
  actors: (Tally & { actor_id: string | null; agents?: string[] })[];
}

/** A call in the audit trail. */
export interface CallRecord {
  ended_at: number;
  duration_micros: number;
  actor_id: string | null;
  agents?: string[];
  tool: string; // "" for an unknown one
  branch?: string;
  decision: "allowed" | "denied";
  denied_action?: string;
  rules?: string[];
  outcome: string;
  rows: number;
  entities?: string[];
  more_entities?: number;
  whole_branch?: boolean;
  graph_commit_id: string | null;
  types?: string[];
  filters?: string[];
  arguments_digest?: string;
  arguments?: Json;
  request_id?: string;
  server: string;
  number: number;
}

/** The size of a branch at a commit. */
export interface GrowthPoint {
  graph_commit_id: string;
  created_at: number;
  nodes: number;
  edges: number;
}

/** A parameter of a query text; `kind` is string, bool, int, bigint, float, date, datetime, list, record, … */
export interface AssistParam extends Param {
  item_kind?: string;
  interface?: string;
  default?: Json;
  minimum?: Json;
  maximum?: Json;
}

export interface AssistQuery {
  name: string;
  mutation: boolean;
  params: AssistParam[];
  nodes?: { column: string; type: string }[];
  links?: { from: string; to: string; edge: string }[];
}

/** Help for the author of a query text. Positions count UTF-16 units. */
export interface AssistAnswer {
  queries?: AssistQuery[];
  diagnostics?: {
    from: number;
    to: number;
    severity: "error" | "warning" | "note";
    code: string;
    message: string;
    help?: string;
    edits?: { from: number; to: number; text: string }[];
  }[];
  completion?: { from: number; to: number; items: { label: string; kind: string; detail?: string; doc?: string }[] };
  hover?: { from: number; to: number; code: string; doc?: string };
}

export interface Explained {
  query_name: string;
  analyzed: boolean;
  plan: { depth: number; name: string; detail?: string; estimate: number; rows?: number; time_ns?: number }[];
}

/** The error if the server refuses a request; the status is 0 if the server could not be reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly body: Record<string, Json> = {},
  ) {
    super(message);
  }
}

/** Values of a query string; a member that is undefined or "" is left out. */
export type Parameters = Record<string, string | number | undefined>;

/** Returns the path of a route on a graph, with its query string. */
export function pathOf(graph: string, route: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") {
      query.set(name, String(value));
    }
  }
  const text = query.toString();
  return "/graphs/" + encodeURIComponent(graph) + route + (text && "?" + text);
}

/** Sends a GET request. */
export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return send<T>(path, { signal: signal ?? null });
}

/** Asks which actor a token belongs to. */
export async function actorOf(text: string, signal: AbortSignal): Promise<string> {
  const response = await request("/actor", { signal }, text);
  return (parseJson(await response.text()) as { actor_id: string }).actor_id;
}

/** Loads bytes, or the part of them that the header Range of the request names. */
export function getBytes(path: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
  return request(path, { headers, signal: signal ?? null });
}

/** Sends a POST request with a JSON body. */
export function post<T>(path: string, body: unknown, signal?: AbortSignal, headers: Record<string, string> = {}): Promise<T> {
  return send<T>(path, {
    method: "POST",
    body: writeJson(body),
    headers: { "Content-Type": "application/json", ...headers },
    signal: signal ?? null,
  });
}

async function send<T>(path: string, init: RequestInit): Promise<T> {
  return parseJson(await (await request(path, init)).text()) as T;
}

// Sends a request with a token. It throws unless the answer is a success.
async function request(path: string, init: RequestInit, sent = token.value): Promise<Response> {
  const headers = new Headers(init.headers);
  if (sent) {
    headers.set("Authorization", "Bearer " + sent);
  }
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers, credentials: "omit", redirect: "error" });
  } catch (error) {
    if (init.signal?.aborted) {
      throw error;
    }
    throw new ApiError(0, "The server does not answer. Check that it runs, and try again.");
  }
  if (response.ok) {
    return response;
  }
  const text = await response.text();
  if (response.status === 401 && sent === token.value) {
    logOut(sent ? "The server does not accept the token any more. Log in again to go on where you were." : "");
  }
  throw refusal(response.status, text);
}

function refusal(status: number, text: string): ApiError {
  try {
    const body = parseJson(text) as Record<string, Json>;
    if (typeof body?.error === "string") {
      return new ApiError(status, body.error, body);
    }
  } catch {
    // The answer is not JSON, so it comes from a proxy and not from the server.
  }
  return new ApiError(status, "The server answered with status " + status + ".");
}
