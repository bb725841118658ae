// History: the commits of a branch, the changes of each commit, and the comparison of two branches.

import { get, pathOf, type Change, type Commit } from "./api";
import { ChangeHead } from "./changes";
import { blobsOf } from "./bytes";
import { Difference } from "./difference";
import { useTypes } from "./facts";
import { Failure, Show, useLoad } from "./load";
import type { ProposalSummary } from "./proposal";
import { proposeHref } from "./propose";
import { go, href, route, target, withQuery } from "./route";
import { Table, type Column } from "./table";
import { Actor, actorOf, Moment, Text, visible } from "./text";

/** The number of commits or changes on one page. */
const pageSize = 50;

/** The numbers of commits of each branch in which a comparison looks for a common commit. The first is the default. */
const depths = [pageSize, 200, 1000, 10_000] as const;

export function HistoryPage() {
  const { graph, rest, query } = route.value;
  const [commit] = rest;
  const other = query.get("compare");
  if (commit !== undefined) {
    return <CommitPage key={commit} graph={graph} id={commit} />;
  }
  return (
    <>
      <h1>History</h1>
      <Compare graph={graph} other={other} />
      {other ? <Comparison graph={graph} other={other} /> : <Commits graph={graph} />}
    </>
  );
}

interface CommitList {
  commits: Commit[];
  next_before: number | null;
}

function commitColumns(graph: string): Column<Commit>[] {
  return [
    { name: "Commit", value: (c) => c.graph_commit_id, view: (c) => <a href={href(graph, "history", [c.graph_commit_id])}>{c.graph_commit_id}</a> },
    { name: "Time", value: (c) => new Date(c.created_at / 1000).toISOString(), view: (c) => <Moment micros={c.created_at} /> },
    { name: "Actor", value: actorOf },
    { name: "Made on", value: (c) => c.graph_branch },
    { name: "Kind", value: (c) => (c.merged_parent_commit_id ? "merge" : "") },
    { name: "Message", value: (c) => c.message ?? "" },
  ];
}

function Commits(props: { graph: string }) {
  const { graph } = props;
  const { branch } = target.value;
  const before = route.value.query.get("before") ?? "";
  const grep = route.value.query.get("grep") ?? "";
  const list = useLoad(`commits ${graph} ${branch} ${before} ${grep}`, (signal) =>
    get<CommitList>(pathOf(graph, "/commits", { branch, before, grep, limit: pageSize }), signal),
  );
  return (
    <>
      <label class="row">
        Message contains
        <input type="search" value={grep} onChange={(event) => go(withQuery({ grep: event.currentTarget.value || undefined, before: undefined }))} />
      </label>
      <Show of={list}>
        {({ commits, next_before }) => (
          <>
            <Table label="Commits" rows={commits} columns={commitColumns(graph)} empty={grep ? "None of these commits has the text in its message." : "The branch has no commits."} />
            {next_before !== null && <a href={withQuery({ before: String(next_before) })}>Older commits</a>}
          </>
        )}
      </Show>
    </>
  );
}

function Compare(props: { graph: string; other: string | null }) {
  const branches = useLoad("branches " + props.graph, (signal) =>
    get<{ branches: string[] }>(pathOf(props.graph, "/branches", { limit: 200 }), signal),
  );
  if (branches.state !== "done") {
    return null; // the list of commits shows the reason
  }
  const mine = target.value.branch || "main";
  const others = branches.value.branches.filter((b) => b !== mine);
  if (others.length === 0 && !props.other) {
    return <p class="empty">There is no other branch to compare with.</p>;
  }
  return (
    <label class="row">
      Compare with
      <select value={props.other ?? ""} onChange={(event) => go(withQuery({ compare: event.currentTarget.value, commits: undefined, before: undefined, at: undefined }))}>
        <option value="">no other branch</option>
        {others.map((b) => (
          <option key={b} value={b}>
            {visible(b)}
          </option>
        ))}
      </select>
    </label>
  );
}

// Compares two branches: it shows the commits that only one of them has. A merge can copy the changes of
// a branch without its commits. So the comparison shows the last common commit, but not whether the
// data of the branches differs.
function Comparison(props: { graph: string; other: string }) {
  const { graph, other } = props;
  const mine = target.value.branch || "main";
  const asked = Number(route.value.query.get("commits"));
  const depth = depths.find((d) => d === asked) ?? depths[0];
  const deeper = depths.find((d) => d > depth);
  const lists = useLoad(`compare ${graph} ${depth} ${mine} ${other}`, (signal) =>
    Promise.all([mine, other].map((branch) => get<CommitList>(pathOf(graph, "/commits", { branch, limit: depth }), signal))),
  );
  return (
    <Show of={lists}>
      {([a, b]) => {
        const left = a?.commits ?? [];
        const right = b?.commits ?? [];
        const inRight = new Set(right.map((c) => c.graph_commit_id));
        const common = left.find((c) => inRight.has(c.graph_commit_id));
        // The branches share the common commit and all older ones.
        const own = (list: Commit[]) => list.slice(0, common && list.findIndex((c) => c.graph_commit_id === common.graph_commit_id));
        return (
          <>
            <p class={common ? undefined : "note"}>
              {common ? (
                <>
                  The branches part at the commit <a href={href(graph, "history", [common.graph_commit_id])}>{common.graph_commit_id}</a>.
                </>
              ) : (
                <>
                  The newest {depth} commits of the two branches have none in common.{" "}
                  {deeper && <a href={withQuery({ commits: String(deeper) })}>Look at the newest {deeper.toLocaleString("en")}</a>}
                </>
              )}
            </p>
            <p>
              <a href={href(graph, "compare", [], { branch: "", at: "", from: other, into: mine })}>See what a merge would change, entity by entity</a>
            </p>
            <ul>
              <Proposed graph={graph} source={mine} into={other} />
              <Proposed graph={graph} source={other} into={mine} />
            </ul>
            <h2>
              Only on <Text value={mine} />
            </h2>
            <Table label={"Only on " + mine} rows={own(left)} columns={commitColumns(graph)} empty="None." />
            <h2>
              Only on <Text value={other} />
            </h2>
            <Table label={"Only on " + other} rows={own(right)} columns={commitColumns(graph)} empty="None." />
          </>
        );
      }}
    </Show>
  );
}

// Links to the open proposal to merge a branch into another one, or to the form that opens one.
function Proposed(props: { graph: string; source: string; into: string }) {
  const { graph, source, into } = props;
  const path = pathOf(graph, "/proposals", { state: "open", source, target: into, limit: 1 });
  const list = useLoad("proposed " + path, (signal) => get<{ proposals: ProposalSummary[] }>(path, signal));
  const open = list.state === "done" ? list.value.proposals[0] : undefined;
  const branches = (
    <>
      from <Text value={source} plain /> into <Text value={into} plain />
    </>
  );
  return (
    <li>
      {open ? (
        <>
          The changes {branches}: the open proposal{" "}
          <a href={href(graph, "review", [open.id])}>
            <Text value={open.title} most={120} plain />
          </a>
        </>
      ) : (
        <a href={proposeHref(graph, source, into)}>Open a proposal {branches}</a>
      )}
    </li>
  );
}

interface Changes {
  changes: Change[];
  next_page_token: string | null;
}

function CommitPage(props: { graph: string; id: string }) {
  const { graph, id } = props;
  const path = "/commits/" + encodeURIComponent(id);
  const page = route.value.query.get("page") ?? "";
  const types = useTypes(graph, id); // the types at the commit, which the changes are about
  const all = types.state === "done" ? types.value : [];
  const commit = useLoad(`commit ${graph} ${id}`, (signal) => get<Commit>(pathOf(graph, path), signal));
  const changes = useLoad(`changes ${graph} ${id} ${page}`, (signal) =>
    get<Changes>(pathOf(graph, path + "/changes", { limit: pageSize, page_token: page }), signal),
  );
  return (
    <>
      <p class="crumbs">
        <a href={href(graph, "history", [], { branch: target.value.branch, at: "" })}>History</a>
      </p>
      <h1>
        Commit <code><Text value={id} most={80} plain /></code>
      </h1>
      <Show of={commit}>
        {(c) => (
          <>
            <p>
              <Moment micros={c.created_at} /> by <Actor of={c} />, on the branch <Text value={c.graph_branch} />
            </p>
            {c.message && (
              <p>
                <Text value={c.message} most={1024} />
              </p>
            )}
            <p class="row">
              {c.parent_commit_id && <a href={href(graph, "history", [c.parent_commit_id])}>The commit before it</a>}
              {c.merged_parent_commit_id && <a href={href(graph, "history", [c.merged_parent_commit_id])}>The merged commit</a>}
              <a href={href(graph, "schema", [], { at: id })}>The graph at this commit</a>
            </p>
          </>
        )}
      </Show>
      <h2>Changes</h2>
      {changes.state === "failed" && (changes.error.status === 409 || changes.error.status === 410) ? (
        <p class="note" role="status">
          <Text value={changes.error.message} />
        </p>
      ) : changes.state === "failed" ? (
        <Failure error={changes.error} />
      ) : types.state === "failed" ? (
        <Failure error={types.error} />
      ) : (
        <Show of={types.state === "loading" ? types : changes}>
          {(list) => (
            <>
              {list.changes.length === 0 && <p class="empty">The commit changed nothing.</p>}
              <ol class="versions">
                {list.changes.map((change) => (
                  <li key={change.kind + change.type.name + change.id}>
                    <ChangeHead graph={graph} types={all} change={change} />
                    <Difference before={change.before} after={change.after} blobs={blobsOf(all, change.kind, change.type.name)} />
                  </li>
                ))}
              </ol>
              {list.next_page_token && <a href={withQuery({ page: list.next_page_token })}>More changes</a>}
            </>
          )}
        </Show>
      )}
    </>
  );
}
