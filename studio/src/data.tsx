// Data: a grid over the nodes of a type. The URL has the type, the order, the filters and the columns.

import { useEffect, useState } from "preact/hooks";
import { ApiError, pathOf, post, type Property, type Row, type Rows, type Type } from "./api";
import { NodeLink, shortened } from "./entity";
import { useCounts, useTypes } from "./facts";
import { columnName, listedProperties } from "./gql";
import { inGrid, operatorsOf, pageQuery, pageSize, placeOf, type Filter } from "./grid";
import { Failure, Show } from "./load";
import { go, href, route, target, targetMembers, withQuery } from "./route";
import { RowForm } from "./rowform";
import { token } from "./session";
import { Value } from "./table";
import { Text, visible } from "./text";

export function DataPage() {
  const { graph, rest } = route.value;
  const types = useTypes(graph);
  return (
    <Show of={types} heading="Data">
      {(all) => {
        const nodes = all.filter((t) => t.kind === "node");
        const type = rest[0] === undefined ? nodes[0] : nodes.find((t) => t.name === rest[0]);
        return (
          <>
            <h1>{type ? <>Data: <Text value={type.name} plain /></> : "Data"}</h1>
            {type ? (
              <Sheet key={type.name} graph={graph} type={type} nodes={nodes} />
            ) : nodes.length === 0 ? (
              <p class="empty">The schema has no node types.</p>
            ) : (
              <p class="failure" role="alert">
                The schema has no node type <Text value={rest[0] ?? ""} />.
              </p>
            )}
          </>
        );
      }}
    </Show>
  );
}

function Sheet(props: { graph: string; type: Type; nodes: Type[] }) {
  const { graph, type, nodes } = props;
  const { query } = route.value;
  const counts = useCounts(graph);
  const [edited, setEdited] = useState<string | null>(); // the id of the node in the form; null for a new one
  const [written, setWritten] = useState(0); // counts the writes, so that the grid shows them
  const possible = type.properties.filter(inGrid);
  const chosen = query.getAll("column");
  const columns = chosen.length > 0 ? possible.filter((p) => chosen.includes(p.name)) : listedProperties(type);
  const order = possible.find((p) => p.name === query.get("sort"));
  const down = query.get("down") !== null;
  const filters = query.getAll("filter").flatMap((text): Filter[] => {
    const [property = "", operator = "", ...value] = text.split("|");
    return [{ property, operator, value: value.join("|") }];
  });
  const set = (name: string, values: string[]) => {
    const next = new URLSearchParams(query);
    next.delete(name);
    values.forEach((v) => next.append(name, v));
    go(location.pathname + "?" + next.toString(), true);
  };
  const setFilters = (list: Filter[]) => set("filter", list.map((f) => [f.property, f.operator, f.value].join("|")));
  const sort = (p: Property) => go(withQuery({ sort: p.name, down: order === p && !down ? "1" : undefined }), true);
  return (
    <>
      <div class="row">
        <label>
          Type
          <select value={type.name} onChange={(event) => go(href(graph, "data", [event.currentTarget.value], { branch: target.value.branch, at: target.value.at }))}>
            {nodes.map((t) => (
              <option key={t.name}>{t.name}</option>
            ))}
          </select>
        </label>
        {counts.state === "done" && <span class="hint">{(counts.value.get("node " + type.name) ?? 0).toLocaleString("en")} nodes in all</span>}
      </div>
      {filters.map((f, i) => (
        <FilterRow key={i} type={type} filter={f} onChange={(changed) => setFilters(filters.flatMap((old, k) => (k !== i ? [old] : changed ? [changed] : [])))} />
      ))}
      <div class="row">
        {possible[0] && (
          <button type="button" class="quiet" onClick={() => possible[0] && setFilters([...filters, { property: possible[0].name, operator: operatorsOf(possible[0])[0] ?? "=", value: "" }])}>
            Add a filter
          </button>
        )}
        {target.value.at === "" && (
          <button type="button" class="quiet" onClick={() => setEdited(null)}>
            Add a node
          </button>
        )}
        <details>
          <summary>Columns</summary>
          {possible.map((p) => (
            <label key={p.name} class="row">
              <input
                type="checkbox"
                checked={columns.includes(p)}
                onChange={(event) => set("column", possible.filter((x) => (x === p ? event.currentTarget.checked : columns.includes(x))).map((x) => x.name))}
              />
              {p.name}
            </label>
          ))}
        </details>
      </div>
      {edited !== undefined && <RowForm key={edited} graph={graph} type={type} id={edited} onClose={() => setEdited(undefined)} onWritten={() => setWritten((n) => n + 1)} />}
      <Grid
        key={[written, JSON.stringify(targetMembers()), query.toString(), token.value].join("\n")}
        graph={graph}
        type={type}
        columns={columns}
        filters={filters}
        order={order}
        down={down}
        onSort={sort}
        onEdit={target.value.at ? undefined : setEdited}
      />
    </>
  );
}

function FilterRow(props: { type: Type; filter: Filter; onChange: (filter: Filter | null) => void }) {
  const { type, filter, onChange } = props;
  const possible = type.properties.filter(inGrid);
  const p = possible.find((x) => x.name === filter.property);
  const choices = p?.enum ?? (p?.kind === "Bool" ? ["true", "false"] : null);
  const options = (list: string[]) => list.map((o) => <option key={o} value={o}>{visible(o, 60)}</option>);
  return (
    <div class="row" role="group" aria-label={"Filter by " + filter.property}>
      <select
        aria-label="Property"
        value={filter.property}
        onChange={(event) => {
          const next = possible.find((x) => x.name === event.currentTarget.value);
          onChange(next ? { property: next.name, operator: operatorsOf(next)[0] ?? "=", value: "" } : filter);
        }}
      >
        {options(possible.map((x) => x.name))}
      </select>
      <select aria-label="Condition" value={filter.operator} onChange={(event) => onChange({ ...filter, operator: event.currentTarget.value })}>
        {options(p ? operatorsOf(p) : [])}
      </select>
      {!filter.operator.startsWith("is ") &&
        (choices ? (
          <select aria-label="Value" value={filter.value} onChange={(event) => onChange({ ...filter, value: event.currentTarget.value })}>
            {options(["", ...choices])}
          </select>
        ) : (
          <input aria-label="Value" value={filter.value} onChange={(event) => onChange({ ...filter, value: event.currentTarget.value })} />
        ))}
      <button type="button" class="quiet" onClick={() => onChange(null)}>
        Remove
      </button>
    </div>
  );
}

const rowHeight = 36; // as in workbench.css
const spare = 10; // rows above and below the visible ones that are in the page too

interface GridProps {
  graph: string;
  type: Type;
  columns: Property[];
  filters: Filter[];
  order: Property | undefined;
  down: boolean;
  onSort: (p: Property) => void;
  onEdit: ((id: string) => void) | undefined; // absent at a commit, which nobody can change
}

// Shows the rows that have come, of which only the visible ones are in the page. It asks for more when the user scrolls near the end.
function Grid(props: GridProps) {
  const { graph, type, columns, filters, order, down, onSort, onEdit } = props;
  const [rows, setRows] = useState<Row[]>([]);
  const [more, setMore] = useState(true);
  const [fault, setFault] = useState<ApiError | null>(null);
  const [first, setFirst] = useState(0); // the first visible row
  const shown = Math.ceil(window.innerHeight / rowHeight);
  const wanted = more && fault === null && first + shown + pageSize / 2 > rows.length;
  useEffect(() => {
    if (!wanted) {
      return;
    }
    const controller = new AbortController();
    const last = rows.at(-1);
    const { query, params } = pageQuery(type, columns, filters, order, down, last ? placeOf(last) : null);
    post<Rows>(pathOf(graph, "/query"), { query, params, ...targetMembers() }, controller.signal).then(
      (answer) => {
        setRows([...rows, ...answer.rows.slice(0, pageSize)]);
        setMore(answer.rows.length > pageSize);
      },
      (error: unknown) => !controller.signal.aborted && setFault(error instanceof ApiError ? error : new ApiError(0, String(error))),
    );
    return () => controller.abort();
  }, [wanted, rows.length]);
  const from = Math.max(first - spare, 0);
  const to = Math.min(first + shown + spare, rows.length);
  const arrow = (p: Property) => (p !== order ? "" : down ? " ↓" : " ↑");
  return (
    <>
      {fault && <Failure error={fault} />}
      <p class={wanted && rows.length === 0 ? "loading" : "hint"} role="status">
        {wanted && rows.length === 0 ? "Loading…" : rows.length === 0 ? "No node fits." : `${rows.length.toLocaleString("en")} rows${more ? ", and there are more" : " in all"}`}
      </p>
      {rows.length > 0 && (
        <div class="scroll grid" role="region" aria-label={"Nodes of the type " + type.name} tabIndex={0} onScroll={(event) => setFirst(Math.floor(event.currentTarget.scrollTop / rowHeight))}>
          <table aria-rowcount={more ? -1 : rows.length + 1}>
            <thead>
              <tr>
                <th scope="col">id</th>
                {columns.map((p) => (
                  <th key={p.name} scope="col" aria-sort={p !== order ? "none" : down ? "descending" : "ascending"}>
                    <button type="button" class="plain" title={visible(p.description ?? p.type)} onClick={() => onSort(p)}>
                      {p.name + arrow(p)}
                    </button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {from > 0 && <tr style={{ height: from * rowHeight + "px" }} aria-hidden="true" />}
              {rows.slice(from, to).map((row, i) => (
                <tr key={from + i} aria-rowindex={from + i + 2}>
                  <td>
                    {onEdit && (
                      <button type="button" class="plain" aria-label={"Edit " + visible(String(row.id), 160)} onClick={() => onEdit(String(row.id))}>
                        ✎
                      </button>
                    )}
                    <NodeLink graph={graph} type={type.name} id={String(row.id)} />
                  </td>
                  {columns.map((p, k) => (
                    <td key={p.name}>
                      <Value value={shortened(row[columnName(k)] ?? null)} most={200} />
                    </td>
                  ))}
                </tr>
              ))}
              {to < rows.length && <tr style={{ height: (rows.length - to) * rowHeight + "px" }} aria-hidden="true" />}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
