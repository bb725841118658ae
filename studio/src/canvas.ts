// The canvas of Explore, by Cytoscape.js. This module loads only when needed and has a file of its own, so it imports
// nothing of the other pages.

import cytoscape from "cytoscape";
import { colourOf, font, fontSize, styleOf } from "./canvasstyle";
import { arrange, begin, type Placed, type Running } from "./layout";

export interface CanvasNode {
  key: string;
  label: string; // one line, with no invisible characters
  colour: string; // the name of a custom property of CSS
  size: number; // in pixels
  pin: { x: number; y: number } | null;
  main: boolean;
}

export interface CanvasEdge {
  key: string;
  from: string;
  to: string;
  label: string;
  colour: string;
}

export interface CanvasOptions {
  onChoose: (key: string | null, edge: boolean) => void;
  onExpand: (key: string) => void;
  onPin: (key: string, x: number, y: number) => void;
  onRest: (done: boolean, longest: number) => void;
}

export interface Canvas {
  /** Shows nodes and edges. Those that were shown stay where they are. New ones come near the node `near`, if there is one. */
  show: (nodes: CanvasNode[], edges: CanvasEdge[], near: string | null) => void;
  choose: (key: string | null) => void;
  mark: (keys: Set<string>) => void;
  zoom: (factor: number) => void;
  fit: () => void;
  centre: (key: string) => void;
  place: (key: string) => { x: number; y: number };
  arrange: () => void;
  png: () => Promise<Blob>;
  close: () => void;
}

/** From this number of nodes and edges on, the canvas leaves out what takes long to draw. */
const large = 900;

const mostPng = 4096; // pixels

/** Opens a canvas in an element. Cytoscape makes no style element, because the page has an element with its id. */
export function openCanvas(host: HTMLElement, options: CanvasOptions): Canvas {
  let cy = start(host, false);
  let isLarge = false;
  let running: Running | null = null;
  let edgeLabels = true;
  let moved = false; // the user has moved the view since the last layout began
  let waiting = false; // elements were added, and are drawn when they have places
  const ruler = document.createElement("canvas").getContext("2d");
  if (ruler) {
    ruler.font = `bold ${fontSize}px ${font}`;
  }
  let painted = ""; // the style that the elements have
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => {
    const wanted = JSON.stringify([isLarge, edgeLabels, scheme.matches]);
    if (painted !== wanted) {
      painted = wanted;
      cy.style(styleOf(host, isLarge, edgeLabels));
    }
  };
  scheme.addEventListener("change", paint);
  const wide = () => Math.min(2, Math.max(0.6, host.clientWidth / Math.max(1, host.clientHeight)));
  const shown = new ResizeObserver(() => {
    cy.resize();
    if (!moved && running === null && cy.nodes().nonempty()) {
      fit();
    }
  });
  shown.observe(host);

  const listen = () => {
    cy.on("tap", (event) => (event.target === cy ? options.onChoose(null, false) : options.onChoose(event.target.id(), event.target.isEdge())));
    cy.on("scrollzoom pinchzoom dragpan", () => (moved = true));
    cy.on("dbltap", "node", (event) => options.onExpand(event.target.id()));
    cy.on("dragfreeon", "node", (event) => options.onPin(event.target.id(), event.target.position("x"), event.target.position("y")));
  };
  listen();

  const inView = (elements: cytoscape.CollectionReturnValue) => {
    const [box, view] = [elements.boundingBox(), cy.extent()];
    return box.x1 >= view.x1 && box.x2 <= view.x2 && box.y1 >= view.y1 && box.y2 <= view.y2;
  };

  // Shows everything. In a large scene the places of the nodes suffice: the boxes of all elements take a second.
  const fit = () => {
    if (!isLarge) {
      cy.fit(undefined, 24);
      return;
    }
    const places = cy.nodes().map((n) => n.position());
    const [xs, ys] = [places.map((p) => p.x), places.map((p) => p.y)];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const zoom = Math.min(1.25, (cy.width() - 96) / Math.max(1, right - left), (cy.height() - 96) / Math.max(1, bottom - top));
    cy.viewport({ zoom, pan: { x: cy.width() / 2 - (zoom * (left + right)) / 2, y: cy.height() / 2 - (zoom * (top + bottom)) / 2 } });
  };

  // Shows everything if it can be read then, and otherwise the neighbourhood of the node that matters.
  const look = (centre: string | null) => {
    fit();
    if (cy.zoom() > 1.25) {
      cy.zoom(1.25);
      cy.center();
    }
    const node = centre === null ? cy.collection() : cy.getElementById(centre);
    if (node.nonempty() && cy.zoom() < 0.3 && cy.nodes().length < large) {
      cy.zoom(0.6);
      cy.center(node);
    }
  };

  // Draws the elements that were added.
  const reveal = () => {
    if (waiting) {
      waiting = false;
      cy.endBatch();
    }
  };

  const place = (isNew: (key: string) => boolean, near: string | null) => {
    running?.stop();
    moved = false;
    const main = cy.nodes("[?main]").first().data("id") as string | undefined;
    const nodes = cy.nodes().map((n, index): Placed => {
      const { x, y } = n.position();
      const [size, label] = [Number(n.data("size")), String(n.data("label"))];
      const kept = !isNew(n.id());
      return { key: n.id(), index, x, y, width: Math.max(size, ruler?.measureText(label).width ?? 0) + 10, height: size + 24, fixed: kept && Boolean(n.data("pin")), ...(kept && { old: { x, y } }) };
    });
    const byKey = new Map(nodes.map((n) => [n.key, n]));
    const links = cy.edges().map((e) => ({ from: byKey.get(e.source().id()) as Placed, to: byKey.get(e.target().id()) as Placed }));
    begin(nodes, (n) => isNew(n.key) && !cy.getElementById(n.key).data("pin"), links, main ?? "", wide());
    for (const n of nodes) {
      n.fixed = Boolean(cy.getElementById(n.key).data("pin"));
    }
    const whole = nodes.every((n) => isNew(n.key));
    const seen = (done: boolean, longest: number) => {
      cy.nodes().positions((n) => {
        const { x, y } = n.grabbed() || n.data("pin") ? n.position() : (byKey.get(n.id()) ?? n.position());
        return { x, y };
      });
      reveal();
      const added = cy.nodes().filter((n) => isNew(n.id()) || n.id() === near);
      if (!moved && (whole || !inView(added))) {
        look(near ?? main ?? null);
      }
      if (done) {
        running = null;
      }
      performance.mark("explore", { detail: { done, longest } });
      options.onRest(done, longest);
    };
    if (nodes.length > 0) {
      options.onRest(false, 0);
      running = arrange(nodes, links, wide(), seen);
    }
  };

  return {
    show(nodes, edges, near) {
      reveal();
      const many = nodes.length + edges.length > large;
      if (many !== isLarge) {
        const [kept, view] = [cy.elements().jsons(), { zoom: cy.zoom(), pan: cy.pan() }];
        cy.destroy();
        cy = start(host, (isLarge = many));
        cy.add(kept as unknown as cytoscape.ElementDefinition[]);
        cy.viewport(view);
        listen();
        painted = "";
      }
      // The legend names the type if there is one only, and labels between many edges cannot be read.
      edgeLabels = edges.length <= 40 && edges.length <= 2 * nodes.length && new Set(edges.map((e) => e.label)).size > 1;
      paint();
      const added: cytoscape.ElementDefinition[] = [];
      const keys = new Set([...nodes.map((n) => n.key), ...edges.map((e) => e.key)]);
      const fresh = new Set<string>();
      cy.startBatch();
      waiting = true;
      cy.elements().filter((e) => !keys.has(e.id())).remove();
      for (const n of nodes) {
        const data = { id: n.key, label: n.label, colour: n.colour, size: n.size, pin: n.pin !== null, main: n.main };
        const old = cy.getElementById(n.key);
        if (old.nonempty()) {
          if (Object.entries(data).some(([name, value]) => old.data(name) !== value)) {
            old.data(data);
          }
          if (n.pin && (old.position("x") !== n.pin.x || old.position("y") !== n.pin.y)) {
            old.position(n.pin);
          }
        } else {
          fresh.add(n.key);
          added.push({ group: "nodes", data, position: n.pin ? { ...n.pin } : { x: 0, y: 0 } });
        }
      }
      for (const e of edges) {
        const old = cy.getElementById(e.key);
        if (old.empty()) {
          added.push({ group: "edges", data: { id: e.key, source: e.from, target: e.to, label: e.label, colour: e.colour } });
        }
      }
      cy.add(added);
      if (fresh.size > 0) {
        place((key) => fresh.has(key), near); // which reveals them
        return;
      }
      reveal();
      if (running === null) {
        options.onRest(true, 0);
      }
    },
    choose(key) {
      cy.batch(() => {
        cy.elements(".chosen, .beside").removeClass("chosen beside");
        if (key !== null) {
          const chosen = cy.getElementById(key);
          chosen.addClass("chosen");
          (chosen as cytoscape.NodeCollection).connectedEdges().addClass("beside");
        }
      });
    },
    mark(keys) {
      cy.batch(() => {
        cy.elements(".marked").removeClass("marked");
        cy.elements().filter((e) => keys.has(e.id())).addClass("marked");
      });
    },
    zoom(factor) {
      cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
    },
    fit,
    centre(key) {
      const node = cy.getElementById(key);
      if (cy.zoom() < 0.6) {
        cy.zoom(0.8);
        cy.center(node);
      } else if (!inView(node)) {
        cy.center(node);
      }
    },
    place(key) {
      return { ...cy.getElementById(key).position() };
    },
    arrange() {
      place((key) => !cy.getElementById(key).data("pin"), null);
    },
    png() {
      const { w, h } = cy.elements().boundingBox();
      const scale = Math.min(2, mostPng / Math.max(w, h, 1));
      return cy.png({ output: "blob-promise", full: true, scale, bg: colourOf(host, "--ground") });
    },
    close() {
      running?.stop();
      reveal();
      scheme.removeEventListener("change", paint);
      shown.disconnect();
      cy.destroy();
    },
  };
}

function start(host: HTMLElement, many: boolean): cytoscape.Core {
  return cytoscape({ container: host, textureOnViewport: many, ...(many && { pixelRatio: 1 }), minZoom: 0.03, maxZoom: 4, boxSelectionEnabled: false, style: [] });
}
