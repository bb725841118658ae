// The map of an import, as the form has it: which columns of a file the properties and the ends of edges have. The server proposes it,
// and checks what the form makes of it.

import type * as wire from "../../client/typescript/src/wire";
import { ApiError, exchange, get, pathOf, post, type Type } from "./api";
import { endTypes } from "./facts";
import { parseJson, writeJson, type Json } from "./json";

export type Proposal = wire.ImportProposal;
export type Loaded = wire.LoadAnswer;

/** What a property has: a column, and how its values are written. */
export type Reads = Record<string, Json>;
export type Sets = Record<string, Reads>;
type End = Record<string, Sets>;
type Mapping = { node: string; set?: Sets } | { edge: string; from: End; to: End; set?: Sets };

/** An end of an edge that columns name. */
export interface Ref {
  edge: string;
  out: boolean; // the other end is the target
  type: string; // of the node at the other end
  by: string[]; // the properties that identify it
}

/** What a file becomes. */
export interface Draft {
  type: string; // "node Port" or "edge Call"; "" for none yet
  set: Sets;
  ends: Record<string, Sets>; // by keyOf: the columns of the other ends
}

export function keyOf(r: Ref): string {
  return [r.edge, r.out ? "to" : "from", r.type].join(" ");
}

/** Returns the ends that a type can have: of a node type, the other ends of its edges, and of an edge type, both. */
export function refsOf(type: Type, types: Type[]): Ref[] {
  const ends = (edge: Type, out: boolean) => endTypes(out ? edge.to : edge.from, types).map((t): Ref => ({ edge: edge.name, out, type: t.name, by: t.key ?? ["id"] }));
  if (type.kind === "edge") {
    return [...ends(type, false), ...ends(type, true)];
  }
  return types
    .filter((t) => t.kind === "edge" && type.key)
    .flatMap((e) => [
      ...(endTypes(e.from, types).includes(type) ? ends(e, true) : []),
      ...(endTypes(e.to, types).includes(type) ? ends(e, false) : []),
    ]);
}

/** Returns the form of the map that the server proposes. */
export function draftOf(map: string): Draft {
  const none: Draft = { type: "", set: {}, ends: {} };
  if (map === "") {
    return none;
  }
  const { sources } = parseJson(map) as unknown as { sources: Record<string, Mapping[]> };
  for (const m of Object.values(sources)[0] ?? []) {
    const isOwn = none.type === "";
    if (isOwn) {
      none.type = "node" in m ? "node " + m.node : "edge " + m.edge;
      none.set = m.set ?? {};
    }
    if ("edge" in m) {
      for (const [out, end] of [[false, m.from], [true, m.to]] as const) {
        for (const [type, by] of Object.entries(end)) {
          const isSelf = !isOwn && none.type === "node " + type && Object.entries(by).every(([p, c]) => none.set[p]?.column === c.column);
          if (!isSelf) {
            none.ends[keyOf({ edge: m.edge, out, type, by: [] })] = by;
          }
        }
      }
    }
  }
  return none;
}

/** Returns a draft for another type: the columns whose names are those of its properties. */
export function retyped(type: Type | undefined, proposal: Proposal): Draft {
  const set: Sets = {};
  for (const p of type?.properties ?? []) {
    const column = proposal.columns.find((c) => c.property === p.name);
    if (column) {
      set[p.name] = column.reads as Reads;
    }
  }
  return { type: type ? type.kind + " " + type.name : "", set, ends: {} };
}

/** Returns the map as the text that the server takes. */
export function mapOf(file: string, draft: Draft, type: Type, refs: Ref[]): string {
  const named = refs.filter((r) => r.by.every((p) => draft.ends[keyOf(r)]?.[p]));
  const other = (r: Ref): End => ({ [r.type]: draft.ends[keyOf(r)] ?? {} });
  let maps: Mapping[];
  if (type.kind === "edge") {
    const [from, to] = [false, true].map((out) => named.find((r) => r.out === out));
    maps = [{ edge: type.name, set: draft.set, from: from ? other(from) : {}, to: to ? other(to) : {} }];
  } else {
    const own: End = { [type.name]: Object.fromEntries((type.key ?? []).flatMap((p) => (draft.set[p] ? [[p, draft.set[p]]] : []))) };
    maps = [{ node: type.name, set: draft.set }, ...named.map((r) => (r.out ? { edge: r.edge, from: own, to: other(r) } : { edge: r.edge, from: other(r), to: own }))];
  }
  return writeJson({ sources: { [file]: maps } });
}

const piece = 4 << 20; // bytes of a file that one request sends

/** Sends a file in pieces. It returns the id under which the server keeps it for a day. */
export async function upload(graph: string, branch: string, file: File, onOpened: (id: string) => void, onSent: (bytes: number) => void, signal: AbortSignal): Promise<string> {
  const opened = await exchange(pathOf(graph, "/uploads", { branch }), { method: "POST", headers: { "Upload-Length": String(file.size) }, signal });
  const id = (opened.headers.get("Location") ?? "").split("/").pop();
  if (!id) {
    throw new ApiError(0, "The server did not say where to send the file.");
  }
  onOpened(id);
  for (let at = 0; at < file.size; at += piece) {
    await exchange(pathOf(graph, "/uploads/" + id), {
      method: "PATCH",
      headers: { "Content-Type": "application/offset+octet-stream", "Upload-Offset": String(at) },
      body: file.slice(at, at + piece),
      signal,
    });
    onSent(Math.min(at + piece, file.size));
  }
  return id;
}

/** Lets the server forget a file. Without it the server does so after a day. */
export function forget(graph: string, id: string) {
  exchange(pathOf(graph, "/uploads/" + id), { method: "DELETE", keepalive: true }).catch(() => undefined);
}

/** Asks each second how many records the server has read of a file, until the signal ends. */
export async function progress(graph: string, id: string, onRead: (records: number) => void, signal: AbortSignal) {
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    try {
      const { records_read: read } = await get<wire.Upload>(pathOf(graph, "/uploads/" + id), signal);
      if (!signal.aborted && read) {
        onRead(read);
      }
    } catch {
      // The request that waits for the file says what is wrong.
    }
  }
}

export function infer(graph: string, id: string, file: string, branch: string, signal: AbortSignal): Promise<Proposal> {
  return post<Proposal>(pathOf(graph, `/uploads/${id}/infer`), { file_name: file, ...(branch ? { branch } : {}) }, signal);
}
