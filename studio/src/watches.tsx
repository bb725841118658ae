// Watches: the standing questions of the user, with the health of their webhooks, and of one watch its answer and what changes in it.

import { useEffect, useState } from "preact/hooks";
import type * as wire from "../../client/typescript/src/wire";
import { ApiError, exchange, get, pathOf, post } from "./api";
import { writeJson, type Json } from "./json";
import { Failure, Show, useLoad } from "./load";
import { go, href, route } from "./route";
import { token } from "./session";
import { Table, type Column } from "./table";
import { Moment, Text } from "./text";

/** The time between two looks at a watch, in milliseconds. */
const pulse = 3000;

/** The number of events that the page keeps. */
const kept = 50;

export function WatchesPage() {
  const { graph, rest } = route.value;
  const [id] = rest;
  const [changed, setChanged] = useState(0);
  const watches = useLoad(`watches ${graph} ${changed}`, (signal) => get<wire.WatchList>(pathOf(graph, "/watches"), signal));
  return (
    <Show of={watches} heading="Watches">
      {({ watches: all }) => {
        const watch = all.find((w) => w.watch_id === id);
        return watch ? <One key={watch.watch_id} graph={graph} watch={watch} onChange={() => setChanged(changed + 1)} /> : <All graph={graph} watches={all} unknown={id !== undefined} />;
      }}
    </Show>
  );
}

function All(props: { graph: string; watches: wire.Watch[]; unknown: boolean }) {
  const { graph, watches, unknown } = props;
  return (
    <>
      <h1>Watches</h1>
      {unknown && (
        <p class="failure" role="alert">
          You have no such watch. It may be deleted, or be someone else's.
        </p>
      )}
      <p class="hint">A watch is a stored read whose answer you follow. Only you see yours. Make one with the tool watch, with omnigraph watch create, or over REST.</p>
      <Table
        whole
        label="Watches"
        rows={watches}
        empty="You have no watches on this graph."
        columns={[
          { name: "Query", value: (w) => w.query, view: (w) => <a href={href(graph, "watches", [w.watch_id])}><Text value={w.query} most={80} plain /></a> },
          { name: "Parameters", value: parametersOf },
          { name: "Branch", value: (w) => w.branch || "main" },
          { name: "Made", value: (w) => new Date(w.created_at / 1000).toISOString(), view: (w) => <Moment micros={w.created_at} /> },
          { name: "Webhook", value: (w) => (w.webhook ? w.webhook.state : null) },
          { name: "Undelivered", value: (w) => (w.webhook ? undeliveredOf(w.webhook) : null) },
        ]}
      />
    </>
  );
}

function parametersOf(w: wire.Watch): string {
  return Object.keys(w.params as object).length === 0 ? "" : writeJson(w.params as Json);
}

function undeliveredOf(hook: wire.Webhook): number {
  return hook.undelivered.length + (hook.dropped ?? 0);
}

function One(props: { graph: string; watch: wire.Watch; onChange: () => void }) {
  const { graph, watch, onChange } = props;
  const [fault, setFault] = useState<ApiError | null>(null);
  const act = async (call: () => Promise<unknown>, then: () => void) => {
    setFault(null);
    try {
      await call();
      then();
    } catch (error) {
      setFault(error instanceof ApiError ? error : new ApiError(0, String(error)));
    }
  };
  const path = (step = "") => pathOf(graph, "/watches/" + encodeURIComponent(watch.watch_id) + step);
  const parameters = parametersOf(watch);
  return (
    <>
      <h1>
        Watch of <Text value={watch.query} most={80} plain />
      </h1>
      <p>
        <a href={href(graph, "run", [watch.query], { branch: watch.branch, at: "" })}>Run the query</a> on branch <Text value={watch.branch || "main"} most={80} plain />
        {parameters && <> with <code><Text value={parameters} most={400} /></code></>}. Made <Moment micros={watch.created_at} />.
      </p>
      {fault && <Failure error={fault} />}
      {watch.webhook && (
        <Health hook={watch.webhook} onAgain={() => void act(() => post(path("/redeliver"), {}), onChange)} onDismiss={() => void act(() => post(path("/dismiss"), {}), onChange)} />
      )}
      <Events graph={graph} path={path("/events")} />
      <p>
        <button type="button" class="quiet" onClick={() => void act(() => exchange(path(), { method: "DELETE" }), () => (onChange(), go(href(graph, "watches"), true)))}>
          Delete this watch
        </button>
      </p>
    </>
  );
}

// Shows whether the receiver of a webhook gets its events.
function Health(props: { hook: wire.Webhook; onAgain: () => void; onDismiss: () => void }) {
  const { hook, onAgain, onDismiss } = props;
  const count = undeliveredOf(hook);
  return (
    <section aria-labelledby="webhook">
      <h2 id="webhook">Webhook</h2>
      <p role="status">
        <strong>{hook.state}</strong>: events go to <code><Text value={hook.url} most={200} /></code>
        {hook.reason && <>; <Text value={hook.reason} most={400} plain /></>}.
      </p>
      <Table
        label="Events that could not be delivered"
        rows={hook.undelivered}
        empty="The server has given up no event."
        columns={[
          { name: "First sent", value: (u) => new Date(u.since / 1000).toISOString(), view: (u) => <Moment micros={u.since} /> },
          { name: "To commit", value: (u) => u.to_commit_id },
          { name: "Attempts", value: (u) => u.attempts },
          { name: "Reason", value: (u) => u.reason },
        ]}
      />
      {(count > 0 || hook.state !== "active") && (
        <p class="row">
          <button type="button" class="quiet" onClick={onAgain}>
            {count > 0 ? "Send them again" : "Try again now"}
          </button>
          {count > 0 && (
            <button type="button" class="quiet" onClick={onDismiss}>
              Dismiss all {count}
            </button>
          )}
        </p>
      )}
    </section>
  );
}

interface Seen {
  at: number; // in microseconds
  event: wire.WatchEvent;
}

// Shows the answer of a watch and follows it: each event with the commits between which the answer changed.
function Events(props: { graph: string; path: string }) {
  const { graph, path } = props;
  const [first, setFirst] = useState<wire.WatchEvent | null>(null);
  const [seen, setSeen] = useState<Seen[]>([]);
  const [fault, setFault] = useState<ApiError | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const look = async (cursor: string) => {
      try {
        const event = await get<wire.WatchEvent>(cursor ? `${path}?cursor=${encodeURIComponent(cursor)}` : path, abort.signal);
        cursor = event.cursor;
        setFault(null);
        if (event.reset !== null) {
          setFirst(event);
        }
        if (event.reset === null ? rowsOf(event).length > 0 : event.reset !== "first") {
          setSeen((all) => [{ at: Date.now() * 1000, event }, ...all].slice(0, kept));
        }
      } catch (error) {
        if (abort.signal.aborted) {
          return;
        }
        setFault(error instanceof ApiError ? error : new ApiError(0, String(error)));
      }
      timer = setTimeout(() => void look(cursor), pulse);
    };
    void look("");
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [path, token.value]);
  return (
    <>
      {fault && <Failure error={fault} />}
      <section aria-labelledby="changes">
        <h2 id="changes">What changes</h2>
        <p class="hint">The page looks every 3 seconds while it is open. Each change names the commit after which you were told; its page says who made it, and why.</p>
        {seen.length === 0 && <p class="empty">Nothing has changed since you opened the page.</p>}
        <div aria-live="polite">
          {seen.map(({ at, event }) => (
            <article key={event.cursor}>
              <h3>
                <Moment micros={at} />, up to <a href={href(graph, "history", [event.to_commit_id])}>the commit <Text value={event.to_commit_id} most={40} plain /></a>
              </h3>
              {event.reset === null ? (
                <Table label={"Changes up to " + event.to_commit_id} rows={rowsOf(event)} columns={columnsOf(rowsOf(event))} />
              ) : (
                <p>The whole answer was read again, because of another {event.reset}.</p>
              )}
            </article>
          ))}
        </div>
      </section>
      <section aria-labelledby="answer">
        <h2 id="answer">The answer when you opened the page</h2>
        {first ? (
          <Table label="Answer" rows={(first.rows ?? []).map((row) => ({ change: "", row: row as Row }))} columns={columnsOf((first.rows ?? []).map((row) => ({ change: "", row: row as Row })))} empty="The answer has no rows." />
        ) : (
          !fault && (
            <p class="loading" role="status">
              Loading…
            </p>
          )
        )}
      </section>
    </>
  );
}

type Row = Record<string, Json>;
interface Change {
  change: string;
  row: Row;
}

// Returns the rows of an event, each with what happened to it.
function rowsOf(event: wire.WatchEvent): Change[] {
  const of = (change: string, rows: unknown[] | undefined) => (rows ?? []).map((row) => ({ change, row: row as Row }));
  return [...of("came", event.came), ...of("went", event.went), ...(event.changed ?? []).flatMap((c) => [...of("before", [c.before]), ...of("after", [c.after])])];
}

function columnsOf(rows: Change[]): Column<Change>[] {
  const names = [...new Set(rows.flatMap((r) => Object.keys(r.row)))];
  const values = names.map((name): Column<Change> => ({ name, value: (r) => r.row[name] ?? null }));
  return rows.some((r) => r.change !== "") ? [{ name: "change", value: (r) => r.change }, ...values] : values;
}
