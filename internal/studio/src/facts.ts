// Facts about a graph that several pages show: its types, and how many entities they have.

import { get, pathOf, type Snapshot, type Type } from "./api";
import { useLoad, type Loaded } from "./load";
import { target, targetParameters } from "./route";

/** Loads the types of the schema. */
export function useTypes(graph: string): Loaded<Type[]> {
  const { branch, at } = target.value;
  return useLoad(`types ${graph} ${branch} ${at}`, async (signal) => {
    const list = await get<{ types: Type[] }>(pathOf(graph, "/schema/types", targetParameters()), signal);
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
