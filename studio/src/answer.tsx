// The answer of a read as a table, a drawing, JSON or a chart.

import { useState } from "preact/hooks";
import type { AssistQuery, Row, Rows } from "./api";
import { Chart, chartOf } from "./chart";
import { Drawing, type DrawnEdge, type DrawnNode } from "./drawing";
import { mostDrawn, nodeHref, NodeLink } from "./entity";
import { writeJson, type Json } from "./json";
import { go, href, target } from "./route";
import { emptyScene, encodeScene, withNodes } from "./scene";
import { Table, Value, type Column } from "./table";
import { Text } from "./text";

const views = { table: "Table", graph: "Graph", json: "JSON", chart: "Chart" } as const;
type View = keyof typeof views;

export function Answer(props: { graph: string; query: AssistQuery; rows: Rows; onNext: (() => void) | undefined }) {
  const { graph, query, rows, onNext } = props;
  const [view, setView] = useState<View>("table");
  const chart = chartOf(rows);
  const can: Record<View, boolean> = { table: true, json: true, graph: (query.nodes ?? []).length > 0, chart: chart !== null };
  return (
    <>
      <div class="tabs" role="group" aria-label="Form of the answer">
        {(Object.keys(views) as View[]).filter((v) => can[v]).map((v) => (
          <button key={v} type="button" class="plain" aria-pressed={v === view} onClick={() => setView(v)}>
            {views[v]}
          </button>
        ))}
      </div>
      <p role="status">
        {rows.row_count === 1 ? "1 row" : `${rows.row_count} rows`}
        {rows.truncated_by === "limit" ? ", as many as the limit of the query allows" : rows.truncated ? ", and there are more" : ""}
      </p>
      {rows.notes?.map((note) => (
        <p class="note">
          <Text value={note} />
        </p>
      ))}
      {view === "table" && <Table label={query.name} columns={columnsOf(graph, query, rows)} rows={rows.rows} empty="The answer has no rows." />}
      {view === "graph" && <Drawn graph={graph} query={query} rows={rows.rows} />}
      {view === "json" && (
        <pre tabIndex={0}>
          <Text value={writeJson(rows.rows, "  ")} most={20_000} />
        </pre>
      )}
      {view === "chart" && chart && <Chart rows={rows} proposed={chart} />}
      {onNext && (
        <button type="button" class="quiet" onClick={onNext}>
          Next rows
        </button>
      )}
    </>
  );
}

// Returns the id of a node in a column: the value is the node or its id.
function idOf(value: Json | undefined): string | null {
  if (typeof value === "string") {
    return value;
  }
  return value !== null && typeof value === "object" && !Array.isArray(value) && typeof value.id === "string" ? value.id : null;
}

function columnsOf(graph: string, query: AssistQuery, rows: Rows): Column<Row>[] {
  return rows.columns.map((name) => {
    const type = query.nodes?.find((n) => n.column === name)?.type;
    const value = (row: Row) => row[name] ?? null;
    if (type === undefined) {
      return { name, value };
    }
    return {
      name,
      value,
      view: (row) => {
        const id = idOf(row[name]);
        return (
          <>
            {id === null ? <Value value={null} /> : <NodeLink graph={graph} type={type} id={id} />}
            {id !== null && typeof row[name] !== "string" && (
              <div class="hint">
                <Value value={row[name]} most={160} />
              </div>
            )}
          </>
        );
      },
    };
  });
}

function Drawn(props: { graph: string; query: AssistQuery; rows: Row[] }) {
  const { graph, query, rows } = props;
  const nodes = new Map<string, DrawnNode>();
  const edges = new Map<string, DrawnEdge>();
  const left = new Set<string>();
  const open = async () => {
    const scene = await encodeScene(withNodes(emptyScene, [...nodes.keys(), ...left]));
    if (scene !== null) {
      go(href(graph, "explore", [], { ...target.value, scene }));
    }
  };
  for (const row of rows) {
    const keys = new Map<string, string>();
    for (const { column, type } of query.nodes ?? []) {
      const id = idOf(row[column]);
      if (id === null) {
        continue;
      }
      const key = type + "\n" + id;
      if (!nodes.has(key) && nodes.size >= mostDrawn) {
        left.add(key);
        continue;
      }
      nodes.set(key, { id: key, text: id, href: nodeHref(graph, type, id), details: [type] });
      keys.set(column, key);
    }
    for (const { from, to, edge } of query.links ?? []) {
      const [a, b] = [keys.get(from), keys.get(to)];
      if (a !== undefined && b !== undefined && a !== b) {
        edges.set(edge + "\n" + a + "\n" + b, { from: a, to: b, text: edge });
      }
    }
  }
  return (
    <>
      {nodes.size > 0 && (
        <button type="button" class="quiet" onClick={() => void open()}>
          Open in Explore
        </button>
      )}
      <Drawing label="The nodes of the answer; the table has the same data" direction="LR" nodes={[...nodes.values()]} edges={[...edges.values()]} />
      {(query.links ?? []).length === 0 && <p class="hint">The drawing has the edges that the match wants between two returned nodes. This query returns none.</p>}
      {left.size > 0 && <p class="empty">The drawing has room for {mostDrawn} nodes; {left.size} more are in the table.</p>}
    </>
  );
}
