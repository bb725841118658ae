// Requests to the public routes of the server. The types of answers come from the server's OpenAPI document, as wire.ts of the
// TypeScript client has them. Only types with values of the graph stand here, because the client reads those without bigints.

import type * as wire from "../../client/typescript/src/wire";
import { parseJson, writeJson, type Json } from "./json";
import { logOut, token } from "./session";

export type Commit = wire.CommitAnswer;

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

export type Snapshot = wire.SnapshotAnswer;

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

export type Decision = wire.AccessDecision;

export type Access = wire.AccessAnswer;

export type Tally = wire.CallTally;

export type CallSummary = wire.AuditSummary;

/** A call in the audit trail. The JSON of the studio has bigints too. */
export type CallRecord = Omit<wire.AuditRecord, "arguments"> & { arguments?: Json };

export type GrowthPoint = wire.GrowthPoint;

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
export type AssistAnswer = Omit<wire.AssistAnswer, "queries"> & { queries?: AssistQuery[] };

export type Explained = wire.Explained;

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

/** Sends a request whose body or answer is no JSON. */
export function exchange(path: string, init: RequestInit): Promise<Response> {
  return request(path, init);
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
