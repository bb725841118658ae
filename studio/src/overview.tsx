// Overview: what is in the graph and how it grew, what waits for a decision, and what happened lately. Each part loads by
// itself, and says so if the user has no right to it.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { get, pathOf, type CallSummary, type Commit, type GrowthPoint, type Snapshot } from "./api";
import { CallFigures } from "./callfigures";
import { Failure, useLoad, type Loaded } from "./load";
import type { Check, ProposalSummary } from "./proposal";
import { RightsLine, useRights } from "./rights";
import { href, route, target, targetParameters } from "./route";
import { GrowthLine } from "./spark";
import { Actor, Moment, Text } from "./text";

/** The numbers of proposals and of commits that the page shows. */
const mostProposals = 5;
const mostCommits = 8;

export function OverviewPage() {
  const { graph } = route.value;
  const { branch, at } = target.value;
  const rights = useRights(graph);
  const state = useLoad(`overview ${graph} ${branch} ${at}`, (signal) => get<Snapshot>(pathOf(graph, "/snapshot", targetParameters()), signal));
  const open = useLoad(`overview proposals ${graph}`, (signal) => get<{ proposals: ProposalSummary[]; next_page_token?: string }>(pathOf(graph, "/proposals", { state: "open", limit: mostProposals }), signal));
  const calls = useLoad(`overview calls ${graph}`, (signal) => get<CallSummary>(pathOf(graph, "/audit/summary"), signal));
  const missing = [...new Set([denied(state), denied(calls)])].filter((reason) => reason !== "");
  return (
    <>
      <h1>
        <Text value={graph} most={80} plain />
      </h1>
      <RightsLine rights={rights} />
      <div class="figures">
        <Figure of={state} name="Nodes" href={href(graph, "data")} value={(s) => total(s, "node")} />
        <Figure of={state} name="Edges" href={href(graph, "schema")} value={(s) => total(s, "edge")} />
        <Figure of={open} name="Open proposals" href={href(graph, "review")} value={(l) => l.proposals.length} more={(l) => l.next_page_token !== undefined} />
        <Figure of={calls} name="Calls in 24 hours" href={href(graph, "calls")} value={(s) => s.all.calls} more={(s) => !s.complete} />
      </div>
      <div class="panels">
        <Part title="In the graph" of={state} wide>
          {(s) => <Contents graph={graph} state={s} />}
        </Part>
        {at === "" && <Growth graph={graph} branch={branch} />}
        <Commits graph={graph} branch={branch} />
        <Part title="Open proposals" of={open}>
          {(l) => <Proposals graph={graph} list={l.proposals} more={l.next_page_token !== undefined} />}
        </Part>
        {!denied(state) && <Checks key={graph + "\n" + branch} graph={graph} branch={branch} />}
        <Part title="Calls of the last day" of={calls} wide>
          {(s) => <CallFigures graph={graph} summary={s} />}
        </Part>
      </div>
      {missing.length > 0 && (
        <p class="empty">
          This page shows only what you have a right to: <Text value={missing.join("; ")} />.
        </p>
      )}
      {denied(state) && rights.state === "done" && rights.value.tools.length > 0 && (
        <p>
          <a class="button" href={href(graph, "run")}>
            Run one of your stored queries
          </a>
        </p>
      )}
    </>
  );
}

/** Says why the user has no right to what was asked for, or returns "". */
function denied(of: Loaded<unknown>): string {
  return of.state === "failed" && of.error.status === 403 ? of.error.message : "";
}

function total(state: Snapshot, kind: "node" | "edge"): number {
  return state.datasets.filter((d) => d.entity_kind === kind).reduce((sum, d) => sum + d.entity_count, 0);
}

// A number with its name, which links to the page that has more of it.
function Figure<T>(props: { of: Loaded<T>; name: string; href: string; value: (v: T) => number; more?: (v: T) => boolean }) {
  const { of, name, value, more } = props;
  if (denied(of)) {
    return null;
  }
  return (
    <a class="figure" href={props.href}>
      <span class="figure-value">
        {of.state === "loading" ? <span class="wait">…</span> : of.state === "failed" ? "–" : value(of.value).toLocaleString("en") + (more?.(of.value) ? "+" : "")}
      </span>
      <span class="figure-name">{name}</span>
    </a>
  );
}

// A part of the page. The page says in one place what the user has no right to, so that such a part is left out.
function Part<T>(props: { title: string; of: Loaded<T>; wide?: boolean; children: (value: T) => ComponentChildren }) {
  const { title, of, wide = false } = props;
  if (denied(of)) {
    return null;
  }
  return (
    <section class={wide ? "part wide" : "part"} aria-label={title}>
      <h2>{title}</h2>
      {of.state === "loading" ? (
        <p class="loading" role="status">
          Loading…
        </p>
      ) : of.state === "done" ? (
        props.children(of.value)
      ) : of.error.status === 404 ? (
        <p class="empty">
          <Text value={of.error.message} />
        </p>
      ) : (
        <Failure error={of.error} />
      )}
    </section>
  );
}

// Lists the types with their counts, as bars on one scale for each kind.
function Contents(props: { graph: string; state: Snapshot }) {
  const { graph, state } = props;
  if (state.datasets.length === 0) {
    return <p class="empty">The schema has no types that you may see.</p>;
  }
  return (
    <div class="contents">
      {(["node", "edge"] as const).map((kind) => {
        const types = state.datasets.filter((d) => d.entity_kind === kind).sort((a, b) => b.entity_count - a.entity_count);
        const most = Math.max(1, ...types.map((d) => d.entity_count));
        return (
          types.length > 0 && (
            <div key={kind}>
              <h3>{kind === "node" ? "Nodes" : "Edges"}</h3>
              <ul class="bars">
                {types.map((d) => (
                  <li key={d.type_name}>
                    <a href={kind === "node" ? href(graph, "data", [d.type_name]) : href(graph, "schema", ["edge", d.type_name])}>
                      <Text value={d.type_name} most={80} plain />
                    </a>
                    <meter min={0} max={most} value={d.entity_count} aria-label={`Share of ${d.type_name}`} />
                    <span class="number">{d.entity_count.toLocaleString("en")}</span>
                  </li>
                ))}
              </ul>
            </div>
          )
        );
      })}
    </div>
  );
}

function Growth(props: { graph: string; branch: string }) {
  const { graph, branch } = props;
  const growth = useLoad(`growth ${graph} ${branch}`, (signal) => get<{ points: GrowthPoint[] }>(pathOf(graph, "/growth", { branch }), signal));
  return (
    <Part title="How it grew" of={growth}>
      {({ points }) => (points.length < 2 ? <p class="empty">The branch has no earlier commit to compare with.</p> : <GrowthLine graph={graph} points={points} />)}
    </Part>
  );
}

function Proposals(props: { graph: string; list: ProposalSummary[]; more: boolean }) {
  const { graph, list, more } = props;
  if (list.length === 0) {
    return <p class="empty">Nothing waits for a decision.</p>;
  }
  return (
    <>
      <ul class="news">
        {list.map((p) => (
          <li key={p.id}>
            <a href={href(graph, "review", [p.id])}>
              <Text value={p.title} most={120} plain />
            </a>
            <span class="hint">
              <Actor of={p} first /> · <Moment micros={p.updated_at} />
            </span>
          </li>
        ))}
      </ul>
      {more && <a href={href(graph, "review")}>All open proposals</a>}
    </>
  );
}

// The checks read the whole graph, so they run only when the user wants it.
function Checks(props: { graph: string; branch: string }) {
  const { graph, branch } = props;
  const [wanted, setWanted] = useState(false);
  return wanted ? (
    <CheckList graph={graph} branch={branch} />
  ) : (
    <section class="part" aria-label="Checks">
      <h2>Checks</h2>
      <p>
        <button type="button" onClick={() => setWanted(true)}>
          Run the checks
        </button>
      </p>
    </section>
  );
}

function CheckList(props: { graph: string; branch: string }) {
  const { graph, branch } = props;
  const checks = useLoad(`overview checks ${graph} ${branch}`, (signal) => get<{ checks: Check[] }>(pathOf(graph, "/checks", { branch }), signal));
  return (
    <Part title="Checks" of={checks}>
      {({ checks: all }) => {
        const open = all.filter((c) => c.outcome !== "passed");
        return all.length === 0 ? (
          <p class="empty">The graph has no checks. A stored query with @must_be_empty is one.</p>
        ) : open.length === 0 ? (
          <p class="done">{all.length === 1 ? "The check passes." : `All ${all.length} checks pass.`}</p>
        ) : (
          <ul class="news">
            {open.map((c, i) => (
              <li key={i}>
                <span>
                  <span class={"badge " + c.outcome}>{c.outcome}</span> <Text value={c.title} most={200} plain />
                </span>
                {c.query && (
                  <a href={href(graph, "run", [c.query])}>
                    <Text value={c.query} most={80} plain />
                  </a>
                )}
              </li>
            ))}
          </ul>
        );
      }}
    </Part>
  );
}

function Commits(props: { graph: string; branch: string }) {
  const { graph, branch } = props;
  const commits = useLoad(`overview commits ${graph} ${branch}`, (signal) => get<{ commits: Commit[] }>(pathOf(graph, "/commits", { branch, limit: mostCommits }), signal));
  return (
    <Part title="Last commits" of={commits}>
      {({ commits: list }) => (
        <>
          <ul class="news">
            {list.map((c) => (
              <li key={c.graph_commit_id}>
                <a href={href(graph, "history", [c.graph_commit_id])}>
                  {c.message ? <Text value={c.message.split("\n")[0] ?? ""} most={120} plain /> : c.merged_parent_commit_id ? "A merge without a message" : "A commit without a message"}
                </a>
                <span class="hint">
                  <Actor of={c} first /> · <Moment micros={c.created_at} />
                </span>
              </li>
            ))}
          </ul>
          {list.length === mostCommits && <a href={href(graph, "history")}>All commits</a>}
        </>
      )}
    </Part>
  );
}
