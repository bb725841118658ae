// The legend of a scene: what the colours and sizes mean, and which types are shown.

import type { Type } from "./api";
import type { GraphEdge, GraphNode } from "./explored";
import { colouring, edgeColour, propertiesOf } from "./looks";
import { edgesSize, type Scene } from "./scene";
import { Text } from "./text";

export function Legend(props: { scene: Scene; types: Type[]; nodes: GraphNode[]; edges: GraphEdge[]; onChange: (step: (scene: Scene) => Scene) => void }) {
  const { scene, types, nodes, edges, onChange } = props;
  const { all, numbers } = propertiesOf(types, nodes);
  const { groups } = colouring(scene, types, nodes);
  const nodeTypes = count(types, nodes.map((n) => n.type));
  const edgeTypes = count(types, edges.map((e) => e.type));
  const toggle = (what: string) =>
    onChange((s) => ({ ...s, hidden: s.hidden.includes(what) ? s.hidden.filter((h) => h !== what) : [...s.hidden, what] }));
  return (
    <section class="legend">
      <h2>Legend</h2>
      <div class="row">
        <label>
          Colour by
          <select name="colour" value={scene.colour} onChange={(event) => ((value) => onChange((s) => ({ ...s, colour: value })))(event.currentTarget.value)}>
            <option value="">type</option>
            {[...new Set([...all, ...(scene.colour ? [scene.colour] : [])])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Size by
          <select name="size" value={scene.size} onChange={(event) => ((value) => onChange((s) => ({ ...s, size: value })))(event.currentTarget.value)}>
            <option value="">nothing</option>
            <option value={edgesSize}>number of shown edges</option>
            {[...new Set([...numbers, ...(scene.size && scene.size !== edgesSize ? [scene.size] : [])])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </div>
      {scene.colour !== "" && (
        <ul class="plain-list">
          {groups.map((g) => (
            <li key={g.text}>
              <Swatch colour={g.colour} /> <Text value={g.text} most={60} plain /> <span class="hint">{g.nodes}</span>
            </li>
          ))}
        </ul>
      )}
      <h3>Nodes</h3>
      <Kinds kinds={nodeTypes} kind="node" scene={scene} toggle={toggle} colour={scene.colour === "" ? (name) => groups.find((g) => g.type === name)?.colour : undefined} />
      <h3>Edges</h3>
      {edgeTypes.size === 0 && <p class="empty">No edges are between these nodes.</p>}
      <Kinds kinds={edgeTypes} kind="edge" scene={scene} toggle={toggle} colour={(name) => edgeColour(types, name)} />
      <p class="hint">A square is pinned. The node with the thick border is the one that the scene is about.</p>
    </section>
  );
}

function Kinds(props: { kinds: Map<string, number>; kind: "node" | "edge"; scene: Scene; toggle: (what: string) => void; colour: ((name: string) => string | undefined) | undefined }) {
  const { kinds, kind, scene, toggle, colour } = props;
  return (
    <ul class="plain-list">
      {[...kinds].map(([name, n]) => (
        <li key={name}>
          <label>
            <input type="checkbox" checked={!scene.hidden.includes(kind + " " + name)} onChange={() => toggle(kind + " " + name)} />{" "}
            {colour && <Swatch colour={colour(name)} line={kind === "edge"} />} {name} <span class="hint">{n}</span>
          </label>
        </li>
      ))}
    </ul>
  );
}

function Swatch(props: { colour: string | undefined; line?: boolean }) {
  return <span class={props.line ? "swatch line" : "swatch"} style={{ background: `var(${props.colour ?? "--group-other"})` }} />;
}

// Counts names of types. The types come in the order of the schema.
function count(types: Type[], names: string[]): Map<string, number> {
  const counts = new Map(types.map((t) => [t.name, 0]));
  for (const name of names) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return new Map([...counts].filter(([, n]) => n > 0));
}
