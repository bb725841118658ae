// The part of the Query page that runs a text: the form of the parameters, the buttons, and the answer.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { pathOf, post, type AssistParam, type AssistQuery, type Explained, type Mutated, type ParamSchema, type Rows } from "./api";
import { Answer } from "./answer";
import { Field, paramsOf } from "./field";
import type { Json } from "./json";
import { Show, useLoad } from "./load";
import { href, target, targetMembers, withQuery } from "./route";
import { Table } from "./table";
import { Text } from "./text";

type Kind = "read" | "dry" | "write" | "explain" | "analyze";

interface Call {
  count: number;
  kind: Kind;
  query: AssistQuery;
  text: string;
  params: Record<string, Json>;
}

const schemas: Record<string, ParamSchema> = {
  bool: { type: "boolean" },
  int: { type: "integer" },
  bigint: { type: "integer" },
  float: { type: "number" },
  date: { type: "string", format: "date" },
  datetime: { type: "string", format: "date-time" },
  vector: { type: "array", items: { type: "number" } },
  record: { type: "object" },
};

function schemaOf(p: AssistParam): ParamSchema {
  const kind = (name: string): ParamSchema => schemas[name] ?? { type: "string" };
  const base = p.interface ? { type: "object", properties: { type: {}, id: {} } } : p.kind === "list" ? { type: "array", items: kind(p.item_kind ?? "") } : kind(p.kind);
  const bound = (value: Json | undefined) => (typeof value === "number" ? value : undefined);
  return { ...base, description: p.description, default: p.default, minimum: bound(p.minimum), maximum: bound(p.maximum) };
}

export function Runner(props: {
  graph: string;
  text: string;
  queries: AssistQuery[] | null; // those without errors, or null while they are not known
  checked: boolean; // the server checks the text
  faulty: boolean;
  asked: number;
  onRun: () => void;
  children: ComponentChildren;
}) {
  const { graph, text, queries, checked, faulty, asked, onRun } = props;
  const [name, setName] = useState("");
  const [texts, setTexts] = useState<Record<string, string | null>>({});
  const [tried, setTried] = useState(false);
  const [call, setCall] = useState<Call | null>(null);
  const query = queries?.find((q) => q.name === name) ?? queries?.[0];
  const fields = query && {
    properties: Object.fromEntries(query.params.map((p) => [p.name, schemaOf(p)])),
    required: query.params.filter((p) => !p.nullable && p.default === undefined).map((p) => p.name),
  };
  const { params, faults } = paramsOf(fields, texts);
  const { branch, at } = target.value;
  const past = at !== "";
  const ready = query !== undefined && !faulty;
  const start = (kind: Kind) => {
    setTried(true);
    // A plan needs no values.
    if (query && ready && (kind === "explain" || Object.keys(faults).length === 0) && !(past && query.mutation)) {
      setCall({ count: (call?.count ?? 0) + 1, kind, query, text, params });
      onRun();
    }
  };
  const first: Kind = query?.mutation ? "dry" : "read";
  useEffect(() => {
    if (asked > 0) {
      start(first);
    }
  }, [asked]);
  return (
    <>
      <form
        noValidate
        aria-label="Run the query"
        onSubmit={(event) => {
          event.preventDefault();
          start(first);
        }}
      >
        {queries && queries.length > 1 && (
          <label class="target">
            Query to run
            <select value={query?.name} onChange={(event) => setName(event.currentTarget.value)}>
              {queries.map((q) => (
                <option key={q.name}>{q.name}</option>
              ))}
            </select>
          </label>
        )}
        {query && query.params.length > 0 && (
          <fieldset class="fields">
            <legend>Parameters</legend>
            {query.params.map((p) => (
              <Field
                key={query.name + " " + p.name}
                name={p.name}
                schema={fields?.properties[p.name] ?? {}}
                required={fields?.required.includes(p.name) ?? false}
                text={texts[p.name] ?? null}
                fault={tried ? faults[p.name] : undefined}
                onText={(value) => setTexts({ ...texts, [p.name]: value ?? null })}
              />
            ))}
          </fieldset>
        )}
        {past && query?.mutation && <p class="note">A commit cannot be written to. <a href={withQuery({ at: undefined })}>Go back to the branch</a> to run this query.</p>}
        <div class="row">
          <button type="submit" disabled={!ready || (past && query.mutation)}>
            {query?.mutation ? "Try without writing" : "Run"}
          </button>
          <button type="button" class="quiet" disabled={!ready || past} onClick={() => start("explain")}>
            Plan
          </button>
          {!query?.mutation && (
            <button type="button" class="quiet" disabled={!ready || past} onClick={() => start("analyze")}>
              Run and measure
            </button>
          )}
          {props.children}
        </div>
        {checked && text.trim() !== "" && (
          <p class="hint" role="status">
            {queries === null ? "Checking the text." : faulty ? "The text has errors; they are underlined." : query ? (query.mutation ? "This query writes. Try it first; then you can write." : "This query reads.") : "The text has no query."}
          </p>
        )}
      </form>
      {call && (
        <section aria-label="Answer" key={call.count}>
          <h2>{call.kind === "explain" || call.kind === "analyze" ? "Plan" : "Answer"}</h2>
          <Result graph={graph} call={call} onCancel={() => setCall(null)} onWrite={call.text === text && !past ? () => setCall({ ...call, count: call.count + 1, kind: "write" }) : undefined} branch={branch || "main"} />
        </section>
      )}
    </>
  );
}

interface ResultProps {
  graph: string;
  call: Call;
  branch: string;
  onCancel: () => void;
  onWrite: (() => void) | undefined;
}

function Result(props: ResultProps) {
  const { kind } = props.call;
  return kind === "read" ? <ReadResult {...props} /> : kind === "explain" || kind === "analyze" ? <Plan {...props} /> : <WriteResult {...props} />;
}

/** Says that a call runs. Going away from the part of the page that waits for it ends the request, and the server then stops. */
function Running(props: { onCancel: () => void }) {
  return (
    <p class="row loading" role="status">
      Running… <button type="button" class="quiet" onClick={props.onCancel}>Cancel</button>
    </p>
  );
}

/** The number of rows of a page of an answer. */
const pageSize = 500;

function ReadResult(props: ResultProps) {
  const { graph, call, onCancel } = props;
  const [page, setPage] = useState("");
  const [members] = useState(targetMembers); // later pages are of the state that the first one was of
  const answer = useLoad("read " + page, (signal) =>
    post<Rows>(pathOf(graph, "/query"), { query: call.text, name: call.query.name, params: call.params, max_rows: pageSize, ...(page ? { page_token: page } : {}), ...members }, signal),
  );
  if (answer.state === "loading") {
    return <Running onCancel={onCancel} />;
  }
  return <Show of={answer}>{(rows) => <Answer graph={graph} query={call.query} rows={rows} onNext={rows.next_page_token ? () => setPage(rows.next_page_token ?? "") : undefined} />}</Show>;
}

function WriteResult(props: ResultProps) {
  const { graph, call, branch, onCancel, onWrite } = props;
  // The key makes sure that the write happens only once, even if the request is sent again.
  const [key] = useState(() => crypto.randomUUID());
  const dry = call.kind === "dry";
  const answer = useLoad("write", (signal) =>
    post<Mutated>(
      pathOf(graph, "/mutate"),
      { query: call.text, name: call.query.name, params: call.params, ...targetMembers(), ...(dry ? { dry_run: true } : {}) },
      dry ? signal : undefined,
      dry ? {} : { "Idempotency-Key": key },
    ),
  );
  if (answer.state === "loading" && dry) {
    return <Running onCancel={onCancel} />;
  }
  return (
    <Show of={answer}>
      {(done) => (
        <>
          <p class="note" role="status">
            {done.dry_run ? "Nothing was written. The query would change " : "The query changed "}
            {done.affected_nodes} nodes and {done.affected_edges} edges on the branch <Text value={done.branch} />.{" "}
            {done.commit && <a href={href(graph, "history", [done.commit.graph_commit_id])}>See what it changed</a>}
          </p>
          {dry && onWrite && (
            <button type="button" onClick={onWrite}>
              Write to <Text value={branch} plain />
            </button>
          )}
        </>
      )}
    </Show>
  );
}

function Plan(props: ResultProps) {
  const { graph, call, onCancel } = props;
  const analyze = call.kind === "analyze";
  const { branch } = target.value;
  const plan = useLoad("plan", (signal) =>
    post<Explained>(pathOf(graph, "/explain"), { query: call.text, name: call.query.name, ...(analyze ? { params: call.params, analyze } : {}), ...(branch ? { branch } : {}) }, signal),
  );
  if (plan.state === "loading") {
    return <Running onCancel={onCancel} />;
  }
  return (
    <Show of={plan}>
      {(explained) => {
        const total = explained.plan.reduce((sum, step) => sum + (step.time_ns ?? 0), 0);
        type Step = Explained["plan"][number];
        return (
          <>
            <p>
              The first step gives the answer; a step reads the rows of the deeper steps after it.
              {explained.analyzed && ` All steps took ${milliseconds(total)}.`}
            </p>
            <Table
              label={"Plan of " + explained.query_name}
              rows={explained.plan}
              columns={[
                { name: "step", value: (s: Step) => s.name, view: (s) => <span class="step">{"· ".repeat(s.depth)}<Text value={s.name} /></span> },
                { name: "what", value: (s: Step) => s.detail ?? null, view: (s) => <Text value={s.detail ?? ""} /> },
                { name: "expected rows", value: (s: Step) => Math.round(s.estimate) },
                ...(explained.analyzed
                  ? [
                      { name: "rows", value: (s: Step) => s.rows ?? null },
                      { name: "time", value: (s: Step) => s.time_ns ?? 0, view: (s: Step) => <Share part={s.time_ns ?? 0} of={total} /> },
                    ]
                  : []),
              ]}
            />
          </>
        );
      }}
    </Show>
  );
}

function milliseconds(ns: number): string {
  return (ns / 1e6).toLocaleString("en", { maximumSignificantDigits: 3 }) + " ms";
}

// Shows a time, and how large a part of the whole it is.
function Share(props: { part: number; of: number }) {
  return (
    <span class="share">
      <meter min={0} max={Math.max(props.of, 1)} value={props.part} aria-hidden="true" /> {milliseconds(props.part)}
    </span>
  );
}
