// Entity: search for nodes; a page of one node with its properties, neighbours and history.

import { get, pathOf, post, type NodeHistory, type Row, type Rows, type Type } from "./api";
import { StoredBytes } from "./bytes";
import { Difference } from "./difference";
import { useTypes } from "./facts";
import { columnName, edgeProperties, labelProperty, listedLength, listedProperties, neighboursQuery, nodeQuery, searchQuery, waysOf, type Way } from "./gql";
import type { Json } from "./json";
import { inTurn } from "./limit";
import { Failure, Show, useLoad } from "./load";
import { Merged } from "./merged";
import { Neighbourhood } from "./neighbourhood";
import { go, href, route, target, targetMembers, withQuery } from "./route";
import { Table, Value } from "./table";
import { Actor, Moment, Text, visible } from "./text";

/** The most nodes that a search shows for one type. */
const mostFound = 50;

export function EntityPage() {
  const { graph, rest, query } = route.value;
  const types = useTypes(graph);
  const [name] = rest;
  const id = query.get("id");
  return (
    <Show of={types} heading="Entities">
      {(all) => {
        const nodes = all.filter((t) => t.kind === "node");
        const type = nodes.find((t) => t.name === name);
        if (name !== undefined && type === undefined) {
          return (
            <>
              <h1>Entities</h1>
              <p class="failure" role="alert">
                The schema has no node type <Text value={name} />.
              </p>
            </>
          );
        }
        if (type && id !== null) {
          return <NodePage key={id} graph={graph} type={type} types={all} id={id} />;
        }
        return <Search graph={graph} nodes={nodes} type={type} />;
      }}
    </Show>
  );
}

/** Returns the URL of the page of a node. */
export function nodeHref(graph: string, type: string, id: string, query: Record<string, string | undefined> = {}): string {
  return href(graph, "entity", [type], { branch: target.value.branch, at: target.value.at, ...query, id });
}

function Search(props: { graph: string; nodes: Type[]; type: Type | undefined }) {
  const { graph, nodes, type } = props;
  const words = route.value.query.get("q") ?? "";
  const searched = type ? [type] : words ? nodes : [];
  return (
    <>
      <h1>Entities</h1>
      <form
        class="row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget).get("q");
          go(withQuery({ q: typeof given === "string" ? given : undefined }));
        }}
      >
        <label>
          Type
          <select value={type?.name ?? ""} onChange={(event) => go(href(graph, "entity", [event.currentTarget.value], { branch: target.value.branch, at: target.value.at, q: words }))}>
            <option value="">all</option>
            {nodes.map((t) => (
              <option key={t.name} value={t.name}>
                {t.name}
              </option>
            ))}
          </select>
        </label>
        <label class="grow">
          The id, or a part of a text
          <input key={words} type="search" name="q" defaultValue={words} />
        </label>
        <button type="submit">Search</button>
      </form>
      {nodes.length === 0 && <p class="empty">The schema has no node types.</p>}
      {searched.length === 0 && nodes.length > 0 && <p class="empty">Choose a type to see its first nodes, or search in all types.</p>}
      {searched.map((t) => (
        <Found key={t.name} graph={graph} type={t} words={words} most={type ? mostFound : 10} />
      ))}
    </>
  );
}

function Found(props: { graph: string; type: Type; words: string; most: number }) {
  const { graph, type, words, most } = props;
  const members = targetMembers();
  const found = useLoad(`search ${graph} ${type.name} ${most} ${JSON.stringify(members)} ${words}`, (signal) =>
    inTurn(signal, () =>
      post<Rows>(
        pathOf(graph, "/query"),
        { query: searchQuery(type, words !== "", most + 1), ...(words ? { params: { exact: words, part: words.toLowerCase() } } : {}), ...members },
        signal,
      ),
    ),
  );
  return (
    <section>
      <h2>
        <Text value={type.name} />
      </h2>
      <Show of={found}>
        {({ rows }) => (
          <>
            <Table
              label={type.name}
              rows={rows.slice(0, most)}
              empty={words ? "No node has this text." : "There are no nodes of this type."}
              columns={[
                { name: "id", value: (row: Row) => row.id ?? null, view: (row) => <NodeLink graph={graph} type={type.name} id={String(row.id)} /> },
                ...listedProperties(type).map((p, i) => ({ name: p.name, value: (row: Row) => shortened(row[columnName(i)] ?? null) })),
              ]}
            />
            {rows.length > most && <p class="empty">There are more than {most}. {words ? "Search for a longer text." : "Search for a text."}</p>}
          </>
        )}
      </Show>
    </section>
  );
}

/** Appends dots to a text if a query has cut it. */
export function shortened(value: Json): Json {
  if (typeof value !== "string") {
    return value;
  }
  const points = [...value];
  return points.length > listedLength ? points.slice(0, listedLength).join("") + "…" : value;
}

export function NodeLink(props: { graph: string; type: string; id: string }) {
  return (
    <a href={nodeHref(props.graph, props.type, props.id)}>
      <Text value={props.id} most={listedLength} plain />
    </a>
  );
}

/** The maximum number of neighbours along one way, and of nodes in the drawing. */
const mostNeighbours = 50;
export const mostDrawn = 150;

export interface Neighbours {
  way: Way;
  rows: Row[];
  more: boolean;
}

function NodePage(props: { graph: string; type: Type; types: Type[]; id: string }) {
  const { graph, type, types, id } = props;
  const members = targetMembers();
  const place = `${graph} ${type.name} ${JSON.stringify(members)} ${id}`;
  const node = useLoad("node " + place, (signal) => post<Rows>(pathOf(graph, "/query"), { query: nodeQuery(type), params: { id }, ...members }, signal));
  const neighbours = useLoad("neighbours " + place, (signal) => loadNeighbours(graph, type, types, id, signal));
  return (
    <>
      <p class="crumbs">
        <a href={href(graph, "entity")}>Entities</a> › <a href={href(graph, "entity", [type.name])}>{type.name}</a> · <a href={href(graph, "explore", [], { branch: target.value.branch, at: target.value.at, type: type.name, id })}>Open in Explore</a>
      </p>
      <h1>
        <Text value={id} most={200} />
      </h1>
      <Show of={node}>
        {({ rows }) => {
          const found = rows[0]?.n as Row | undefined;
          return found ? (
            <Properties graph={graph} type={type} id={id} node={found} />
          ) : (
            <p class="note" role="status">
              This node does not exist on the branch or at the commit that you look at. Its history says when it did.
            </p>
          );
        }}
      </Show>
      <section>
        <h2>Neighbours</h2>
        <Show of={neighbours}>{(all) => <NeighbourLists graph={graph} type={type} id={id} all={all} />}</Show>
      </section>
      <History graph={graph} type={type} id={id} />
    </>
  );
}

function Properties(props: { graph: string; type: Type; id: string; node: Row }) {
  const { graph, type, id, node } = props;
  return (
    <dl class="properties">
      {type.properties.map((p) => (
        <div key={p.name}>
          <dt title={p.description === undefined ? undefined : visible(p.description)}>
            {p.name} <span class="kind">{p.type}</span>
          </dt>
          <dd>{p.kind === "Blob" ? <StoredBytes graph={graph} type={type.name} id={id} property={p.name} /> : <Value value={node[p.name]} />}</dd>
        </div>
      ))}
    </dl>
  );
}

// Requests the neighbours along each edge type and direction.
async function loadNeighbours(graph: string, type: Type, types: Type[], id: string, signal: AbortSignal): Promise<Neighbours[]> {
  const members = targetMembers();
  const load = async (way: Way): Promise<Neighbours> => {
    const query = neighboursQuery(type, way, mostNeighbours + 1);
    const { rows } = await inTurn(signal, () => post<Rows>(pathOf(graph, "/query"), { query, params: { id }, ...members }, signal));
    return { way, rows: rows.slice(0, mostNeighbours), more: rows.length > mostNeighbours };
  };
  const all = await Promise.all(waysOf(type, types).map(load));
  return all.filter((n) => n.rows.length > 0);
}

function NeighbourLists(props: { graph: string; type: Type; id: string; all: Neighbours[] }) {
  const { graph, type, id, all } = props;
  if (all.length === 0) {
    return <p class="empty">The node has no edges.</p>;
  }
  return (
    <>
      <Neighbourhood graph={graph} type={type} id={id} all={all} />
      <div class="lists">
        {all.map(({ way, rows, more }) => (
          <section key={way.edge.name + way.out + way.other.name}>
            <h3>
              {way.out ? "→ " : "← "}
              {way.edge.name} {way.out ? "to" : "from"} {way.other.name}
            </h3>
            <Table
              label={`${way.edge.name} ${way.out ? "to" : "from"} ${way.other.name}`}
              rows={rows}
              columns={[
                { name: way.other.name, value: (row: Row) => row.id ?? null, view: (row) => <NodeLink graph={graph} type={way.other.name} id={String(row.id)} /> },
                ...(labelProperty(way.other) ? [{ name: labelProperty(way.other)?.name ?? "", value: (row: Row) => shortened(row.label ?? null) }] : []),
                ...edgeProperties(way.edge).map((p, i) => ({ name: way.edge.name + "." + p.name, value: (row: Row) => shortened(row[columnName(i)] ?? null) })),
              ]}
            />
            {more && <p class="empty">These are the first {mostNeighbours}; there are more.</p>}
          </section>
        ))}
      </div>
    </>
  );
}

function History(props: { graph: string; type: Type; id: string }) {
  const { graph, type, id } = props;
  const { branch } = target.value;
  const before = route.value.query.get("before") ?? "";
  const history = useLoad(`history ${graph} ${type.name} ${branch} ${before} ${id}`, (signal) =>
    get<NodeHistory>(pathOf(graph, "/node/history", { type: type.name, id, branch, before }), signal),
  );
  return (
    <section>
      <h2>History</h2>
      {history.state === "failed" && history.error.status === 404 ? (
        <Failure error={history.error} />
      ) : (
        <Show of={history}>
          {(h) => (
            <>
              {h.versions.length === 0 && <p class="empty">None of the {h.examined} commits changed the node.</p>}
              <ol class="versions">
                {h.versions.map((v) => (
                  <li key={v.commit.graph_commit_id}>
                    <p>
                      <span class={"badge " + v.op}>{v.op}</span> <Moment micros={v.commit.created_at} /> by{" "}
                      <Actor of={v.commit} /> ·{" "}
                      <a href={href(graph, "history", [v.commit.graph_commit_id])}>the commit</a> ·{" "}
                      <a href={nodeHref(graph, type.name, id, { at: v.commit.graph_commit_id, branch: undefined })}>the node then</a>
                      <Merged graph={graph} commit={v.commit} />
                      {v.commit.message && <> · <Text value={v.commit.message} /></>}
                    </p>
                    <Difference before={v.before} after={v.after} />
                  </li>
                ))}
              </ol>
              {h.reclaimed && <p class="empty">A cleanup reclaimed older states, so the history does not go back further.</p>}
              {h.next_before !== null && <a href={withQuery({ before: String(h.next_before) })}>Look in older commits</a>}
            </>
          )}
        </Show>
      )}
    </section>
  );
}
