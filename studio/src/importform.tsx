// The form of an import: the type, the columns of its properties, and those that name other nodes. It imports only what was tried before.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { ApiError, pathOf, post, type Property, type Type } from "./api";
import { Faults, MissingType, type Dropped } from "./import";
import { draftOf, keyOf, mapOf, progress, refsOf, retyped, type Draft, type Loaded, type Reads, type Ref, type Sets } from "./importmap";
import { proposeHref } from "./propose";
import { href, target } from "./route";
import { Text, visible } from "./text";

export function ImportForm(props: { graph: string; dropped: Dropped; types: Type[]; mayWrite: boolean; onDone: () => void }) {
  const { graph, dropped, types, mayWrite } = props;
  const { proposal } = dropped;
  const branch = target.value.branch || "main";
  const [draft, setDraft] = useState<Draft>(() => draftOf(proposal.map));
  const [into, setInto] = useState(mayWrite ? branch : "draft");
  const [mode, setMode] = useState("merge");
  const [newEdges, setNewEdges] = useState(false);
  const [message, setMessage] = useState("");
  const [tried, setTried] = useState<Loaded | null>(null);
  const [done, setDone] = useState<Loaded | null>(null);
  const [fault, setFault] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const [read, setRead] = useState(0); // records that the server has read
  const repeated = useRef({ body: "", key: "" }); // an import that is sent again, as its answer was lost, is the same one
  const type = types.find((t) => draft.type === t.kind + " " + t.name);
  const refs = type ? refsOf(type, types) : [];
  const change = (changes: Partial<Draft>) => {
    setTried(null);
    setFault(null);
    setDraft({ ...draft, ...changes });
  };
  const send = async (dry: boolean) => {
    if (!type || busy) {
      return;
    }
    setBusy(true);
    setRead(0);
    setFault(null);
    const watching = new AbortController();
    void progress(graph, dropped.id, setRead, watching.signal);
    try {
      const body = { file_name: dropped.name, map: mapOf(dropped.name, draft, type, refs), branch: into, mode, ...(newEdges && mode !== "append" ? { new_edges: true } : {}), ...(dry ? { dry_run: true } : {}) };
      const sent = JSON.stringify([body, message.trim()]);
      if (repeated.current.body !== sent) {
        repeated.current = { body: sent, key: crypto.randomUUID() };
      }
      const headers: Record<string, string> = dry ? {} : { "Idempotency-Key": repeated.current.key };
      if (!dry && message.trim() !== "") {
        headers["Omnigraph-Message"] = encodeURIComponent(message.trim());
      }
      const answer = await post<Loaded>(pathOf(graph, `/uploads/${dropped.id}/import`), body, undefined, headers);
      (dry ? setTried : setDone)(answer);
      if (!dry) {
        props.onDone();
      }
    } catch (error) {
      setTried(null);
      setFault(error instanceof ApiError ? error : new ApiError(0, String(error)));
    }
    watching.abort();
    setBusy(false);
  };
  if (done) {
    return <Done graph={graph} done={done} />;
  }
  return (
    <form
      noValidate
      aria-label="How to import the file"
      aria-busy={busy}
      onSubmit={(event) => {
        event.preventDefault();
        void send(true);
      }}
    >
      <h2>What it becomes</h2>
      {proposal.map === "" && <MissingType graph={graph} source={proposal.schema_source} />}
      <label class="field">
        Each row becomes
        <select value={draft.type} onChange={(event) => change(retyped(types.find((t) => event.currentTarget.value === t.kind + " " + t.name), proposal))}>
          {!type && <option value="">Choose…</option>}
          {types.map((t) => (
            <option key={t.kind + t.name} value={t.kind + " " + t.name}>
              {(t.kind === "node" ? "a node " : "an edge ") + visible(t.name)}
            </option>
          ))}
        </select>
      </label>
      {type && <Properties type={type} draft={draft} dropped={dropped} onChange={(set) => change({ set })} />}
      {refs.length > 0 && <Refs refs={refs} isEdge={type?.kind === "edge"} draft={draft} dropped={dropped} onChange={(ends) => change({ ends })} />}
      <div class="row">
        <label>
          Into
          <select value={into} onChange={(event) => (setTried(null), setInto(event.currentTarget.value))}>
            {mayWrite && <option value={branch}>{"the branch " + visible(branch)}</option>}
            <option value="draft">my draft</option>
          </select>
        </label>
        <label>
          What is there already
          <select value={mode} onChange={(event) => (setTried(null), setMode(event.currentTarget.value))}>
            <option value="merge">is replaced</option>
            <option value="patch">keeps what the file lacks</option>
            <option value="append">is a fault</option>
          </select>
        </label>
        {refs.length > 0 && mode !== "append" && (
          <label class="row">
            <input type="checkbox" checked={newEdges} onChange={(event) => (setTried(null), setNewEdges(event.currentTarget.checked))} />
            Edges without a @unique are new edges
          </label>
        )}
        <label class="grow">
          <span>
            Message <span class="optional">(optional)</span>
          </span>
          <input value={message} autocomplete="off" onInput={(event) => setMessage(event.currentTarget.value)} />
        </label>
      </div>
      {fault && <Faults error={fault} />}
      {busy && (
        <p class="loading" role="status">
          {read === 0
            ? "The server reads the file…"
            : read < dropped.proposal.rows
              ? `The server has read ${read.toLocaleString("en")} of ${dropped.proposal.rows.toLocaleString("en")} rows…`
              : "The server has read all rows, and checks them as one commit…"}
        </p>
      )}
      {tried && (
        <div class="note" role="status">
          <p>Nothing was written. The import would make these changes:</p>
          <Counts of={tried} />
        </div>
      )}
      <div class="row">
        <button type="submit" disabled={busy || !type}>
          Try without writing
        </button>
        {tried && (
          <button type="button" disabled={busy} onClick={() => void send(false)}>
            Import into {into === "draft" ? "my draft" : <Text value={branch} plain />}
          </button>
        )}
      </div>
    </form>
  );
}

// The key of a map under which a property of a kind says how its values are written, with an example.
const written: Record<string, [string, string]> = {
  Date: ["date", "02.01.2006 for 2 January 2006"],
  DateTime: ["time", "02.01.2006 15:04"],
  F32: ["number", "1.234,56"],
  F64: ["number", "1.234,56"],
  Decimal: ["number", "1.234,56"],
};

function Properties(props: { type: Type; draft: Draft; dropped: Dropped; onChange: (set: Sets) => void }) {
  const { type, draft, dropped, onChange } = props;
  const put = (p: Property, reads: Reads | null) => {
    const { [p.name]: _, ...rest } = draft.set;
    onChange(reads ? { ...rest, [p.name]: reads } : rest);
  };
  if (type.properties.length === 0) {
    return null;
  }
  return (
    <fieldset class="mapping">
      <legend>Properties</legend>
      {type.properties.map((p) => {
        const reads = draft.set[p.name];
        const [option, example] = (p.list ? ["list", ";"] : written[p.kind]) ?? [];
        const isKey = type.key?.includes(p.name) ?? false;
        return (
          <div key={p.name} class="mapped">
            <Choice
              label={<><Text value={p.name} plain /> <span class="kind">{visible(p.type)}</span>{isKey && <span class="badge">key</span>}</>}
              dropped={dropped}
              reads={reads}
              needed={!p.type.endsWith("?")}
              onChange={(next) => put(p, next)}
            />
            {reads && option && (
              <label>
                <span>
                  {option === "list" ? "Separated by" : "Written as"} <span class="optional">(optional)</span>
                </span>
                <input
                  value={String(reads[option] ?? "")}
                  placeholder={example}
                  onInput={(event) => {
                    const { [option]: _, ...rest } = reads;
                    put(p, event.currentTarget.value === "" ? rest : { ...rest, [option]: event.currentTarget.value });
                  }}
                />
              </label>
            )}
          </div>
        );
      })}
    </fieldset>
  );
}

// The columns that name other nodes. They become edges.
function Refs(props: { refs: Ref[]; isEdge: boolean; draft: Draft; dropped: Dropped; onChange: (ends: Record<string, Sets>) => void }) {
  const { refs, isEdge, draft, dropped, onChange } = props;
  return (
    <fieldset class="mapping">
      <legend>{isEdge ? "Ends" : "References"}</legend>
      {refs.map((r) =>
        r.by.map((p) => {
          const by = draft.ends[keyOf(r)] ?? {};
          return (
            <div key={keyOf(r) + " " + p} class="mapped">
              <Choice
                label={
                  <>
                    {isEdge ? (r.out ? "to " : "from ") : r.out ? <><Text value={r.edge} plain /> to </> : <><Text value={r.edge} plain /> from </>}
                    <Text value={r.type} plain /> <span class="kind">{visible(p)}</span>
                  </>
                }
                dropped={dropped}
                reads={by[p]}
                needed={false}
                onChange={(next) => {
                  const { [p]: _, ...rest } = by;
                  onChange({ ...draft.ends, [keyOf(r)]: next ? { ...rest, [p]: next } : rest });
                }}
              />
            </div>
          );
        }),
      )}
    </fieldset>
  );
}

// A choice of a column.
function Choice(props: { label: ComponentChildren; dropped: Dropped; reads: Reads | undefined; needed: boolean; onChange: (reads: Reads | null) => void }) {
  const { label, dropped, reads, needed, onChange } = props;
  const { columns } = dropped.proposal;
  const at = columns.findIndex((c) => c.name === reads?.column);
  return (
    <label>
      <span>{label}</span>
      <select value={String(at)} onChange={(event) => onChange((columns[Number(event.currentTarget.value)]?.reads as Reads | undefined) ?? null)}>
        <option value="-1">{needed ? "no column (needed)" : "no column"}</option>
        {columns.map((c, i) => (
          <option key={c.name} value={String(i)}>
            {visible(c.name, 60)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Counts(props: { of: Loaded }) {
  const { nodes, edges, node_changes: nodeChanges, edge_changes: edgeChanges } = props.of;
  const total = (list: Loaded["nodes"]) => list.map((t) => `${t.entities_loaded.toLocaleString("en")} ${visible(t.name)}`).join(", ");
  const changed = (c: Loaded["node_changes"]) => (c ? `: ${c.inserted.toLocaleString("en")} new, ${c.updated.toLocaleString("en")} changed` : "");
  return (
    <ul>
      {nodes.length > 0 && <li>Nodes: {total(nodes)}{changed(nodeChanges)}</li>}
      {edges.length > 0 && <li>Edges: {total(edges)}{changed(edgeChanges)}</li>}
      {nodes.length + edges.length === 0 && <li>none: the file has no rows</li>}
    </ul>
  );
}

function Done(props: { graph: string; done: Loaded }) {
  const { graph, done } = props;
  return (
    <div class="note" role="status">
      <p>
        The import is on the branch <Text value={done.branch} />. {done.commit ? <a href={href(graph, "history", [done.commit.graph_commit_id])}>See what it changed</a> : "Nothing changed, because all of it was there."}
        {done.branch !== "main" && done.commit && (
          <>
            {" · "}
            <a href={proposeHref(graph, done.branch, "main")}>Propose it for main</a>
          </>
        )}
      </p>
      <Counts of={done} />
    </div>
  );
}
