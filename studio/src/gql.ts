// The GQ queries that the studio uses to look at entities. The names in a query come from the schema,
// and the values are parameters, so no text that a user types becomes part of a query.

import type { Property, Type } from "./api";
import { endTypes } from "./facts";

/** The most code points of a text that a list shows. A query asks for one more, to find out if the text is longer. */
export const listedLength = 160;

/** Returns the properties that a list of entities shows: the first ones whose values fit into a cell. */
export function listedProperties(type: Type, most = 5): Property[] {
  return type.properties.filter((p) => p.kind !== "Blob" && p.kind !== "Vector" && !p.list && !isKeyAlone(type, p)).slice(0, most);
}

// Reports whether a property alone is the key of the type. The id of a node is then the text of that
// property, so a list that has the id does not need the property.
function isKeyAlone(type: Type, p: Property): boolean {
  return type.key?.length === 1 && type.key[0] === p.name;
}

// Returns the text of a column in a list. It cuts values of type String to their beginning, so that a
// list does not fetch megabytes.
function listed(variable: string, p: Property, column: string): string {
  const operand = `$${variable}.${p.name}`;
  return (p.kind === "String" && !p.enum ? `substring(${operand}, 0, ${listedLength + 1})` : operand) + ` as ${column}`;
}

/** Returns the name of column i. It contains a number and not the name of the property, which another column could have. */
export const columnName = (i: number) => "c" + i;

/** Returns the query that finds nodes of a type by their whole id or by a part of a text. */
export function searchQuery(type: Type, words: boolean, limit: number): string {
  const texts = type.properties.filter((p) => p.kind === "String" && !p.list && !p.enum);
  const conditions = ["$n.id = $exact", ...texts.map((p) => `lower($n.${p.name}) contains $part`)];
  const columns = listedProperties(type).map((p, i) => listed("n", p, columnName(i)));
  return [
    words ? "query search($exact: String, $part: String) {" : "query search() {",
    `  match { $n: ${type.name}${words ? ` any { ${conditions.join("  ")} }` : ""} }`,
    `  return { ${["$n.id as id", ...columns].join(", ")} }`,
    `  limit ${limit}`,
    "}",
  ].join("\n");
}

/** Returns the query that reads a whole node, except its Blobs. */
export function nodeQuery(type: Type): string {
  return `query node($id: String) {\n  match { $n: ${type.name}  $n.id = $id }\n  return { $n }\n  limit 1\n}`;
}

/** A way from a node to its neighbours: an edge type and a direction. */
export interface Way {
  edge: Type;
  out: boolean;
  other: Type;
}

/** Lists the ways from the nodes of a type to their neighbours. */
export function waysOf(type: Type, types: Type[]): Way[] {
  return types.flatMap((edge) => {
    if (edge.kind !== "edge") {
      return [];
    }
    const from = endTypes(edge.from, types);
    const to = endTypes(edge.to, types);
    return [
      ...(from.includes(type) ? to.map((other) => ({ edge, out: true, other })) : []),
      ...(to.includes(type) ? from.map((other) => ({ edge, out: false, other })) : []),
    ];
  });
}

/** Returns the property whose value is the best label of a node, or none if the id is a better label. */
export function labelProperty(type: Type): Property | undefined {
  const texts = type.properties.filter((p) => p.kind === "String" && !p.list && !p.enum && !isKeyAlone(type, p));
  return texts.find((p) => /^(title|name|label)$/i.test(p.name));
}

/** Returns the properties of an edge that a list of neighbours shows. */
export function edgeProperties(edge: Type): Property[] {
  return listedProperties(edge, 4);
}

/** Returns the query that lists the neighbours of a node along one way. */
export function neighboursQuery(type: Type, way: Way, limit: number): string {
  const name = way.edge.name.charAt(0).toLowerCase() + way.edge.name.slice(1);
  const label = labelProperty(way.other);
  const columns = [
    "$m.id as id",
    ...(label ? [listed("m", label, "label")] : []),
    ...edgeProperties(way.edge).map((p, i) => listed("e", p, columnName(i))),
  ];
  return [
    "query neighbours($id: String) {",
    "  match {",
    `    $n: ${type.name}`,
    `    $m: ${way.other.name}`,
    "    $n.id = $id",
    way.out ? `    $n $e:${name} $m` : `    $m $e:${name} $n`,
    "  }",
    `  return { ${columns.join(", ")} }`,
    `  limit ${limit}`,
    "}",
  ].join("\n");
}

/** The properties of a node that Explore asks for. */
export function exploredProperties(type: Type): Property[] {
  return listedProperties(type, 12);
}

const variableOf = (edge: Type) => edge.name.charAt(0).toLowerCase() + edge.name.slice(1);

/** Returns the query that reads the nodes with the given ids. */
export function nodesQuery(type: Type, limit: number): string {
  const columns = exploredProperties(type).map((p, i) => listed("n", p, columnName(i)));
  return `query nodes($ids: [String]) {\n  match { $n: ${type.name}  $n.id in $ids }\n  return { ${["$n.id as id", ...columns].join(", ")} }\n  limit ${limit}\n}`;
}

/** Returns the query that reads the edges of a type from some nodes to others. */
export function edgesQuery(edge: Type, from: Type, to: Type, limit: number): string {
  const columns = edgeProperties(edge).map((p, i) => listed("e", p, columnName(i)));
  return [
    "query edges($from: [String], $to: [String]) {",
    `  match { $a: ${from.name}  $b: ${to.name}  $a.id in $from  $b.id in $to  $a $e:${variableOf(edge)} $b }`,
    `  return { ${["$e.id as edge", "$a.id as source", "$b.id as target", ...columns].join(", ")} }`,
    `  limit ${limit}`,
    "}",
  ].join("\n");
}

// The pattern that leads from $n along a way to $m.
function alongWay(type: Type, way: Way): string {
  const name = variableOf(way.edge);
  return `$n: ${type.name}  $m: ${way.other.name}  ` + (way.out ? `$n $e:${name} $m` : `$m $e:${name} $n`);
}

/** Returns the query that counts the edges of a node along a way. */
export function countQuery(type: Type, way: Way): string {
  return `query number($id: String) {\n  match { ${alongWay(type, way)}  $n.id = $id }\n  return { count($e.id) as edges }\n  limit 1\n}`;
}

/** Returns the query that reads ids of neighbours of some nodes along a way, without those that are known. */
export function hopQuery(type: Type, way: Way, limit: number): string {
  return [
    "query hop($ids: [String], $known: [String]) {",
    `  match { ${alongWay(type, way)}  $n.id in $ids  not { $m.id in $known } }`,
    "  return { $n.id as source, $m.id as target }",
    `  limit ${limit}`,
    "}",
  ].join("\n");
}
