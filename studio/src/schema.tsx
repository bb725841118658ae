// Schema: the map of types and edges, and a page for each type.

import type { Type } from "./api";
import { Drawing } from "./drawing";
import { endTypes, isInterface, useCounts, useTypes } from "./facts";
import { Show } from "./load";
import { href, route } from "./route";
import { Table } from "./table";
import { Text } from "./text";

/** The maximum number of types in a map. A map with more types would be hard to read. */
const mostMapped = 150;

export function SchemaPage() {
  const { graph, rest } = route.value;
  const [kind, name] = rest;
  const types = useTypes(graph);
  return (
    <Show of={types} heading="Schema">
      {(all) => {
        if (name === undefined) {
          return <Overview graph={graph} types={all} />;
        }
        const type = all.find((t) => t.kind === kind && t.name === name);
        return type ? (
          <TypePage graph={graph} type={type} types={all} />
        ) : (
          <>
            <h1>Schema</h1>
            <p class="failure" role="alert">
              The schema has no {kind === "edge" ? "edge" : "node"} type <Text value={name} />.
            </p>
          </>
        );
      }}
    </Show>
  );
}

export function typeHref(graph: string, type: { kind: string; name: string }): string {
  return href(graph, "schema", [type.kind, type.name]);
}

function Overview(props: { graph: string; types: Type[] }) {
  const { graph, types } = props;
  const counts = useCounts(graph);
  const count = (t: Type) => (counts.state === "done" ? (counts.value.get(t.kind + " " + t.name) ?? 0) : null);
  const nodes = types.filter((t) => t.kind === "node");
  const edges = types.filter((t) => t.kind === "edge");
  // The interfaces at the ends of edges are in the map too.
  const interfaces = [...new Set(edges.flatMap((e) => [e.from ?? "", e.to ?? ""]))].filter((end) => isInterface(end, types));
  const loops = (end: string) => edges.filter((e) => e.from === end && e.to === end).map((e) => "↻ " + e.name);
  const name = (t: Type) => (
    <a href={typeHref(graph, t)}>
      <Text value={t.name} plain />
    </a>
  );
  return (
    <>
      <h1>Schema</h1>
      {nodes.length === 0 && <p class="empty">The schema has no types.</p>}
      {nodes.length > 0 && nodes.length <= mostMapped && (
        <Drawing
          label="Map of the types; the tables below have the same data"
          direction="LR"
          nodes={[
            ...nodes.map((t) => ({
              id: t.name,
              text: t.name,
              href: typeHref(graph, t),
              details: [count(t) === null ? "…" : (count(t)?.toLocaleString("en") ?? ""), ...loops(t.name)],
            })),
            ...interfaces.map((name) => ({
              id: name,
              text: name,
              href: href(graph, "schema"),
              details: ["interface of", ...endTypes(name, types).map((t) => t.name), ...loops(name)],
            })),
          ]}
          edges={edges.filter((t) => t.from !== t.to).map((t) => ({ from: t.from ?? "", to: t.to ?? "", text: t.name }))}
        />
      )}
      {nodes.length > mostMapped && <p class="empty">The map has room for {mostMapped} node types, and the schema has more. The tables have them all.</p>}
      <h2>Node types</h2>
      <Table
        label="Node types"
        rows={nodes}
        columns={[
          { name: "Type", value: (t) => t.name, view: name },
          { name: "Nodes", value: count },
          { name: "Properties", value: (t) => t.properties.length },
          { name: "Description", value: (t) => t.description ?? "" },
        ]}
      />
      <h2>Edge types</h2>
      <Table
        label="Edge types"
        rows={edges}
        empty="The schema has no edge types."
        columns={[
          { name: "Type", value: (t) => t.name, view: name },
          { name: "From", value: (t) => t.from ?? "" },
          { name: "To", value: (t) => t.to ?? "" },
          { name: "Edges", value: count },
          { name: "Description", value: (t) => t.description ?? "" },
        ]}
      />
    </>
  );
}

function TypePage(props: { graph: string; type: Type; types: Type[] }) {
  const { graph, type, types } = props;
  const touching = types.filter((t) => t.kind === "edge" && (endTypes(t.from, types).includes(type) || endTypes(t.to, types).includes(type)));
  const nodeLink = (name: string) =>
    isInterface(name, types) ? (
      <>
        {name} (
        {endTypes(name, types).map((t, i) => (
          <>
            {i > 0 && ", "}
            <a href={typeHref(graph, t)}>{t.name}</a>
          </>
        ))}
        )
      </>
    ) : (
      <a href={typeHref(graph, { kind: "node", name })}>{name}</a>
    );
  return (
    <>
      <p class="crumbs">
        <a href={href(graph, "schema")}>Schema</a>
      </p>
      <h1>
        <Text value={type.name} /> <span class="kind">{type.kind} type</span>
      </h1>
      {type.description && (
        <p class="lead">
          <Text value={type.description} />
        </p>
      )}
      {type.kind === "edge" && (
        <p>
          From {nodeLink(type.from ?? "")} to {nodeLink(type.to ?? "")}.
        </p>
      )}
      {type.implements && <p>Implements {type.implements.join(", ")}.</p>}
      {type.kind === "node" && (
        <p>
          <a href={href(graph, "entity", [type.name])}>See its nodes</a>
        </p>
      )}
      <h2>Properties</h2>
      <Table
        label={type.name + " properties"}
        rows={type.properties}
        empty="The type has no properties."
        columns={[
          { name: "Property", value: (p) => p.name },
          { name: "Type", value: (p) => p.type },
          { name: "Key", value: (p) => (type.key?.includes(p.name) ? "key" : "") },
          { name: "Description", value: (p) => p.description ?? "" },
        ]}
      />
      {type.rules.length > 0 && (
        <>
          <h2>Rules</h2>
          <ul>
            {type.rules.map((rule) => (
              <li key={rule}>
                <code>
                  <Text value={rule} />
                </code>
              </li>
            ))}
          </ul>
        </>
      )}
      {type.kind === "node" && (
        <>
          <h2>Edges</h2>
          <Table
            label={type.name + " edges"}
            rows={touching}
            empty="No edge type starts or ends here."
            columns={[
              { name: "Edge", value: (t) => t.name, view: (t) => <a href={typeHref(graph, t)}>{t.name}</a> },
              { name: "From", value: (t) => t.from ?? "", view: (t) => nodeLink(t.from ?? "") },
              { name: "To", value: (t) => t.to ?? "", view: (t) => nodeLink(t.to ?? "") },
              { name: "Description", value: (t) => t.description ?? "" },
            ]}
          />
        </>
      )}
      <h2>Stored queries that use it</h2>
      {type.queries.length === 0 ? (
        <p class="empty">No stored query that you may run uses the type.</p>
      ) : (
        <ul>
          {type.queries.map((q) => (
            <li key={q}>
              <a href={href(graph, "run", [q])}>{q}</a>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
