// Calls: who called what, by filter and live, and one call with all that the trail holds about it.

import { useEffect, useState } from "preact/hooks";
import { ApiError, get, pathOf, type CallRecord } from "./api";
import { CallPage, callHref } from "./call";
import { Failure, useBeat, useLoad } from "./load";
import { go, href, route, withQuery } from "./route";
import { token } from "./session";
import { Table } from "./table";
import { actorOf, Moment, Text } from "./text";

/** The number of calls on one page. */
const pageSize = 100;

/** The operation that lists calls. */
const listing = "read_audit";

/** The time between two requests of a live list, in milliseconds. */
const pulse = 3000;

const outcomes = ["failed", "ok", "forbidden", "bad_request", "not_found", "conflict", "precondition_failed", "too_large", "timed_out", "deadline", "canceled", "unavailable", "internal"];

/** The filters, which are parameters of the URL. `day` is a date in UTC. */
const filters = ["actor", "tool", "outcome", "entity", "day"] as const;
type Filters = Record<(typeof filters)[number], string>;

/** Returns the address of the calls that filters select. */
export function callsHref(graph: string, filter: Partial<Filters>): string {
  return href(graph, "calls", [], { branch: "", at: "", ...filter });
}

/** Formats a duration that is given in microseconds. */
export function duration(micros: number): string {
  return micros < 1000 ? `${micros} µs` : micros < 1_000_000 ? `${(micros / 1000).toPrecision(3)} ms` : `${(micros / 1_000_000).toPrecision(3)} s`;
}

interface CallList {
  records: CallRecord[];
  next_page_token: string | null;
}

export function CallsPage() {
  const { graph, rest } = route.value;
  const [id] = rest;
  return id === undefined ? <Calls graph={graph} /> : <CallPage key={id} graph={graph} id={id} />;
}

// Returns the start of the day after a date.
function dayAfter(day: string): string {
  const start = Date.parse(day + "T00:00:00Z");
  return Number.isNaN(start) ? "" : new Date(start + 86_400_000).toISOString();
}

function Calls(props: { graph: string }) {
  const { graph } = props;
  const { query } = route.value;
  const chosen = Object.fromEntries(filters.map((f) => [f, query.get(f) ?? ""])) as Filters;
  const { day, ...others } = chosen;
  const page = query.get("page") ?? "";
  const live = query.get("live") === "1" && page === "";
  const except = live && others.tool === "" ? listing : ""; // each look at a live list is a call too
  const path = pathOf(graph, "/audit", { ...others, except, from: day, to: day && dayAfter(day), limit: pageSize, page_token: page });
  const beat = useBeat(live, pulse);
  const loaded = useLatest(path, beat);
  const today = new Date().toISOString().slice(0, 10);
  const filtered = filters.some((f) => chosen[f] !== "");
  return (
    <>
      <h1>Calls</h1>
      {loaded.error?.status === 403 || loaded.error?.status === 404 ? (
        <p class="note">
          <Text value={loaded.error.message} />
        </p>
      ) : (
        <>
          <form
            class="row"
            aria-label="Filters"
            key={filters.map((f) => chosen[f]).join("\n")}
            onSubmit={(event) => {
              event.preventDefault();
              const given = new FormData(event.currentTarget);
              go(withQuery({ ...Object.fromEntries(filters.map((f) => [f, String(given.get(f) ?? "").trim()])), page: undefined }));
            }}
          >
            <label>
              Actor
              <input name="actor" autocomplete="off" defaultValue={chosen.actor} />
            </label>
            <label>
              Tool
              <input name="tool" autocomplete="off" defaultValue={chosen.tool} />
            </label>
            <label>
              Outcome
              <select name="outcome">
                <option value="">all</option>
                {outcomes.map((o) => (
                  <option key={o} value={o} selected={o === chosen.outcome}>
                    {o.replaceAll("_", " ")}
                  </option>
                ))}
              </select>
            </label>
            <label>
              Entity
              <input name="entity" autocomplete="off" placeholder="id" defaultValue={chosen.entity} />
            </label>
            <label>
              Day (UTC)
              <input name="day" type="date" max={today} defaultValue={chosen.day} />
            </label>
            <button type="submit">Show</button>
            {filtered && <a href={withQuery(Object.fromEntries([...filters, "page"].map((f) => [f, undefined])))}>All calls</a>}
          </form>
          {page === "" && (
            <label class="switch">
              <input type="checkbox" checked={live} onChange={(event) => go(withQuery({ live: event.currentTarget.checked ? "1" : undefined }), true)} /> Live: look for new calls every 3 seconds{others.tool === "" ? ", without the looks at this list" : ""}
            </label>
          )}
          {loaded.error && <Failure error={loaded.error} />}
          {!loaded.value && !loaded.error && (
            <p class="loading" role="status">
              Loading…
            </p>
          )}
          {loaded.value && <CallTable graph={graph} list={loaded.value} empty={filtered || page ? "No call matches the filters." : "Nobody has called the graph yet."} />}
          {loaded.value && (
            <p class="row">
              {page && <a href={withQuery({ page: undefined })}>Newest calls</a>}
              {loaded.value.next_page_token && <a href={withQuery({ page: loaded.value.next_page_token, live: undefined })}>Earlier calls</a>}
            </p>
          )}
        </>
      )}
    </>
  );
}

function CallTable(props: { graph: string; list: CallList; empty: string }) {
  const { graph, list, empty } = props;
  return (
    <Table
      whole
      label="Calls"
      rows={list.records}
      empty={empty}
      columns={[
        {
          name: "Time",
          value: (r) => new Date(r.ended_at / 1000).toISOString(),
          view: (r) => (
            <a href={callHref(graph, r)}>
              <Moment micros={r.ended_at} />
            </a>
          ),
        },
        {
          name: "Actor",
          value: actorOf,
          view: (r) => (r.actor_id ? <a href={withQuery({ actor: r.actor_id, page: undefined })}><Text value={actorOf(r) ?? ""} most={80} plain /></a> : <span class="null">nobody known</span>),
        },
        {
          name: "Tool",
          value: (r) => r.tool,
          view: (r) => (r.tool ? <a href={withQuery({ tool: r.tool, page: undefined })}><Text value={r.tool} most={80} plain /></a> : <span class="null">unknown</span>),
        },
        { name: "Outcome", value: (r) => r.outcome, view: (r) => <Outcome of={r} /> },
        { name: "Rows", value: (r) => r.rows },
        { name: "Took", value: (r) => duration(r.duration_micros) },
        { name: "Branch", value: (r) => r.branch ?? "" },
      ]}
    />
  );
}

/** Shows how a call ended, and the action that was denied. */
export function Outcome(props: { of: CallRecord }) {
  const { of } = props;
  return (
    <>
      <span class={"badge " + (of.outcome === "ok" ? "passed" : "failed")}>{of.outcome.replaceAll("_", " ")}</span>
      {of.denied_action && <Text value={of.denied_action} />}
    </>
  );
}

// Loads a list again at each beat, and shows the list before until then.
function useLatest(path: string, beat: number): { value?: CallList; error?: ApiError } {
  const [latest, setLatest] = useState<{ path: string; value?: CallList; error?: ApiError }>({ path });
  const key = token.value + "\n" + path;
  const next = useLoad(`calls ${beat} ${path}`, (signal) => get<CallList>(path, signal));
  useEffect(() => {
    if (next.state === "done") {
      setLatest({ path: key, value: next.value });
    } else if (next.state === "failed") {
      setLatest({ path: key, error: next.error });
    }
  }, [next]);
  return latest.path === key ? latest : {};
}
