// Small drawings of the overview: a line of the size of a graph, and bars of the calls by hour. Their numbers are texts too.

import type { GrowthPoint, Tally } from "./api";
import { href } from "./route";
import { Moment } from "./text";

const size = { width: 480, height: 120, pad: 6 };

/** Draws the number of nodes and of edges by the time of the commit. Each point leads to its commit. */
export function GrowthLine(props: { graph: string; points: GrowthPoint[] }) {
  const { graph, points } = props;
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) {
    return null;
  }
  const span = last.created_at - first.created_at || 1;
  const across = (p: GrowthPoint) => size.pad + ((size.width - 2 * size.pad) * (p.created_at - first.created_at)) / span;
  const most = Math.max(1, ...points.map((p) => Math.max(p.nodes, p.edges)));
  const up = (n: number) => size.height - size.pad - ((size.height - 2 * size.pad) * n) / most;
  const change = (of: "nodes" | "edges") => `${first[of].toLocaleString("en")} → ${last[of].toLocaleString("en")} ${of}`;
  return (
    <figure class="spark">
      <svg viewBox={`0 0 ${size.width} ${size.height}`} preserveAspectRatio="none" role="img" aria-label={`${change("nodes")}, ${change("edges")}`}>
        {(["edges", "nodes"] as const).map((of) => (
          <polyline key={of} class={of} points={points.map((p) => `${across(p).toFixed(1)},${up(p[of]).toFixed(1)}`).join(" ")} vector-effect="non-scaling-stroke" />
        ))}
      </svg>
      <figcaption>
        <span class="key-nodes">{change("nodes")}</span>
        <span class="key-edges">{change("edges")}</span>
        <span class="hint">
          since <a href={href(graph, "history", [first.graph_commit_id])}><Moment micros={first.created_at} /></a>
        </span>
      </figcaption>
    </figure>
  );
}

/** Draws the calls of each hour, the failed ones in another colour. */
export function HourBars(props: { hours: (Tally & { from: number })[] }) {
  const { hours } = props;
  const most = Math.max(1, ...hours.map((h) => h.calls));
  const width = size.width / Math.max(1, hours.length);
  const high = (n: number) => (n === 0 ? 0 : Math.max(2, ((size.height - 2) * n) / most));
  const time = (micros: number) => new Date(micros / 1000).toISOString().slice(11, 16);
  const ends = [hours[0], hours.at(-1)];
  return (
    <figure class="spark hours">
      <svg viewBox={`0 0 ${size.width} ${size.height}`} preserveAspectRatio="none" role="img" aria-label={`Calls by hour, at most ${most.toLocaleString("en")}`}>
        {hours.map((h, i) => (
          <g key={h.from}>
            <title>{`${time(h.from)} UTC: ${h.calls.toLocaleString("en")} calls, ${h.failed.toLocaleString("en")} failed`}</title>
            <rect class="slot" x={i * width} y={0} width={width} height={size.height} />
            <rect class="calls" x={i * width + 1} width={width - 2} y={size.height - high(h.calls)} height={high(h.calls)} />
            <rect class="failed" x={i * width + 1} width={width - 2} y={size.height - high(h.failed)} height={high(h.failed)} />
          </g>
        ))}
      </svg>
      <figcaption>
        {ends.map((h) => h && <span key={h.from}>{time(h.from)} UTC</span>)}
      </figcaption>
    </figure>
  );
}
