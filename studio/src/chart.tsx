// Charts of an answer: bars, lines or points, drawn as SVG. The table has the same data.

import { useState } from "preact/hooks";
import type { Rows } from "./api";
import type { Json } from "./json";
import { visible } from "./text";

const kinds = ["bars", "line", "points"] as const;
type Kind = (typeof kinds)[number];

interface Choice {
  kind: Kind;
  x: string;
  y: string;
}

const moment = /^\d{4}-\d\d-\d\d(T|$)/;

function isNumber(value: Json | undefined): boolean {
  return typeof value === "number" || typeof value === "bigint";
}

function all(rows: Rows, column: string, test: (value: Json | undefined) => boolean): boolean {
  const values = rows.rows.map((row) => row[column]).filter((v) => v !== null && v !== undefined);
  return values.length > 0 && values.every(test);
}

/** Proposes a chart by the values of the columns, or returns null if there is nothing to draw. */
export function chartOf(rows: Rows): Choice | null {
  const numbers = rows.columns.filter((c) => all(rows, c, isNumber));
  const scalars = rows.columns.filter((c) => all(rows, c, (v) => typeof v !== "object"));
  const y = numbers.at(-1);
  const x = scalars.find((c) => !numbers.includes(c)) ?? numbers.find((c) => c !== y);
  if (y === undefined || x === undefined || rows.rows.length < 2) {
    return null;
  }
  const time = all(rows, x, (v) => typeof v === "string" && moment.test(v));
  return { kind: time ? "line" : numbers.includes(x) ? "points" : "bars", x, y };
}

/** The most marks of a chart. */
const mostMarks = { bars: 60, line: 2000, points: 2000 };

const size = { width: 900, height: 360, left: 70, right: 12, top: 12, bottom: 90 };

export function Chart(props: { rows: Rows; proposed: Choice }) {
  const { rows } = props;
  const [choice, setChoice] = useState(props.proposed);
  const { kind, x, y } = choice;
  const numbers = rows.columns.filter((c) => all(rows, c, isNumber));
  const columns = rows.columns.filter((c) => all(rows, c, (v) => typeof v !== "object"));
  const drawn = rows.rows.filter((row) => isNumber(row[y]) && row[x] !== null).slice(0, mostMarks[kind]);
  const select = (label: string, value: string, options: readonly string[], set: (value: string) => void) => (
    <label>
      {label}
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map((o) => (
          <option key={o} value={o}>
            {visible(o, 60)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <>
      <div class="row">
        {select("Chart", kind, kinds, (v) => setChoice({ ...choice, kind: v as Kind }))}
        {select("Across", x, columns, (v) => setChoice({ ...choice, x: v }))}
        {select("Up", y, numbers, (v) => setChoice({ ...choice, y: v }))}
      </div>
      <Marks kind={kind} label={`${y} by ${x}`} points={drawn.map((row) => ({ x: row[x] ?? null, y: Number(row[y]) }))} />
      {drawn.length < rows.rows.length && <p class="empty">The chart shows {drawn.length} of {rows.rows.length} rows.</p>}
    </>
  );
}

interface Point {
  x: Json;
  y: number;
}

// Returns round numbers that divide a range.
function ticks(from: number, to: number): number[] {
  const rough = (to - from || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.floor((to - first) / step + 1e-9) + 1 }, (_, i) => first + i * step);
}

function short(n: number): string {
  return n.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 4 });
}

function Marks(props: { kind: Kind; label: string; points: Point[] }) {
  const { kind, label, points } = props;
  const inner = { width: size.width - size.left - size.right, height: size.height - size.top - size.bottom };
  const ys = points.map((p) => p.y);
  const low = Math.min(...ys, ...(kind === "points" ? [] : [0]));
  const high = Math.max(...ys, ...(kind === "points" ? [] : [0]));
  const down = (y: number) => size.top + inner.height * (1 - (y - low) / (high - low || 1));
  // Numbers and moments have a place on the axis. Everything else has one place after the other.
  const places = points.map((p) => (kind === "bars" ? NaN : isNumber(p.x) ? Number(p.x) : typeof p.x === "string" && moment.test(p.x) ? Date.parse(p.x) : NaN));
  const scaled = places.length > 0 && places.every((n) => Number.isFinite(n));
  const [left, right] = scaled ? [Math.min(...places), Math.max(...places)] : [0, points.length];
  const across = (i: number) => size.left + inner.width * (scaled ? ((places[i] ?? 0) - left) / (right - left || 1) : (i + 0.5) / points.length);
  const ordered = points.map((p, i) => ({ ...p, i })).sort((a, b) => (scaled ? (places[a.i] ?? 0) - (places[b.i] ?? 0) : a.i - b.i));
  const every = Math.ceil(ordered.length / 30); // so that the names do not overlap
  const title = (p: Point) => <title>{visible(String(p.x), 120) + ": " + p.y.toLocaleString("en")}</title>;
  return (
    <div class="chart scroll" role="region" aria-label={"Chart: " + visible(label)} tabIndex={0}>
      <svg viewBox={`0 0 ${size.width} ${size.height}`} role="img" aria-label={visible(label)}>
        {ticks(low, high).map((t) => (
          <g key={t} class="axis">
            <line x1={size.left} x2={size.width - size.right} y1={down(t)} y2={down(t)} />
            <text x={size.left - 8} y={down(t)} text-anchor="end" dominant-baseline="central">
              {short(t)}
            </text>
          </g>
        ))}
        {kind === "line" && <polyline class="mark" points={ordered.map((p) => `${across(p.i).toFixed(1)},${down(p.y).toFixed(1)}`).join(" ")} />}
        {ordered.map((p) =>
          kind === "bars" ? (
            <rect key={p.i} class="mark" x={across(p.i) - (inner.width / points.length) * 0.4} width={(inner.width / points.length) * 0.8} y={Math.min(down(p.y), down(0))} height={Math.abs(down(p.y) - down(0))}>
              {title(p)}
            </rect>
          ) : (
            <circle key={p.i} class="mark" cx={across(p.i)} cy={down(p.y)} r={kind === "points" ? 3.5 : 2}>
              {title(p)}
            </circle>
          ),
        )}
        {ordered.map(
          (p, k) =>
            k % every === 0 && (
              <text key={p.i} class="name" text-anchor="end" transform={`translate(${across(p.i).toFixed(1)} ${size.height - size.bottom + 14}) rotate(-35)`}>
                {visible(String(p.x), 18)}
              </text>
            ),
        )}
      </svg>
    </div>
  );
}
