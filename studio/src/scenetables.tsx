// The tables of a scene: they have the same nodes and edges as the canvas, for users of the keyboard and of screen readers.

import { NodeLink, shortened } from "./entity";
import type { GraphEdge, GraphNode } from "./explored";
import type { Json } from "./json";
import { NodeButton } from "./nodedetails";
import { edgesSize, type Scene } from "./scene";
import { Table } from "./table";

const mostRows = 50; // of a table, until the user asks for more

export function SceneTables(props: {
  graph: string;
  scene: Scene;
  nodes: GraphNode[];
  edges: GraphEdge[];
  degrees: Map<string, number>;
  onChoose: (key: string) => void;
}) {
  const { graph, scene, nodes, edges, degrees, onChoose } = props;
  const byKey = new Map(nodes.map((n) => [n.key, n]));
  const shown = [...new Set([scene.colour, scene.size])].filter((name) => name !== "" && name !== edgesSize);
  const names = [...new Set(edges.flatMap((e) => Object.keys(e.values)))];
  return (
    <div class="lists scene-tables">
      <section>
        <h2>Nodes</h2>
        <Table
          label="Nodes of the scene"
          most={mostRows}
          rows={nodes}
          empty="No node is shown."
          columns={[
            { name: "node", value: (n) => n.label, view: (n) => <NodeButton node={n} onChoose={onChoose} /> },
            { name: "type", value: (n) => n.type },
            { name: "edges", value: (n) => degrees.get(n.key) ?? 0 },
            ...shown.map((name) => ({ name, value: (n: GraphNode): Json => shortened(name in n.values ? (n.values[name] ?? null) : "") })),
            { name: "in the scene", value: (n) => [n.key === scene.main && "what it is about", n.key in scene.pins && "pinned"].filter(Boolean).join(", ") },
            { name: "id", value: (n) => n.id, view: (n) => <NodeLink graph={graph} type={n.type} id={n.id} /> },
          ]}
        />
      </section>
      <section>
        <h2>Edges</h2>
        <Table
          label="Edges of the scene"
          most={mostRows}
          rows={edges}
          empty="No edge is shown."
          columns={[
            { name: "from", value: (e) => byKey.get(e.from)?.label ?? "", view: (e) => <NodeButton node={byKey.get(e.from)} onChoose={onChoose} /> },
            { name: "edge", value: (e) => e.type },
            { name: "to", value: (e) => byKey.get(e.to)?.label ?? "", view: (e) => <NodeButton node={byKey.get(e.to)} onChoose={onChoose} /> },
            ...names.map((name) => ({ name: "edge." + name, value: (e: GraphEdge): Json => shortened(name in e.values ? (e.values[name] ?? null) : "") })),
          ]}
        />
      </section>
    </div>
  );
}
