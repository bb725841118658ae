// Places nodes by forces, in slices, so that the page answers to the user in between. It is a part of the file of the
// canvas, which loads when needed.

import { forceCollide, forceLink, forceManyBody, forceX, forceY, type Force, type SimulationLinkDatum, type SimulationNodeDatum } from "d3-force";

/** A node to place. */
export interface Placed extends SimulationNodeDatum {
  key: string;
  x: number;
  y: number;
  width: number; // of the node with its label
  height: number;
  index: number;
  old?: { x: number; y: number }; // where the user has seen it
  fixed?: boolean;
}

type Link = SimulationLinkDatum<Placed> & { source: Placed; target: Placed };

/** A slice ends after this time in milliseconds. The force that is at work then comes to its end, which takes some 4 ms for 2,000 nodes. */
const slice = 5;

/** Up to this number of nodes, labels do not overlap. */
const mostBoxes = 300;

export interface Running {
  stop: () => void;
}

/**
 * Moves the nodes until they rest. It calls `show` now and then, and with true at the end. `longest` gets the time of
 * the longest slice in milliseconds.
 */
export function arrange(nodes: Placed[], links: { from: Placed; to: Placed }[], wide: number, show: (done: boolean, longest: number) => void): Running {
  const linked = new Set(links.filter((l) => l.from !== l.to).flatMap((l) => [l.from, l.to]));
  const tied = nodes.filter((n) => linked.has(n) || n.old || n.fixed);
  tied.forEach((n, i) => {
    n.index = i;
    n.vx = n.vy = 0;
  });
  const forces = forcesOf(tied, links, wide);
  const moving = tied.some((n) => !n.old && !n.fixed);
  let alpha = tied.some((n) => n.old) ? 0.5 : 1;
  const decay = tied.length > 600 ? 0.06 : 0.028;
  let passes = tied.length > mostBoxes ? 0 : 100; // that take the last labels apart
  let next = 0; // the force that the next slice begins with
  let longest = 0;
  let timer = 0;
  const started = performance.now();
  let due = 250; // few pictures that are nearly done are better than one that trembles
  const work = () => {
    const begin = performance.now();
    let done = !moving;
    while (!done) {
      const force = forces[next];
      if (alpha <= 0.004) {
        done = passes-- <= 0 || !separate(tied, wide);
      } else if (force) {
        force(alpha);
        next++;
      } else {
        move(tied);
        alpha -= alpha * decay;
        next = 0;
      }
      if (performance.now() - begin > slice) {
        break;
      }
    }
    const now = performance.now();
    longest = Math.max(longest, now - begin);
    if (done) {
      loose(nodes, tied, wide);
      show(true, longest);
      return;
    }
    if (now - started > due) {
      due *= 3;
      show(false, longest);
    }
    timer = window.setTimeout(work);
  };
  timer = window.setTimeout(work);
  return { stop: () => clearTimeout(timer) };
}

function forcesOf(nodes: Placed[], links: { from: Placed; to: Placed }[], wide: number): ((alpha: number) => void)[] {
  const random = generator();
  const many = nodes.length > mostBoxes;
  const started = <F extends Force<Placed, Link>>(force: F): F => {
    force.initialize?.(nodes, random);
    return force;
  };
  const pairs = links.filter((l) => l.from !== l.to).map((l) => ({ source: l.from, target: l.to }) as Link);
  const degree = new Map<Placed, number>();
  for (const { source, target } of pairs) {
    degree.set(source, (degree.get(source) ?? 0) + 1);
    degree.set(target, (degree.get(target) ?? 0) + 1);
  }
  // Nodes with many edges between them need more room, so that the edges can be told apart.
  const dense = Math.min(3, pairs.length / Math.max(1, nodes.length)) / 2 + 0.5;
  const pull = (n: Placed) => (n.old ? 0.25 : 0.035);
  return [
    started(
      forceLink<Placed, Link>(pairs)
        .distance((l) => (many ? 50 : (60 + 0.25 * (l.source.width + l.target.width)) * Math.max(1, dense)))
        .strength((l) => 1 / Math.min(degree.get(l.source) ?? 1, degree.get(l.target) ?? 1)),
    ),
    started(forceManyBody<Placed>().strength(many ? -150 : -420 * dense).theta(many ? 1.6 : 0.9).distanceMax(many ? 500 : 1500)),
    many ? started(forceCollide<Placed>((n) => n.height / 2 + 2).strength(0.5)) : () => separate(nodes, wide),
    started(forceX<Placed>((n) => n.old?.x ?? 0).strength(pull)),
    started(forceY<Placed>((n) => n.old?.y ?? 0).strength((n) => (n.old ? 0.25 : 0.035 * wide * wide))),
  ];
}

// The generator of d3-force, so that the same nodes get the same places.
function generator(): () => number {
  let state = 1;
  return () => (state = (1664525 * state + 1013904223) % 4294967296) / 4294967296;
}

function move(nodes: Placed[]) {
  for (const n of nodes) {
    if (!n.fixed) {
      n.x += n.vx = (n.vx ?? 0) * 0.6;
      n.y += n.vy = (n.vy ?? 0) * 0.6;
    }
  }
}

// Pushes nodes apart whose boxes overlap, along the direction in which they overlap less. On a wide canvas they rather
// move sideways. It reports whether any overlapped.
function separate(nodes: Placed[], wide: number): boolean {
  let moved = false;
  for (let i = 0; i < nodes.length; i++) {
    const a = nodes[i] as Placed;
    for (let j = 0; j < i; j++) {
      const b = nodes[j] as Placed;
      const [dx, dy] = [a.x - b.x, a.y - b.y];
      const [ox, oy] = [(a.width + b.width) / 2 - Math.abs(dx), (a.height + b.height) / 2 - Math.abs(dy)];
      if (ox <= 0 || oy <= 0) {
        continue;
      }
      const [push, sx, sy] = oy * wide * wide < ox ? [oy * 0.3, 0, dy < 0 ? -1 : 1] : [ox * 0.3, dx < 0 ? -1 : 1, 0];
      moved ||= push > 0.1;
      if (!a.fixed) {
        a.x += push * sx;
        a.y += push * sy;
      }
      if (!b.fixed) {
        b.x -= push * sx;
        b.y -= push * sy;
      }
    }
  }
  return moved;
}

// Places nodes without edges in rows below the others.
function loose(nodes: Placed[], tied: Placed[], wide: number) {
  const known = new Set(tied);
  const rest = nodes.filter((n) => !known.has(n));
  const cell = { width: Math.max(60, ...rest.map((n) => n.width + 12)), height: Math.max(40, ...rest.map((n) => n.height + 14)) };
  const columns = Math.max(1, Math.round(Math.sqrt((rest.length * wide * cell.height) / cell.width)));
  const top = tied.length > 0 ? Math.max(...tied.map((n) => n.y + n.height / 2)) + cell.height : 0;
  const middle = tied.length > 0 ? (Math.min(...tied.map((n) => n.x)) + Math.max(...tied.map((n) => n.x))) / 2 : 0;
  rest.forEach((n, i) => {
    n.x = middle + ((i % columns) - (Math.min(columns, rest.length) - 1) / 2) * cell.width;
    n.y = top + Math.floor(i / columns) * cell.height;
  });
}

/**
 * Gives new nodes a first place: near a node that has one, or as a tree that grows from the main node in all
 * directions, one tree for each part that is not connected with the others.
 */
export function begin(nodes: Placed[], isNew: (n: Placed) => boolean, links: { from: Placed; to: Placed }[], main: string, wide: number) {
  const near = new Map<Placed, Placed[]>(nodes.map((n) => [n, []]));
  for (const { from, to } of links) {
    near.get(from)?.push(to);
    near.get(to)?.push(from);
  }
  const rest = new Set(nodes.filter(isNew));
  const placed = nodes.filter((n) => !rest.has(n));
  const bottom = Math.max(0, ...placed.map((n) => n.y + 120));
  for (const centre of placed) {
    const around = [...new Set(near.get(centre))].filter((n) => rest.has(n));
    const angle = Math.atan2(centre.y, centre.x); // away from the middle of the others
    around.forEach((n, i) => {
      const turn = angle + (around.length === 1 ? 0 : (i / around.length - 0.5) * (around.length > 6 ? 2 : 1) * Math.PI);
      n.x = centre.x + Math.cos(turn) * 110;
      n.y = centre.y + Math.sin(turn) * 110;
      rest.delete(n);
      placed.push(n);
    });
  }
  const roots = [...rest].sort((a, b) => Number(b.key === main) - Number(a.key === main) || (near.get(b)?.length ?? 0) - (near.get(a)?.length ?? 0));
  const most = Math.sqrt(rest.size) * 100 * wide;
  let [left, top, row] = [0, bottom, 0];
  const grown: Placed[] = [];
  for (const root of roots.filter((n) => (near.get(n)?.length ?? 0) > 0)) {
    if (!rest.has(root)) {
      continue;
    }
    const tree = grow(root, rest, near, wide);
    const radius = Math.max(...tree.map((n) => Math.hypot(n.x, n.y))) + 60;
    if (left > 0 && left + 2 * radius > most) {
      [left, top, row] = [0, top + row, 0];
    }
    for (const n of tree) {
      n.x += left + radius;
      n.y += top + radius;
    }
    grown.push(...tree);
    left += 2 * radius;
    row = Math.max(row, 2 * radius);
  }
  if (grown.length > 0 && bottom === 0) {
    const [x, y] = [mean(grown.map((n) => n.x)), mean(grown.map((n) => n.y))];
    for (const n of grown) {
      n.x -= x;
      n.y -= y;
    }
  }
}

const mean = (numbers: number[]) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;

// Places the nodes that are connected with a root around it, each in the sector of the node before it. The sector is as
// wide as the number of leaves in it needs. It takes the nodes out of `rest`.
function grow(root: Placed, rest: Set<Placed>, near: Map<Placed, Placed[]>, wide: number): Placed[] {
  const tree: Placed[] = [root];
  const before = new Map<Placed, Placed>();
  rest.delete(root);
  for (const n of tree) {
    for (const other of near.get(n) ?? []) {
      if (rest.delete(other)) {
        before.set(other, n);
        tree.push(other);
      }
    }
  }
  if (tree.length > 4 && tree.every((n) => new Set(near.get(n)).size <= 2)) {
    return fold(tree, near, wide);
  }
  const leaves = new Map<Placed, number>();
  for (const n of tree.toReversed()) {
    const own = leaves.get(n) ?? 1;
    leaves.set(n, own);
    const parent = before.get(n);
    if (parent) {
      leaves.set(parent, (leaves.get(parent) ?? 0) + own);
    }
  }
  const sector = new Map<Placed, { depth: number; from: number; width: number; used: number }>([[root, { depth: 0, from: 0, width: 2 * Math.PI, used: 0 }]]);
  root.x = root.y = 0;
  for (const n of tree.slice(1)) {
    const parent = before.get(n) as Placed;
    const around = sector.get(parent);
    if (!around) {
      continue;
    }
    const width = (around.width * (leaves.get(n) ?? 1)) / (leaves.get(parent) ?? 1);
    const depth = around.depth + 1;
    const turn = around.from + around.used + width / 2;
    around.used += width;
    sector.set(n, { depth, from: turn - width / 2, width, used: 0 });
    n.x = Math.cos(turn) * depth * 100 * wide;
    n.y = Math.sin(turn) * depth * 100;
  }
  return tree;
}

// Places a chain in rows, so that it is not much longer than high, and a ring in a circle.
function fold(chain: Placed[], near: Map<Placed, Placed[]>, wide: number): Placed[] {
  const ends = chain.filter((n) => new Set(near.get(n)).size === 1);
  const order = [ends[0] ?? (chain[0] as Placed)];
  const seen = new Set(order);
  for (const n of order) {
    const next = near.get(n)?.find((other) => !seen.has(other));
    if (next) {
      seen.add(next);
      order.push(next);
    }
  }
  const columns = Math.max(2, Math.round(Math.sqrt(order.length * wide)));
  order.forEach((n, i) => {
    if (ends.length === 0) {
      const [turn, radius] = [(2 * Math.PI * i) / order.length, 16 * order.length];
      [n.x, n.y] = [Math.cos(turn) * radius, Math.sin(turn) * radius];
      return;
    }
    const [row, column] = [Math.floor(i / columns), i % columns];
    n.x = ((row % 2 === 0 ? column : columns - 1 - column) - (columns - 1) / 2) * 100;
    n.y = (row - Math.floor((order.length - 1) / columns) / 2) * 100;
  });
  return order;
}
