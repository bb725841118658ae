// The state of Explore: the scene with its steps to undo, which the URL has too, and the data of its nodes.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./api";
import { loadEdges, loadNodes, type GraphEdge, type GraphNode, type Source } from "./explored";
import { go, route, withQuery } from "./route";
import { decodeScene, emptyScene, encodeScene, keyOf, withNodes, type Scene } from "./scene";

const mostSteps = 50;

interface Steps {
  scene: Scene;
  past: Scene[];
  future: Scene[];
}

export interface SceneState extends Steps {
  ready: boolean; // the scene of the URL has been read
  fault: string; // what is wrong with the scene of the URL, or with putting it there
  grow: string | null; // the key of the node whose neighbours are to be added, because the URL names nothing else
  change: (step: (scene: Scene) => Scene) => void;
  undo: () => void;
  redo: () => void;
}

/** Keeps a scene. The URL gives the first one, and follows it. */
export function useScene(): SceneState {
  const [steps, setSteps] = useState<Steps>({ scene: emptyScene, past: [], future: [] });
  const [ready, setReady] = useState(false);
  const [fault, setFault] = useState("");
  const [grow, setGrow] = useState<string | null>(null);
  const written = useRef<string | null>(null); // the scene that this hook put into the URL
  const given = route.value.query.get("scene") ?? "";
  const [type, id] = [route.value.query.get("type"), route.value.query.get("id")];
  useEffect(() => {
    if (given === written.current && type === null) {
      return;
    }
    let gone = false;
    const take = (scene: Scene, wrong: string, start: string | null) => {
      if (!gone) {
        setSteps({ scene, past: [], future: [] });
        setFault(wrong);
        setGrow(start);
        setReady(true);
      }
    };
    if (type !== null && id !== null) {
      const key = keyOf(type, id);
      take(withNodes(emptyScene, [key]), "", key);
    } else if (given === "") {
      take(emptyScene, "", null);
    } else {
      void decodeScene(given).then((scene) => take(scene ?? emptyScene, scene ? "" : "The address has no scene that can be read. Perhaps it was cut when it was copied.", null));
    }
    return () => {
      gone = true;
    };
  }, [given, type, id]);
  useEffect(() => {
    if (!ready) {
      return;
    }
    let gone = false;
    const text = steps.scene.nodes.length > 0 ? encodeScene(steps.scene) : Promise.resolve("");
    void text.then((link) => {
      if (gone || (link === "" && fault)) {
        return;
      }
      if (link === null) {
        setFault("The scene is too large for an address. It goes when the page is loaded again.");
      } else if (steps.past.length + steps.future.length > 0) {
        setFault("");
      }
      written.current = link ?? "";
      go(withQuery({ scene: link ?? "", type: undefined, id: undefined }), true);
    });
    return () => {
      gone = true;
    };
  }, [steps, ready]);
  return {
    ...steps,
    ready,
    fault,
    grow,
    change: (step) =>
      setSteps(({ scene, past }) => {
        const next = step(scene);
        return next === scene ? { scene, past, future: [] } : { scene: next, past: [...past, scene].slice(-mostSteps), future: [] };
      }),
    undo: () => setSteps((s) => (s.past.length === 0 ? s : { scene: s.past.at(-1) ?? emptyScene, past: s.past.slice(0, -1), future: [s.scene, ...s.future] })),
    redo: () => setSteps((s) => (s.future.length === 0 ? s : { scene: s.future[0] ?? emptyScene, past: [...s.past, s.scene], future: s.future.slice(1) })),
  };
}

export interface SceneData {
  nodes: Map<string, GraphNode>;
  edges: Map<string, GraphEdge>;
  absent: Set<string>; // keys that the server gave no node for
  more: boolean; // there are more edges than were loaded
}

/** Loads the nodes of a scene, and the edges between them. It keeps what it has loaded. */
export function useSceneData(source: Source, keys: string[]): { data: SceneData; loading: boolean; error: ApiError | null } {
  const [data, setData] = useState<SceneData>({ nodes: new Map(), edges: new Map(), absent: new Set(), more: false });
  const [error, setError] = useState<ApiError | null>(null);
  const missing = keys.filter((k) => !data.nodes.has(k) && !data.absent.has(k));
  const wanted = missing.join("\0");
  useEffect(() => {
    if (missing.length === 0) {
      return;
    }
    const abort = new AbortController();
    const old = [...data.nodes.keys()];
    setError(null);
    Promise.all([loadNodes(source, missing, abort.signal), loadEdges(source, missing, old, abort.signal)]).then(
      ([nodes, { edges, more }]) => {
        if (abort.signal.aborted) {
          return;
        }
        const found = new Set(nodes.map((n) => n.key));
        setData((before) => ({
          nodes: new Map([...before.nodes, ...nodes.map((n) => [n.key, n] as const)]),
          edges: new Map([...before.edges, ...edges.map((e) => [e.key, e] as const)]),
          absent: new Set([...before.absent, ...missing.filter((k) => !found.has(k))]),
          more: before.more || more,
        }));
      },
      (fault: unknown) => !abort.signal.aborted && setError(fault instanceof ApiError ? fault : new ApiError(0, String(fault))),
    );
    return () => abort.abort();
  }, [wanted]);
  return { data, loading: missing.length > 0 && error === null, error };
}
