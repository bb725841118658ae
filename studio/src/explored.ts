// The data of Explore: nodes, the edges between them, their neighbours, and the paths between two nodes. Everything
// comes from queries that the caller may run, so it is what the caller may see.

import { pathOf, post, type Row, type Rows, type Type } from "./api";
import { endTypes } from "./facts";
import { columnName, countQuery, edgeProperties, edgesQuery, exploredProperties, hopQuery, labelProperty, nodesQuery, waysOf, type Way } from "./gql";
import type { Json } from "./json";
import { inTurn } from "./limit";
import { targetMembers } from "./route";
import { keyOf, mostEdges, partsOf } from "./scene";

export interface GraphNode {
  key: string;
  type: string;
  id: string;
  label: string;
  values: Record<string, Json>; // by property
}

export interface GraphEdge {
  key: string;
  type: string;
  from: string; // the key of a node
  to: string;
  values: Record<string, Json>;
}

/** A graph of which data is asked, with the types of its schema. */
export interface Source {
  graph: string;
  types: Type[];
}

/** The most ids in one request, so that its body stays below the limit of the server. */
const batch = 1000;

function ask(source: Source, query: string, params: Record<string, Json>, signal: AbortSignal): Promise<Row[]> {
  return inTurn(signal, async () => (await post<Rows>(pathOf(source.graph, "/query"), { query, params, ...targetMembers() }, signal)).rows);
}

function parts<T>(list: T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / batch) }, (_, i) => list.slice(i * batch, (i + 1) * batch));
}

/** Returns the ids of nodes by their types. Types that the schema does not have are left out. */
function idsByType(source: Source, keys: Iterable<string>): Map<Type, string[]> {
  const ids = new Map<Type, string[]>();
  const byName = new Map(source.types.filter((t) => t.kind === "node").map((t) => [t.name, t]));
  for (const key of keys) {
    const [name, id] = partsOf(key);
    const type = byName.get(name);
    if (type) {
      const list = ids.get(type);
      list ? list.push(id) : ids.set(type, [id]);
    }
  }
  return ids;
}

/** Loads nodes. Those that do not exist, or that the caller may not see, are left out. */
export async function loadNodes(source: Source, keys: string[], signal: AbortSignal): Promise<GraphNode[]> {
  const requests = [...idsByType(source, keys)].flatMap(([type, ids]) =>
    parts(ids).map(async (some) => {
      const properties = exploredProperties(type);
      const label = labelProperty(type);
      const rows = await ask(source, nodesQuery(type, batch), { ids: some }, signal);
      return rows.map((row): GraphNode => {
        const id = String(row.id);
        const values = Object.fromEntries(properties.map((p, i) => [p.name, row[columnName(i)] ?? null]));
        const given = label && values[label.name];
        return { key: keyOf(type.name, id), type: type.name, id, label: typeof given === "string" && given !== "" ? given : id, values };
      });
    }),
  );
  return (await Promise.all(requests)).flat();
}

/** Loads the edges between nodes that have at least one end among the added ones. */
export async function loadEdges(source: Source, added: string[], old: string[], signal: AbortSignal): Promise<{ edges: GraphEdge[]; more: boolean }> {
  const [fresh, known] = [idsByType(source, added), idsByType(source, old)];
  const edges = new Map<string, GraphEdge>();
  let more = false;
  const load = async (edge: Type, from: Type, to: Type, fromIds: string[], toIds: string[]) => {
    const rows = await ask(source, edgesQuery(edge, from, to, mostEdges + 1), { from: fromIds, to: toIds }, signal);
    more ||= rows.length > mostEdges;
    for (const row of rows) {
      const values = Object.fromEntries(edgeProperties(edge).map((p, i) => [p.name, row[columnName(i)] ?? null]));
      const key = keyOf(edge.name, String(row.edge));
      edges.set(key, { key, type: edge.name, from: keyOf(from.name, String(row.source)), to: keyOf(to.name, String(row.target)), values });
    }
  };
  const requests: Promise<void>[] = [];
  for (const edge of source.types.filter((t) => t.kind === "edge")) {
    for (const from of endTypes(edge.from, source.types)) {
      for (const to of endTypes(edge.to, source.types)) {
        const [newFrom, newTo, oldFrom, oldTo] = [fresh.get(from) ?? [], fresh.get(to) ?? [], known.get(from) ?? [], known.get(to) ?? []];
        for (const [a, b] of [[newFrom, newTo], [newFrom, oldTo], [oldFrom, newTo]] as const) {
          for (const some of parts(a)) {
            for (const others of parts(b)) {
              requests.push(load(edge, from, to, some, others));
            }
          }
        }
      }
    }
  }
  await Promise.all(requests);
  return { edges: [...edges.values()], more };
}

export interface Degree {
  way: Way;
  edges: number;
}

/** Counts the edges of a node along each way. Ways without edges are left out. */
export async function countEdges(source: Source, key: string, signal: AbortSignal): Promise<Degree[]> {
  const [name, id] = partsOf(key);
  const type = source.types.find((t) => t.kind === "node" && t.name === name);
  if (!type) {
    return [];
  }
  const counted = waysOf(type, source.types).map(async (way) => ({ way, edges: Number((await ask(source, countQuery(type, way), { id }, signal))[0]?.edges ?? 0) }));
  return (await Promise.all(counted)).filter((d) => d.edges > 0);
}

/** Returns neighbours of a node along a way that are not in the scene yet. */
export async function newNeighbours(source: Source, key: string, way: Way, shown: string[], most: number, signal: AbortSignal): Promise<string[]> {
  const [name, id] = partsOf(key);
  const type = source.types.find((t) => t.kind === "node" && t.name === name);
  if (!type) {
    return [];
  }
  const known = [...(idsByType(source, shown).get(way.other) ?? []), ...(way.other === type ? [id] : [])];
  // Parallel edges lead to one node, so the query asks for more rows than nodes.
  const rows = await ask(source, hopQuery(type, way, 4 * most), { ids: [id], known }, signal);
  return [...new Set(rows.map((row) => keyOf(way.other.name, String(row.target))))].slice(0, most);
}

/** The most edges that a search for paths follows from one side. */
export const mostHops = 4;

const mostFrontier = 400; // nodes from which one step of the search goes on
const mostStep = 4000; // edges that one query of the search reads
const mostPaths = 20;

export interface Paths {
  paths: string[][]; // keys, from the one end to the other
  whole: boolean; // the search has seen all edges within its reach
}

/** One side of the search: the nodes that it has reached, each with the nodes before it. */
interface Side {
  reached: Map<string, string[]>;
  frontier: string[];
}

/** Finds shortest paths between two nodes over edges in either direction, without types that are hidden. */
export async function findPaths(source: Source, from: string, to: string, hidden: string[], signal: AbortSignal): Promise<Paths> {
  const sides: [Side, Side] = [
    { reached: new Map([[from, []]]), frontier: [from] },
    { reached: new Map([[to, []]]), frontier: [to] },
  ];
  let whole = true;
  for (let steps = 0; steps < 2 * mostHops; steps++) {
    const turn = sides[0].frontier.length <= sides[1].frontier.length ? 0 : 1;
    const side = sides[turn];
    const other = sides[1 - turn] as Side;
    if (side.frontier.length > mostFrontier) {
      side.frontier = side.frontier.slice(0, mostFrontier);
      whole = false;
    }
    const { next, all } = await step(source, side, hidden, signal);
    whole &&= all;
    for (const [key, before] of next) {
      side.reached.set(key, before);
    }
    side.frontier = [...next.keys()];
    const meeting = side.frontier.filter((k) => other.reached.has(k));
    if (meeting.length > 0) {
      const paths = meeting.flatMap((k) => ways(sides[0], k).flatMap((a) => ways(sides[1], k).map((b) => [...a.toReversed(), ...b.slice(1)])));
      return { paths: paths.slice(0, mostPaths), whole: whole && paths.length <= mostPaths };
    }
    if (side.frontier.length === 0) {
      break;
    }
  }
  return { paths: [], whole };
}

// Lists ways from a node back to the end of a side.
function ways(side: Side, key: string): string[][] {
  const before = side.reached.get(key) ?? [];
  return before.length === 0 ? [[key]] : before.flatMap((k) => ways(side, k).map((way) => [key, ...way])).slice(0, mostPaths);
}

// Follows all edges of a frontier.
async function step(source: Source, side: Side, hidden: string[], signal: AbortSignal) {
  const next = new Map<string, string[]>();
  let all = true;
  const known = idsByType(source, side.reached.keys());
  const requests = [...idsByType(source, side.frontier)].flatMap(([type, ids]) =>
    waysOf(type, source.types)
      .filter((way) => !hidden.includes("edge " + way.edge.name) && !hidden.includes("node " + way.other.name))
      .map(async (way) => {
        const rows = await ask(source, hopQuery(type, way, mostStep), { ids, known: known.get(way.other) ?? [] }, signal);
        all &&= rows.length < mostStep;
        for (const row of rows) {
          const [key, before] = [keyOf(way.other.name, String(row.target)), keyOf(type.name, String(row.source))];
          const known = next.get(key);
          if (!known) {
            next.set(key, [before]);
          } else if (!known.includes(before)) {
            known.push(before);
          }
        }
      }),
  );
  await Promise.all(requests);
  return { next, all };
}
