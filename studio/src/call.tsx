// One call: all that the audit trail holds about it, and a way to run it again.

import type { ComponentChildren } from "preact";
import { actorOf as whoAmI, ApiError, get, pathOf, type CallRecord, type Query } from "./api";
import { callsHref, duration, Outcome } from "./calls";
import { keepInDesk } from "./desk";
import { writeJson, type Json } from "./json";
import { Show, useLoad } from "./load";
import { go, href } from "./route";
import { token } from "./session";
import { Actor, Moment, Text } from "./text";
import { Tree } from "./tree";

/** Returns the address of a call: its time, its server and its number in the chain of the server. */
export function callHref(graph: string, r: CallRecord): string {
  return href(graph, "calls", [[r.ended_at, r.number, r.server].join(".")], { branch: "", at: "" });
}

// Writes microseconds since 1970 as a time with all six digits.
function timeOf(micros: number): string {
  return new Date(Math.floor(micros / 1000)).toISOString().slice(0, 20) + String(micros % 1_000_000).padStart(6, "0") + "Z";
}

async function find(graph: string, id: string, signal: AbortSignal): Promise<CallRecord> {
  const [micros = "", number = "", ...server] = id.split(".");
  const at = Number(micros);
  const missing = new ApiError(404, "The trail has no such call, or no longer.");
  if (!Number.isSafeInteger(at) || at <= 0) {
    throw missing;
  }
  const list = await get<{ records: CallRecord[] }>(pathOf(graph, "/audit", { from: timeOf(at), to: timeOf(at + 1), limit: 1000 }), signal);
  const record = list.records.find((r) => String(r.number) === number && r.server === server.join("."));
  if (!record) {
    throw missing;
  }
  return record;
}

export function CallPage(props: { graph: string; id: string }) {
  const { graph, id } = props;
  const loaded = useLoad(`call ${graph} ${id}`, (signal) => find(graph, id, signal));
  return (
    <>
      <p class="crumbs">
        <a href={callsHref(graph, {})}>Calls</a>
      </p>
      <Show of={loaded} heading="Call">
        {(r) => (
          <>
            <h1>
              {r.tool ? <Text value={r.tool} most={80} plain /> : "An unknown tool"} by <Actor of={r} />
            </h1>
            <Facts graph={graph} record={r} />
            <h2>Arguments</h2>
            {r.arguments === undefined ? (
              <p class="empty">
                {r.arguments_digest ? "The server keeps a digest of the arguments, and not the arguments: server.audit.values in cluster.yaml is off. " : "The call had no arguments. "}
                {r.arguments_digest && (
                  <>
                    Calls with equal arguments have the digest <code>{r.arguments_digest}</code>.
                  </>
                )}
              </p>
            ) : (
              <Tree value={r.arguments} />
            )}
            <Again graph={graph} record={r} />
          </>
        )}
      </Show>
    </>
  );
}

function Facts(props: { graph: string; record: CallRecord }) {
  const { graph, record: r } = props;
  const rules = r.rules ?? [];
  const entities = r.entities ?? [];
  return (
    <dl class="properties">
      <Fact name="Outcome">
        <Outcome of={r} />
      </Fact>
      {r.denied_action && <Fact name="Denied by">{rules.length > 0 ? rules.map((rule) => <p key={rule}>the rule <Text value={rule} /></p>) : r.denied_action === "authentication" ? "the server: no valid token" : "no rule allows it"}</Fact>}
      <Fact name="Ended">
        <Moment micros={r.ended_at} />
      </Fact>
      <Fact name="Took">{duration(r.duration_micros)}</Fact>
      <Fact name="Actor">
        {r.actor_id ? <a href={callsHref(graph, { actor: r.actor_id, day: timeOf(r.ended_at).slice(0, 10) })}><Text value={r.actor_id} most={80} plain />: all calls of this day</a> : "nobody known"}
      </Fact>
      <Fact name="Rows">{r.rows.toLocaleString("en")}</Fact>
      {r.branch && (
        <Fact name="Branch">
          <Text value={r.branch} />
        </Fact>
      )}
      {r.graph_commit_id && (
        <Fact name="Commit">
          <a href={href(graph, "history", [r.graph_commit_id], { branch: r.branch ?? "", at: "" })}>{r.graph_commit_id}</a>
        </Fact>
      )}
      {r.types && r.types.length > 0 && (
        <Fact name="Types">
          <Text value={r.types.join(", ")} />
        </Fact>
      )}
      {r.filters && r.filters.length > 0 && (
        <Fact name="Filters of the policy">
          <Text value={r.filters.join("\n")} />
        </Fact>
      )}
      {(entities.length > 0 || r.whole_branch) && (
        <Fact name="Entities of the answer">
          {r.whole_branch && <p>any of the branch</p>}
          {entities.length > 0 && <Text value={entities.join("\n")} most={1000} />}
          {r.more_entities ? <p class="hint">and {r.more_entities.toLocaleString("en")} more</p> : null}
        </Fact>
      )}
      {r.request_id && (
        <Fact name="Request">
          <code><Text value={r.request_id} /></code>
        </Fact>
      )}
      <Fact name="Record">
        {r.number.toLocaleString("en")} of the server <code><Text value={r.server} /></code>
      </Fact>
    </dl>
  );
}

function Fact(props: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}

// Leads to the form of the stored query, or to the Query page, with the arguments that the trail holds. The call then has the
// rights of the user, whoever made it before. A write is not repeated by a click: its form shows a dry run first.
function Again(props: { graph: string; record: CallRecord }) {
  const { graph, record: r } = props;
  const queries = useLoad("queries " + graph, (signal) => get<{ queries: Query[] }>(pathOf(graph, "/queries"), signal));
  const stored = queries.state === "done" ? queries.value.queries.find((q) => q.tool_name === r.tool || q.name === r.tool) : undefined;
  const given = r.arguments;
  const text = Array.isArray(given) && typeof given[0] === "string" && /\bquery\b/.test(given[0]) ? given[0] : null;
  if (text !== null) {
    return (
      <p>
        <button
          type="button"
          onClick={async () => {
            keepInDesk(await whoAmI(token.value, new AbortController().signal), graph, text);
            go(href(graph, "query", [], { branch: r.branch ?? "", at: "" }));
          }}
        >
          Open in Query, to run it as me
        </button>
      </p>
    );
  }
  if (!stored) {
    return null;
  }
  const values = typeof given === "object" && given !== null && !Array.isArray(given) ? Object.entries(given as Record<string, Json>) : null;
  const parameters = Object.fromEntries((values ?? []).map(([name, value]) => ["p." + name, typeof value === "string" ? value : writeJson(value)]));
  const run = values !== null && !stored.mutation ? { run: "1" } : {};
  return (
    <p>
      <a class="button" href={href(graph, "run", [stored.name], { branch: r.branch ?? "", at: "", ...parameters, ...run })}>
        {values === null ? "Open its form, to run it as me" : stored.mutation ? "Fill its form again, as me" : "Run again as me"}
      </a>
    </p>
  );
}
