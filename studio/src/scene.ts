// A scene of Explore: which nodes stand on the canvas, and how they look. The scene is in the URL, compressed.

/** The most nodes and edges of a scene. */
export const mostNodes = 2000;
export const mostEdges = 5000;

/** The longest scene in a link. The server accepts 64 KiB of headers. */
const mostLink = 48_000;

/** The longest scene that is read from a link: a link can come from anybody, and a short one can unfold to gigabytes. */
const mostText = 4_000_000;

export interface Place {
  x: number;
  y: number;
}

export interface Scene {
  nodes: string[]; // keys, the first ones first
  main: string; // the key of the node that the scene is about, or ""
  pins: Record<string, Place>; // by key
  hidden: string[]; // "node NAME" or "edge NAME" of types that are not shown
  colour: string; // the property that determines the colour of nodes; "" stands for the type
  size: string; // the property that determines the size; "" for one size, edgesSize for the number of edges
}

export const emptyScene: Scene = { nodes: [], main: "", pins: {}, hidden: [], colour: "", size: "" };

/** The size by the number of edges. No property has this name. */
export const edgesSize = "#edges";

/** Returns the key of a node in a scene. */
export const keyOf = (type: string, id: string) => type + "\n" + id;

/** Returns the type and the id of the node with a key. */
export function partsOf(key: string): [type: string, id: string] {
  const end = key.indexOf("\n");
  return [key.slice(0, end), key.slice(end + 1)];
}

/** Adds nodes, as many as a scene can have. */
export function withNodes(scene: Scene, keys: string[]): Scene {
  const nodes = [...new Set([...scene.nodes, ...keys])].slice(0, mostNodes);
  return { ...scene, nodes, main: scene.main || (nodes[0] ?? "") };
}

/** Removes nodes. */
export function withoutNodes(scene: Scene, keys: Set<string>): Scene {
  const nodes = scene.nodes.filter((k) => !keys.has(k));
  return { ...scene, nodes, main: keys.has(scene.main) ? (nodes[0] ?? "") : scene.main, pins: Object.fromEntries(Object.entries(scene.pins).filter(([k]) => !keys.has(k))) };
}

// The form of a scene in a link. Nodes stand by type, so that the names of types do not repeat.
interface Link {
  n: [type: string, ids: string[]][];
  m?: [type: string, id: string];
  p?: [type: string, id: string, x: number, y: number][];
  h?: string[];
  c?: string;
  s?: string;
}

/** Returns the scene as a text for a link, or null if it is too long. */
export async function encodeScene(scene: Scene): Promise<string | null> {
  const byType = new Map<string, string[]>();
  for (const key of scene.nodes) {
    const [type, id] = partsOf(key);
    byType.set(type, [...(byType.get(type) ?? []), id]);
  }
  const link: Link = {
    n: [...byType],
    ...(scene.main && { m: partsOf(scene.main) }),
    ...(Object.keys(scene.pins).length > 0 && { p: Object.entries(scene.pins).map(([k, at]) => [...partsOf(k), Math.round(at.x), Math.round(at.y)]) }),
    ...(scene.hidden.length > 0 && { h: scene.hidden }),
    ...(scene.colour && { c: scene.colour }),
    ...(scene.size && { s: scene.size }),
  };
  const packed = new Blob([JSON.stringify(link)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  if ((bytes.length * 4) / 3 > mostLink) {
    return null;
  }
  let text = "";
  for (const byte of bytes) {
    text += String.fromCharCode(byte);
  }
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Reads a scene of a link. It returns null if the text is none. */
export async function decodeScene(text: string): Promise<Scene | null> {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).pipeThrough(new TextDecoderStream()).getReader();
    let json = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      json += part.value;
      if (json.length > mostText) {
        await reader.cancel();
        return null;
      }
    }
    return sceneOf(JSON.parse(json));
  } catch {
    return null;
  }
}

const isText = (value: unknown): value is string => typeof value === "string";

function sceneOf(link: Partial<Record<keyof Link, unknown>>): Scene {
  const lists = Array.isArray(link.n) ? link.n : [];
  const nodes = lists.flatMap(([type, ids]: [unknown, unknown]) => (isText(type) && Array.isArray(ids) ? ids.filter(isText).map((id) => keyOf(type, id)) : []));
  const main = Array.isArray(link.m) && isText(link.m[0]) && isText(link.m[1]) ? keyOf(link.m[0], link.m[1]) : "";
  const pins: Record<string, Place> = {};
  for (const [type, id, x, y] of Array.isArray(link.p) ? link.p : []) {
    if (isText(type) && isText(id) && Number.isFinite(x) && Number.isFinite(y)) {
      pins[keyOf(type, id)] = { x, y };
    }
  }
  const scene = withNodes({ ...emptyScene, main, pins }, nodes);
  return {
    ...scene,
    main: scene.nodes.includes(main) ? main : (scene.nodes[0] ?? ""),
    hidden: Array.isArray(link.h) ? link.h.filter(isText) : [],
    colour: isText(link.c) ? link.c : "",
    size: isText(link.s) ? link.s : "",
  };
}
