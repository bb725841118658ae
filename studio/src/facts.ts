// Facts about a graph that several pages show: its types, and how many entities they have.

import { get, pathOf, type End, type Snapshot, type Type } from "./api";
import { useLoad, type Loaded } from "./load";
import { target, targetParameters } from "./route";

/** Loads the types of the schema at a commit, or in the state of the graph that the page shows. */
export function useTypes(graph: string, commit = ""): Loaded<Type[]> {
  const { branch, at } = target.value;
  return useLoad(`types ${graph} ${branch} ${at} ${commit}`, async (signal) => {
    const parameters = commit ? { snapshot: commit } : targetParameters();
    const list = await get<{ types: Type[] }>(pathOf(graph, "/schema/types", parameters), signal);
    return list.types;
  });
}

/** Loads the number of entities of each type. A key consists of the type's kind, a space and its name. */
export function useCounts(graph: string): Loaded<Map<string, number>> {
  const { branch, at } = target.value;
  return useLoad(`counts ${graph} ${branch} ${at}`, async (signal) => {
    const snapshot = await get<Snapshot>(pathOf(graph, "/snapshot", targetParameters()), signal);
    return new Map(snapshot.datasets.map((d) => [d.entity_kind + " " + d.type_name, d.entity_count]));
  });
}

/**
 * Returns the node types that an end of an edge type stands for: the type with this name, or those that
 * implement the interface with this name.
 */
export function endTypes(name: string | undefined, types: Type[]): Type[] {
  const nodes = types.filter((t) => t.kind === "node");
  const named = nodes.filter((t) => t.name === name);
  return named.length > 0 ? named : nodes.filter((t) => name !== undefined && t.implements?.includes(name));
}

/** Reports whether the end of an edge type is an interface. */
export function isInterface(name: string | undefined, types: Type[]): boolean {
  return name !== undefined && !types.some((t) => t.kind === "node" && t.name === name);
}

/** Returns the text of an end of an edge: the id, and before it the type if the schema names an interface there. */
export function endText(end: End): string {
  return typeof end === "string" ? end : end.type + " " + end.id;
}
