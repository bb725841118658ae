// Run: find a stored query, fill in its form, run it, look at the answer.

import { useState } from "preact/hooks";
import { ApiError, get, pathOf, post, type Mutated, type Query, type QueryDescription, type Rows } from "./api";
import { CopyAs } from "./copy";
import { Field, paramsOf } from "./field";
import { writeJson, type Json } from "./json";
import { Failure, Show, useLoad } from "./load";
import { go, href, route, target, targetMembers, withQuery } from "./route";
import { Table, type Column } from "./table";
import { Text } from "./text";
import { Tree } from "./tree";

/** The number of rows of a page. */
const pageSize = 100;

export function RunPage() {
  const { graph, rest } = route.value;
  const [name] = rest;
  return name === undefined ? <QueryList graph={graph} /> : <QueryPage key={name} graph={graph} name={name} />;
}

function QueryList(props: { graph: string }) {
  const { graph } = props;
  const words = route.value.query.get("q") ?? "";
  const list = useLoad("queries " + graph, (signal) => get<{ queries: Query[] }>(pathOf(graph, "/queries"), signal));
  return (
    <>
      <h1>Stored queries</h1>
      {list.state === "done" && (
        <label class="search">
          Search
          <input type="search" value={words} onInput={(event) => go(withQuery({ q: event.currentTarget.value }), true)} />
        </label>
      )}
      {list.state === "failed" && list.error.status === 403 ? (
        <OpenByName graph={graph} error={list.error} />
      ) : (
        <Show of={list}>
          {({ queries }) => {
            const found = queries.filter((q) => matches(q, words));
            return found.length === 0 ? (
              <p class="empty">{queries.length === 0 ? "You may run no stored query of this graph." : "No stored query has these words."}</p>
            ) : (
              <ul class="cards">
                {found.map((q) => (
                  <li key={q.name}>
                    <a href={href(graph, "run", [q.name])}>
                      <Text value={q.name} plain />
                    </a>
                    {q.mutation && <span class="badge">writes</span>}
                    {q.description && (
                      <p>
                        <Text value={q.description} most={400} />
                      </p>
                    )}
                  </li>
                ))}
              </ul>
            );
          }}
        </Show>
      )}
    </>
  );
}

// Reports whether each of the words occurs in the name or the texts of a query.
function matches(query: Query, words: string): boolean {
  const text = [query.name, query.description, query.instruction, ...(query.questions ?? [])].join(" ").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

// Lets an actor that may run stored queries, but may not list them, open a query by its name.
function OpenByName(props: { graph: string; error: ApiError }) {
  const [name, setName] = useState("");
  return (
    <>
      <Failure error={props.error} />
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          go(href(props.graph, "run", [name.trim()]));
        }}
      >
        <label>
          Name of a stored query
          <input required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <button type="submit">Open</button>
      </form>
    </>
  );
}

function QueryPage(props: { graph: string; name: string }) {
  const { graph, name } = props;
  const { branch } = target.value;
  const described = useLoad(`query ${graph} ${name} ${branch}`, (signal) =>
    get<QueryDescription>(pathOf(graph, "/queries/" + encodeURIComponent(name), { branch }), signal),
  );
  return (
    <>
      <p class="crumbs">
        <a href={href(graph, "run")}>Stored queries</a>
      </p>
      <h1>
        <Text value={name} />
      </h1>
      <Show of={described}>{(query) => <Run graph={graph} query={query} />}</Show>
    </>
  );
}

// The form of a query. The URL contains the values of the form as parameters, whose names begin with
// "p.". If the URL has run=1, the form runs a read by itself, so that a link shows the answer. A write
// needs a click each time.
function Run(props: { graph: string; query: QueryDescription }) {
  const { graph, query } = props;
  const asked = route.value.query;
  const fields = query.input_schema.properties.params;
  const names = Object.keys(fields?.properties ?? {});
  const texts = Object.fromEntries(names.map((n) => [n, asked.get("p." + n)]));
  const { params, faults } = paramsOf(fields, texts);
  const complete = Object.keys(faults).length === 0;
  const { branch, at } = target.value;
  const past = query.mutation && at !== ""; // the page shows a commit, to which nobody can write
  const [tried, setTried] = useState(false);
  const [write, setWrite] = useState<{ count: number; dry: boolean } | null>(null);

  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setTried(true);
    if (!complete || past) {
      return;
    }
    if (query.mutation) {
      const dry = (event.submitter as HTMLButtonElement | null)?.value === "dry";
      setWrite({ count: (write?.count ?? 0) + 1, dry });
    } else {
      go(withQuery({ run: "1", page: undefined }));
    }
  };
  return (
    <>
      {query.description && (
        <p class="lead">
          <Text value={query.description} />
        </p>
      )}
      {query.instruction && (
        <p>
          <Text value={query.instruction} />
        </p>
      )}
      <form onSubmit={submit} noValidate aria-label="Parameters">
        {names.length === 0 && <p class="empty">The query has no parameters.</p>}
        {names.map((n) => (
          <Field
            key={n}
            name={n}
            schema={fields?.properties[n] ?? {}}
            required={fields?.required.includes(n) ?? false}
            text={texts[n] ?? null}
            fault={tried || asked.has("run") || texts[n] !== null ? faults[n] : undefined}
            onText={(text) => go(withQuery({ ["p." + n]: text, run: undefined, page: undefined }), true)}
          />
        ))}
        {past && (
          <p class="note" id="past">
            A commit cannot be written to. <a href={withQuery({ at: undefined })}>Go back to the branch <Text value={branch || "main"} plain /></a> to run this query.
          </p>
        )}
        <div class="row">
          {query.mutation && (
            <button type="submit" value="dry" class="quiet" disabled={past} aria-describedby={past ? "past" : undefined}>
              Try without writing
            </button>
          )}
          <button type="submit" value="run" disabled={past} aria-describedby={past ? "past" : undefined}>
            {query.mutation ? <>Write to <Text value={branch || "main"} plain /></> : "Run"}
          </button>
        </div>
      </form>
      {complete && !past && <CopyAs call={{ graph, query, params, target: targetMembers() }} />}
      {!query.mutation && asked.has("run") && complete && <ReadAnswer graph={graph} query={query} params={params} />}
      {query.mutation && write && <WriteAnswer key={write.count} dry={write.dry} graph={graph} query={query} params={params} />}
      {query.plan && (
        <details class="plan">
          <summary>The plan</summary>
          <p>The steps of the query with the number of rows that the engine expects from each; the first one gives the answer.</p>
          <pre tabIndex={0}>
            <Text value={query.plan} most={20_000} />
          </pre>
        </details>
      )}
    </>
  );
}

const views = ["table", "tree", "json"] as const;

function ReadAnswer(props: { graph: string; query: Query; params: Record<string, Json> }) {
  const { graph, query, params } = props;
  const page = route.value.query.get("page") ?? undefined;
  const view = views.find((v) => v === route.value.query.get("view")) ?? "table";
  const body = { params, max_rows: pageSize, expect_mutation: false, ...(page ? { page_token: page } : {}), ...targetMembers() };
  const answer = useLoad(`run ${graph} ${query.name} ${writeJson(body)}`, (signal) =>
    post<Rows>(pathOf(graph, "/queries/" + encodeURIComponent(query.name)), body, signal),
  );
  return (
    <section aria-label="Answer">
      <h2>Answer</h2>
      <div class="tabs" role="group" aria-label="Form of the answer">
        {views.map((v) => (
          <a key={v} href={withQuery({ view: v })} aria-current={v === view ? "true" : undefined}>
            {v === "json" ? "JSON" : v === "tree" ? "Tree" : "Table"}
          </a>
        ))}
      </div>
      <Show of={answer}>
        {(rows) => (
          <>
            <p role="status">
              {rows.row_count === 1 ? "1 row" : `${rows.row_count} rows`}
              {rows.truncated_by === "limit" ? ", as many as the limit of the query allows" : rows.truncated ? ", and there are more" : ""}
            </p>
            {rows.notes?.map((note) => (
              <p class="note">
                <Text value={note} />
              </p>
            ))}
            {view === "table" && <Table label={query.name} columns={columnsOf(rows)} rows={rows.rows} empty="The answer has no rows." />}
            {view === "tree" && <Tree value={rows.rows} open />}
            {view === "json" && (
              <pre tabIndex={0}>
                <Text value={writeJson(rows.rows, "  ")} most={20_000} />
              </pre>
            )}
            {rows.next_page_token && <a href={withQuery({ page: rows.next_page_token })}>Next rows</a>}
          </>
        )}
      </Show>
    </section>
  );
}

function columnsOf(rows: Rows): Column<Rows["rows"][number]>[] {
  return rows.columns.map((name) => ({ name, value: (row) => row[name] ?? null }));
}

function WriteAnswer(props: { graph: string; query: Query; params: Record<string, Json>; dry: boolean }) {
  const { graph, query, params, dry } = props;
  const { branch } = target.value;
  // The key makes sure that the write happens only once, even if the request is sent again.
  const [key] = useState(() => crypto.randomUUID());
  const answer = useLoad(`write ${key}`, () =>
    post<Mutated>(
      pathOf(graph, "/queries/" + encodeURIComponent(query.name)),
      { params, expect_mutation: true, ...(branch ? { branch } : {}), ...(dry ? { dry_run: true } : {}) },
      undefined,
      dry ? {} : { "Idempotency-Key": key },
    ),
  );
  return (
    <section aria-label="Answer">
      <h2>Answer</h2>
      <Show of={answer}>
        {(done) => (
          <p class="note" role="status">
            {done.dry_run ? "Nothing was written. The query would change " : "The query changed "}
            {done.affected_nodes} nodes and {done.affected_edges} edges on the branch <Text value={done.branch} />.{" "}
            {done.commit && <a href={href(graph, "history", [done.commit.graph_commit_id])}>See what it changed</a>}
          </p>
        )}
      </Show>
    </section>
  );
}
