// How the nodes and edges of a scene look: their colours by group, and their sizes.

import type { Type } from "./api";
import type { GraphEdge, GraphNode } from "./explored";
import { exploredProperties } from "./gql";
import { writeJson, type Json } from "./json";
import { edgesSize, type Scene } from "./scene";
import { visible } from "./text";

/** Nodes of one colour. */
export interface Group {
  text: string;
  colour: string; // the name of a custom property of CSS
  nodes: number;
  type?: string; // of the nodes, if the type determines the colour
}

const colours = 10; // --group-0 and so on, in style.css
const steps = 5; // --step-0 and so on
const otherColour = "--group-other";
const [smallest, usual, greatest] = [16, 24, 56]; // pixels

/** The colour of a type of edges. */
export function edgeColour(types: Type[], name: string): string {
  return "--group-" + ((types.filter((t) => t.kind === "edge").findIndex((t) => t.name === name) + 5) % colours);
}

const isNumber = (value: Json | undefined): value is number | bigint => typeof value === "number" || typeof value === "bigint";

/** Lists the properties that nodes of a scene have: all, and those that are numbers. */
export function propertiesOf(types: Type[], nodes: GraphNode[]): { all: string[]; numbers: string[] } {
  const used = new Set(nodes.map((n) => n.type));
  const properties = types.filter((t) => t.kind === "node" && used.has(t.name)).flatMap((t) => exploredProperties(t));
  return {
    all: [...new Set(properties.map((p) => p.name))],
    numbers: [...new Set(properties.filter((p) => /^([IU](32|64)|F(32|64))$/.test(p.kind) || nodes.some((n) => isNumber(n.values[p.name]))).map((p) => p.name))],
  };
}

/** Returns the colour of each node, and the groups for the legend. */
export function colouring(scene: Scene, types: Type[], nodes: GraphNode[]): { colourOf: (node: GraphNode) => string; groups: Group[] } {
  if (scene.colour === "") {
    const names = types.filter((t) => t.kind === "node").map((t) => t.name);
    const colourOf = (node: GraphNode) => "--group-" + (names.indexOf(node.type) % colours);
    return { colourOf, groups: grouped(nodes, colourOf, (n) => n.type).map((g) => ({ ...g, type: g.text })) };
  }
  const valueOf = (n: GraphNode) => n.values[scene.colour] ?? null;
  const numbers = nodes.map(valueOf).filter(isNumber).map(Number);
  if (numbers.length > 0 && new Set(numbers).size > colours) {
    const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
    const stepOf = (x: number) => Math.min(steps - 1, Math.floor(((x - least) / (most - least)) * steps));
    const bound = (i: number) => Number((least + ((most - least) * i) / steps).toPrecision(4)).toLocaleString("en");
    const colourOf = (n: GraphNode) => {
      const value = valueOf(n);
      return isNumber(value) ? "--step-" + stepOf(Number(value)) : otherColour;
    };
    const textOf = (n: GraphNode) => {
      const value = valueOf(n);
      return isNumber(value) ? `${bound(stepOf(Number(value)))} to ${bound(stepOf(Number(value)) + 1)}` : "no value";
    };
    return { colourOf, groups: grouped(nodes, colourOf, textOf).sort((a, b) => a.colour.localeCompare(b.colour)) };
  }
  const textOf = (n: GraphNode) => {
    const value = valueOf(n);
    return value === null ? "no value" : typeof value === "string" ? value : writeJson(value);
  };
  const counted = new Map<string, number>();
  for (const n of nodes) {
    counted.set(textOf(n), (counted.get(textOf(n)) ?? 0) + 1);
  }
  // The names come in their order, so that a colour does not change when a node is added.
  const frequent = [...counted].filter(([text]) => text !== "no value").sort((a, b) => b[1] - a[1]).slice(0, colours).map(([text]) => text).sort();
  const colourOf = (n: GraphNode) => (frequent.includes(textOf(n)) ? "--group-" + frequent.indexOf(textOf(n)) : otherColour);
  return { colourOf, groups: grouped(nodes, colourOf, (n) => (frequent.includes(textOf(n)) || valueOf(n) === null ? textOf(n) : "other values")) };
}

function grouped(nodes: GraphNode[], colourOf: (n: GraphNode) => string, textOf: (n: GraphNode) => string): Group[] {
  const groups = new Map<string, Group>();
  for (const n of nodes) {
    const text = textOf(n);
    const group = groups.get(text) ?? { text, colour: colourOf(n), nodes: 0 };
    group.nodes++;
    groups.set(text, group);
  }
  return [...groups.values()];
}

/** Returns the size of each node in pixels. */
export function sizing(scene: Scene, nodes: GraphNode[], degrees: Map<string, number>): (node: GraphNode) => number {
  if (scene.size === "") {
    return () => usual;
  }
  const amount = (n: GraphNode) => {
    const value = scene.size === edgesSize ? (degrees.get(n.key) ?? 0) : n.values[scene.size];
    return isNumber(value) ? Math.max(0, Number(value)) : null;
  };
  const most = Math.max(1e-9, ...nodes.map((n) => amount(n) ?? 0));
  // The area shows the amount.
  return (n) => {
    const value = amount(n);
    return value === null ? smallest : Math.round(smallest + (greatest - smallest) * Math.sqrt(value / most));
  };
}

/** Counts the edges of each node. */
export function degreesOf(edges: GraphEdge[]): Map<string, number> {
  const degrees = new Map<string, number>();
  for (const e of edges) {
    for (const key of new Set([e.from, e.to])) {
      degrees.set(key, (degrees.get(key) ?? 0) + 1);
    }
  }
  return degrees;
}

/** Returns the words that a search within the scene looks at. */
export function wordsOf(node: GraphNode): string {
  return visible(node.label + "\n" + node.id, 2000).toLowerCase();
}
