// The drawing of a node and its neighbours. The tables below it have the same data.

import type { Type } from "./api";
import { Drawing, type DrawnEdge, type DrawnNode } from "./drawing";
import { mostDrawn, nodeHref, type Neighbours } from "./entity";

export function Neighbourhood(props: { graph: string; type: Type; id: string; all: Neighbours[] }) {
  const { graph, type, id, all } = props;
  const key = (typeName: string, nodeId: string) => typeName + "\n" + nodeId;
  const centre = key(type.name, id);
  const nodes = new Map<string, DrawnNode>([[centre, { id: centre, text: id, href: nodeHref(graph, type.name, id), main: true }]]);
  const edges = new Map<string, DrawnEdge>();
  let left = 0;
  for (const { way, rows } of all) {
    for (const row of rows) {
      const other = String(row.id);
      const k = key(way.other.name, other);
      if (!nodes.has(k)) {
        if (nodes.size >= mostDrawn) {
          left++;
          continue;
        }
        nodes.set(k, { id: k, text: typeof row.label === "string" ? row.label : other, href: nodeHref(graph, way.other.name, other) });
      }
      const edge = way.out ? { from: centre, to: k, text: way.edge.name } : { from: k, to: centre, text: way.edge.name };
      if (edge.from === edge.to) {
        continue; // only the tables show an edge from a node to itself
      }
      edges.set(way.edge.name + "\n" + edge.from + "\n" + edge.to, edge);
    }
  }
  return (
    <div>
      <Drawing label="The node and its neighbours; the tables have the same data" direction="LR" nodes={[...nodes.values()]} edges={[...edges.values()]} />
      {left > 0 && <p class="empty">The drawing has room for {mostDrawn} nodes; {left} more are in the tables.</p>}
    </div>
  );
}
