// Drawings of nodes and edges: dagre computes their positions, and SVG shows them. Everything in a
// drawing is also in a table near it, because screen readers and some people cannot read a drawing.

import dagre from "@dagrejs/dagre";
import { useLayoutEffect, useRef } from "preact/hooks";
import { visible } from "./text";

export interface DrawnNode {
  id: string;
  text: string;
  href: string;
  main?: boolean; // the node that the drawing is about
  details?: string[]; // further lines
}

export interface DrawnEdge {
  from: string;
  to: string;
  text: string;
}

const letter = 7.4; // the width of a letter in pixels, at the font size of the style sheet
const textLength = 26; // the longest text of a node, in UTF-16 units
const lineHeight = 17;

/**
 * Shows nodes and edges. The label describes the drawing. A drawing cannot show an edge from a node to
 * itself; mention such an edge in the details of the node.
 */
export function Drawing(props: { label: string; nodes: DrawnNode[]; edges: DrawnEdge[]; direction: "LR" | "TB" }) {
  const { label, nodes, edges, direction } = props;
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: direction, nodesep: 14, ranksep: 40, edgesep: 10, marginx: 8, marginy: 8 });
  for (const n of nodes) {
    const lines = [shortText(n.text), ...(n.details ?? []).map((line) => visible(line))];
    graph.setNode(n.id, { width: Math.max(...lines.map((line) => line.length)) * letter + 24, height: lines.length * lineHeight + 12 });
  }
  edges.forEach((e, i) => {
    graph.setEdge(e.from, e.to, { width: e.text.length * letter, height: lineHeight, labelpos: "c" }, String(i));
  });
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const box = useRef<HTMLDivElement>(null);
  const main = nodes.find((n) => n.main)?.id;
  // A large drawing first shows the node that it is about.
  useLayoutEffect(() => {
    if (box.current && main !== undefined) {
      const { x, y } = graph.node(main);
      box.current.scrollTo(x - box.current.clientWidth / 2, y - box.current.clientHeight / 2);
    }
  }, [main]);
  return (
    <div ref={box} class="drawing scroll" role="region" aria-label={label} tabIndex={0}>
      <svg width={Math.ceil(width)} height={Math.ceil(height)} viewBox={`0 0 ${Math.ceil(width)} ${Math.ceil(height)}`} role="group" aria-label={label}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse">
            <path d="M0 0 L8 4 L0 8 z" class="arrow" />
          </marker>
        </defs>
        {edges.map((e, i) => {
          const placed = graph.edge({ v: e.from, w: e.to, name: String(i) });
          const points = (placed.points as { x: number; y: number }[]).map((p, k) => `${k === 0 ? "M" : "L"}${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join(" ");
          return (
            <g key={i} class="edge" aria-hidden="true">
              <path d={points} marker-end="url(#arrow)" />
              {e.text && (
                <text x={placed.x} y={placed.y} text-anchor="middle" dominant-baseline="central">
                  {visible(e.text)}
                </text>
              )}
            </g>
          );
        })}
        {nodes.map((n) => {
          const { x, y, width: w, height: h } = graph.node(n.id);
          return (
            <a key={n.id} href={n.href} class={n.main ? "node main" : "node"}>
              <title>{visible(n.text, 200)}</title>
              <rect x={x - w / 2} y={y - h / 2} width={w} height={h} rx="6" />
              {[shortText(n.text), ...(n.details ?? []).map((line) => visible(line))].map((line, i) => (
                <text key={i} class={i > 0 ? "detail" : undefined} x={x} y={y - h / 2 + 6 + (i + 0.5) * lineHeight} text-anchor="middle" dominant-baseline="central">
                  {line}
                </text>
              ))}
            </a>
          );
        })}
      </svg>
    </div>
  );
}

/** Shortens a text in the middle, because the names of one package differ only at their ends. */
export function shortText(text: string): string {
  const line = visible(text).replace(/\s+/g, " ");
  if (line.length <= textLength) {
    return line;
  }
  const points = [...line];
  return points.slice(0, 10).join("") + "…" + points.slice(-(textLength - 11)).join("");
}
