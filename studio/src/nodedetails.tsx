// What Explore says about the chosen node or edge, and what can be done with it.

import type { ComponentChildren, Ref } from "preact";
import { NodeLink, shortened } from "./entity";
import { countEdges, type GraphEdge, type GraphNode, type Source } from "./explored";
import type { Way } from "./gql";
import type { Json } from "./json";
import { Show, useLoad } from "./load";
import { targetMembers } from "./route";
import { Value } from "./table";
import { Text } from "./text";

interface Props {
  source: Source;
  node: GraphNode;
  edges: GraphEdge[]; // all that are shown
  pinned: boolean;
  start: GraphNode | undefined; // of a path
  busy: boolean;
  heading: Ref<HTMLHeadingElement>;
  onExpand: (way: Way) => void;
  onCollapse: () => void;
  onPin: () => void;
  onRemove: () => void;
  onStart: () => void;
  onPaths: () => void;
}

export function NodeDetails(props: Props) {
  const { source, node, edges, pinned, start, busy, heading } = props;
  return (
    <section class="details">
      <h2 ref={heading} tabIndex={-1}>
        <Text value={node.label} most={120} plain />
      </h2>
      <p>
        <Text value={node.type} plain /> · <NodeLink graph={source.graph} type={node.type} id={node.id} />
      </p>
      <div class="row">
        <Action onClick={props.onPin}>{pinned ? "Unpin" : "Pin"}</Action>
        <Action onClick={props.onCollapse}>Collapse</Action>
        <Action onClick={props.onRemove}>Remove</Action>
        {start && start.key !== node.key ? (
          <Action onClick={props.onPaths} disabled={busy}>
            Find paths from <Text value={start.label} most={24} plain />
          </Action>
        ) : (
          <Action onClick={props.onStart} disabled={start !== undefined}>
            {start ? "Choose the end of the path" : "Start of a path"}
          </Action>
        )}
      </div>
      <h3>Neighbours</h3>
      <Ways source={source} node={node} edges={edges} busy={busy} onExpand={props.onExpand} />
      <h3>Properties</h3>
      <Values values={node.values} />
    </section>
  );
}

function Action(props: { onClick: () => void; disabled?: boolean; children: ComponentChildren }) {
  return (
    <button type="button" class="quiet" disabled={props.disabled} onClick={props.onClick}>
      {props.children}
    </button>
  );
}

function Ways(props: { source: Source; node: GraphNode; edges: GraphEdge[]; busy: boolean; onExpand: (way: Way) => void }) {
  const { source, node, edges, busy, onExpand } = props;
  const degrees = useLoad(`degrees ${source.graph} ${JSON.stringify(targetMembers())} ${node.key}`, (signal) => countEdges(source, node.key, signal));
  return (
    <Show of={degrees}>
      {(all) => (
        <>
          {all.length === 0 && <p class="empty">The node has no edges.</p>}
          <ul class="plain-list ways">
            {all.map(({ way, edges: total }) => {
              const here = edges.filter((e) => e.type === way.edge.name && (way.out ? e.from === node.key && e.to.startsWith(way.other.name + "\n") : e.to === node.key && e.from.startsWith(way.other.name + "\n"))).length;
              return (
                <li key={way.edge.name + way.out + way.other.name}>
                  <button type="button" class="quiet" disabled={busy || here >= total} onClick={() => onExpand(way)}>
                    {way.out ? "→" : "←"} {way.edge.name} {way.out ? "to" : "from"} {way.other.name}
                  </button>
                  <span class="hint">
                    {here >= total ? (total === 1 ? "the one edge is shown" : `all ${total} are shown`) : `${here.toLocaleString("en")} of ${total.toLocaleString("en")} shown`}
                  </span>
                </li>
              );
            })}
          </ul>
        </>
      )}
    </Show>
  );
}

/** Shows the values of a node or of an edge. */
export function Values(props: { values: Record<string, Json> }) {
  const given = Object.entries(props.values);
  if (given.length === 0) {
    return <p class="empty">It has no properties that a list shows.</p>;
  }
  return (
    <dl class="values">
      {given.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Value value={shortened(value)} most={200} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Shows the chosen edge. */
export function EdgeDetails(props: { edge: GraphEdge; nodes: Map<string, GraphNode>; onChoose: (key: string) => void }) {
  const { edge, nodes, onChoose } = props;
  return (
    <section class="details">
      <h2>{edge.type}</h2>
      <p>
        <NodeButton node={nodes.get(edge.from)} onChoose={onChoose} /> → <NodeButton node={nodes.get(edge.to)} onChoose={onChoose} />
      </p>
      <Values values={edge.values} />
    </section>
  );
}

/** A button with the label of a node that chooses the node. */
export function NodeButton(props: { node: GraphNode | undefined; onChoose: (key: string) => void }) {
  const { node, onChoose } = props;
  return node ? (
    <button type="button" class="plain" onClick={() => onChoose(node.key)}>
      <Text value={node.label} most={80} plain />
    </button>
  ) : null;
}
