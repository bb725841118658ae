// The canvas of Explore in the page. Cytoscape.js, which draws it, loads when a scene has nodes.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Canvas, CanvasEdge, CanvasNode, CanvasOptions } from "./canvas";

export interface CanvasProps extends CanvasOptions {
  label: string; // for screen readers
  nodes: CanvasNode[];
  edges: CanvasEdge[];
  near: string | null;
  chosen: string | null;
  marked: Set<string>;
  onReady: (canvas: Canvas | null) => void;
}

export function CanvasView(props: CanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const [canvas, setCanvas] = useState<Canvas | null>(null);
  const [fault, setFault] = useState("");
  useEffect(() => {
    let opened: Canvas | null = null;
    let gone = false;
    import("./canvas").then(
      ({ openCanvas }) => {
        if (host.current && !gone) {
          opened = openCanvas(host.current, {
            onChoose: (...call) => latest.current.onChoose(...call),
            onExpand: (key) => latest.current.onExpand(key),
            onPin: (...call) => latest.current.onPin(...call),
            onRest: (...call) => latest.current.onRest(...call),
          });
          setCanvas(opened);
          latest.current.onReady(opened);
        }
      },
      () => setFault("The canvas could not be loaded. Load the page again: the server may have a new version."),
    );
    return () => {
      gone = true;
      opened?.close();
      latest.current.onReady(null);
    };
  }, []);
  const { nodes, edges, near, chosen, marked } = props;
  useEffect(() => canvas?.show(nodes, edges, near), [canvas, nodes, edges]);
  useEffect(() => canvas?.choose(chosen), [canvas, chosen, nodes, edges]);
  useEffect(() => canvas?.mark(marked), [canvas, marked, nodes, edges]);
  return (
    <>
      {fault && (
        <p class="failure" role="alert">
          {fault}
        </p>
      )}
      {/* Cytoscape adds rules for its container unless an element with this id is in the page. The security policy forbids such rules; explore.css has them. */}
      <i id="__________cytoscape_stylesheet" hidden />
      <div ref={host} class="canvas" role="img" aria-label={props.label} />
    </>
  );
}
