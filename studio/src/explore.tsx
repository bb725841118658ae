// Explore: a canvas on which nodes are put, and expanded along their edges.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, type Type } from "./api";
import type { Canvas } from "./canvas";
import { CanvasView } from "./canvasview";
import { shortText } from "./drawing";
import { countEdges, findPaths, newNeighbours, type GraphEdge, type GraphNode } from "./explored";
import { useTypes } from "./facts";
import type { Way } from "./gql";
import { Legend } from "./legend";
import { Failure, Show } from "./load";
import { colouring, degreesOf, edgeColour, sizing, wordsOf } from "./looks";
import { EdgeDetails, NodeDetails } from "./nodedetails";
import { NodeFinder } from "./nodefinder";
import { route, targetMembers } from "./route";
import { mostEdges, mostNodes, withNodes, withoutNodes } from "./scene";
import { SceneTables } from "./scenetables";
import { useScene, useSceneData } from "./scenestate";
import { SceneTools } from "./scenetools";
import { Text } from "./text";

const mostAdded = 25; // neighbours that one step adds along a way
const mostEach = 8; // neighbours along each way when a node is expanded along all

export function ExplorePage() {
  const { graph } = route.value;
  const types = useTypes(graph);
  return (
    <Show of={types} heading="Explore">
      {(all) => <Explore key={JSON.stringify(targetMembers())} graph={graph} types={all} />}
    </Show>
  );
}

// Keeps the keys of the elements that are chosen, found or on a path.
interface Focus {
  chosen: string | null;
  marked: Set<string>;
  steps: Set<string>; // the edges of paths, each as the keys of its ends
  near: string | null; // the node that was expanded last
}

const nothing: Focus = { chosen: null, marked: new Set(), steps: new Set(), near: null };

function Explore(props: { graph: string; types: Type[] }) {
  const { graph, types } = props;
  const source = useMemo(() => ({ graph, types }), [graph, types]);
  const state = useScene();
  const { scene, change } = state;
  const { data, loading, error } = useSceneData(source, scene.nodes);
  const [focus, setFocus] = useState<Focus>(nothing);
  const [start, setStart] = useState<string | null>(null);
  const [said, setSaid] = useState("");
  const [fault, setFault] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const [rested, setRested] = useState<unknown>(null); // the nodes that were drawn when the layout last ended
  const canvas = useRef<Canvas | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const known = useMemo(() => scene.nodes.flatMap((k) => data.nodes.get(k) ?? []), [scene.nodes, data]);
  const between = useMemo(() => {
    const keys = new Set(known.map((n) => n.key));
    return [...data.edges.values()].filter((e) => keys.has(e.from) && keys.has(e.to));
  }, [known, data]);
  const nodes = useMemo(() => known.filter((n) => !scene.hidden.includes("node " + n.type)), [known, scene.hidden]);
  const edges = useMemo(() => {
    const keys = new Set(nodes.map((n) => n.key));
    return between.filter((e) => keys.has(e.from) && keys.has(e.to) && !scene.hidden.includes("edge " + e.type)).slice(0, mostEdges);
  }, [nodes, between, scene.hidden]);
  const degrees = useMemo(() => degreesOf(edges), [edges]);
  const drawn = useMemo(() => {
    const [{ colourOf }, sizeOf] = [colouring(scene, types, nodes), sizing(scene, nodes, degrees)];
    return nodes.map((n) => ({ key: n.key, label: shortText(n.label), colour: colourOf(n), size: sizeOf(n), pin: scene.pins[n.key] ?? null, main: n.key === scene.main }));
  }, [nodes, degrees, scene]);
  const lines = useMemo(() => edges.map((e) => ({ key: e.key, from: e.from, to: e.to, label: e.type, colour: edgeColour(types, e.type) })), [edges]);
  const marked = useMemo(() => new Set([...focus.marked, ...edges.filter((e) => focus.steps.has(e.from + "\0" + e.to)).map((e) => e.key)]), [focus.marked, focus.steps, edges]);
  const chosen = nodes.find((n) => n.key === focus.chosen);
  const chosenEdge = edges.find((e) => e.key === focus.chosen);

  // Runs a step that asks the server, one at a time.
  const step = async (work: (signal: AbortSignal) => Promise<string>) => {
    setBusy(true);
    setFault(null);
    try {
      setSaid(await work(new AbortController().signal));
    } catch (error) {
      setFault(error instanceof ApiError ? error : new ApiError(0, String(error)));
    } finally {
      setBusy(false);
    }
  };
  const add = (keys: string[], near: string | null): string => {
    const fresh = keys.filter((k) => !scene.nodes.includes(k));
    const room = Math.min(fresh.length, mostNodes - scene.nodes.length);
    setFocus((f) => ({ ...f, near }));
    if (room > 0) {
      change((s) => withNodes(s, fresh));
    }
    return room < fresh.length ? `Added ${room} of ${fresh.length} nodes: a scene has room for ${mostNodes}.` : room === 1 ? "Added 1 node." : `Added ${room} nodes.`;
  };
  const expandAll = (key: string) =>
    step(async (signal) => {
      const degrees = await countEdges(source, key, signal);
      const lists = await Promise.all(degrees.map(({ way }) => newNeighbours(source, key, way, scene.nodes, mostEach, signal)));
      return add(lists.flat(), key);
    });
  const expand = (node: GraphNode, way: Way) => step(async (signal) => add(await newNeighbours(source, node.key, way, scene.nodes, mostAdded, signal), node.key));
  const paths = (from: string, to: string) =>
    step(async (signal) => {
      const { paths, whole } = await findPaths(source, from, to, scene.hidden, signal);
      setStart(null);
      const first = paths[0];
      if (!first) {
        return whole ? "No path leads from one to the other." : "No path was found. The search did not follow every edge, since some nodes have very many.";
      }
      const keys = new Set(paths.flat());
      const steps = new Set(paths.flatMap((path) => path.slice(1).flatMap((k, i) => [path[i] + "\0" + k, k + "\0" + path[i]])));
      add([...keys], from);
      setFocus((f) => ({ ...f, marked: keys, steps }));
      return `${paths.length === 1 ? "1 path" : paths.length + " paths"} with ${first.length - 1} ${first.length === 2 ? "edge" : "edges"}${whole ? "" : "; there may be more"}. They are marked.`;
    });
  const collapse = (node: GraphNode) => {
    const hanging = hangingOn(node.key, between).filter((k) => k !== scene.main && !(k in scene.pins));
    change((s) => withoutNodes(s, new Set(hanging)));
    setSaid(hanging.length === 1 ? "Removed 1 node that only this one led to." : `Removed ${hanging.length} nodes that only this one led to.`);
  };
  const choose = (key: string | null, fromTable = false) => {
    setFocus((f) => ({ ...f, chosen: key }));
    if (fromTable && key !== null) {
      canvas.current?.centre(key);
      setTimeout(() => heading.current?.focus()); // once the panel shows the node
    }
  };
  const find = (words: string) => {
    const found = words === "" ? [] : nodes.filter((n) => wordsOf(n).includes(words.toLowerCase()));
    setFocus((f) => ({ ...f, marked: new Set(found.map((n) => n.key)), steps: new Set(), chosen: found[0]?.key ?? f.chosen }));
    setSaid(words === "" ? "" : found.length === 1 ? "1 node in the scene has this text; it is marked." : `${found.length} nodes in the scene have this text.`);
    if (found[0]) {
      canvas.current?.centre(found[0].key);
    }
  };
  const pin = (key: string, place: { x: number; y: number } | null) =>
    change((s) => ({ ...s, pins: Object.fromEntries([...Object.entries(s.pins).filter(([k]) => k !== key), ...(place ? [[key, place] as const] : [])]) }));
  useEffect(() => {
    if (state.grow !== null) {
      void expandAll(state.grow);
    }
  }, [state.grow]);

  const absent = scene.nodes.filter((k) => data.absent.has(k)).length;
  const label = `Canvas with ${nodes.length} nodes and ${edges.length} edges. The tables have the same.`;
  return (
    <>
      <h1>Explore</h1>
      <NodeFinder graph={graph} types={types} empty={state.ready && scene.nodes.length === 0} onAdd={(keys) => setSaid(add(keys, null))} />
      {error && <Failure error={error} />}
      {fault && <Failure error={fault} />}
      {state.fault && <p class="note">{state.fault}</p>}
      {scene.nodes.length > 0 && (
        <>
          <SceneTools state={state} canvas={canvas} busy={busy} onFind={find} onClear={() => (change((s) => ({ ...withoutNodes(s, new Set(s.nodes)), hidden: [] })), setFocus(nothing))} />
          <p class="scene-state" role="status">
            {loading ? "Loading…" : `${count(nodes.length, "node")} and ${count(edges.length, "edge")}.`} {said}
          </p>
          {absent > 0 && <p class="note">{absent === 1 ? "1 node of the scene does not exist here, or you may not see it." : `${absent} nodes of the scene do not exist here, or you may not see them.`}</p>}
          {(data.more || between.length > mostEdges) && <p class="note">There are more edges between these nodes than a scene shows.</p>}
          {start !== null && (
            <p class="note">
              A path begins at <Text value={data.nodes.get(start)?.label ?? ""} most={80} plain />. Choose the node at its other end.{" "}
              <button type="button" class="plain" onClick={() => setStart(null)}>
                Stop
              </button>
            </p>
          )}
          <div class="explore" data-rested={rested === drawn && !loading ? "" : undefined}>
            <CanvasView
              label={label}
              nodes={drawn}
              edges={lines}
              near={focus.near}
              chosen={focus.chosen}
              marked={marked}
              onReady={(opened) => (canvas.current = opened)}
              onChoose={(key) => choose(key)}
              onExpand={(key) => void expandAll(key)}
              onPin={(key, x, y) => pin(key, { x, y })}
              onRest={(done) => setRested(done ? drawn : null)}
            />
            <aside aria-label="About the scene">
              {chosen && (
                <NodeDetails
                  key={chosen.key}
                  source={source}
                  node={chosen}
                  edges={between}
                  pinned={chosen.key in scene.pins}
                  start={start === null ? undefined : data.nodes.get(start)}
                  busy={busy}
                  heading={heading}
                  onExpand={(way) => void expand(chosen, way)}
                  onCollapse={() => collapse(chosen)}
                  onPin={() => pin(chosen.key, chosen.key in scene.pins ? null : (canvas.current?.place(chosen.key) ?? null))}
                  onRemove={() => (change((s) => withoutNodes(s, new Set([chosen.key]))), choose(null))}
                  onStart={() => setStart(chosen.key)}
                  onPaths={() => start !== null && void paths(start, chosen.key)}
                />
              )}
              {chosenEdge && <EdgeDetails edge={chosenEdge} nodes={data.nodes} onChoose={(key) => choose(key)} />}
              {!chosen && !chosenEdge && <p class="hint">Choose a node on the canvas or in the table to see what it is and where it leads. A double click adds neighbours. Drag a node to pin it.</p>}
              <Legend scene={scene} types={types} nodes={known} edges={between} onChange={change} />
            </aside>
          </div>
          <SceneTables graph={graph} scene={scene} nodes={nodes} edges={edges} degrees={degrees} onChoose={(key) => choose(key, true)} />
        </>
      )}
    </>
  );
}

const count = (n: number, what: string) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

// Lists the neighbours of a node that have no other neighbour.
function hangingOn(key: string, edges: GraphEdge[]): string[] {
  const near = new Map<string, Set<string>>();
  for (const { from, to } of edges) {
    for (const [a, b] of [[from, to], [to, from]] as const) {
      near.set(a, (near.get(a) ?? new Set()).add(b));
    }
  }
  return [...(near.get(key) ?? [])].filter((other) => other !== key && [...(near.get(other) ?? [])].every((k) => k === key || k === other));
}
