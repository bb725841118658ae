// Compare: what a merge of one branch or commit into another would change, entity by entity.

import type * as wire from "../../client/typescript/src/wire";
import { get, pathOf, type Change } from "./api";
import { ChangeHead, Choice, countsText } from "./changes";
import { blobsOf } from "./bytes";
import { Difference } from "./difference";
import { useTypes } from "./facts";
import { Failure, Show, useLoad } from "./load";
import type { ProposalSummary } from "./proposal";
import { proposeHref } from "./propose";
import { go, href, route, target, withQuery } from "./route";
import { isVisible, Text } from "./text";

/** The number of changes on one page. */
const pageSize = 50;

type Comparison = Omit<wire.StateComparison, "changes"> & { changes: (Change & Pick<wire.ProposedChange, "effect">)[] };

/** A commit has the form of a ULID, which no branch of the studio's lists has. */
const commitId = /^[0-9A-HJKMNP-TV-Z]{26}$/;

// Returns the parameters that name a state for the server.
function stateOf(name: "source" | "target", text: string): Record<string, string> {
  return commitId.test(text) ? { [name + "_commit"]: text } : { [name]: text };
}

// Returns the query of links to the pages of entities in a state.
function at(state: string, commit: string): Record<string, string> {
  return commitId.test(state) ? { branch: "", at: commit } : { branch: state, at: "" };
}

export function ComparePage() {
  const { graph, query } = route.value;
  const into = query.get("into") ?? "main";
  const from = query.get("from") ?? (target.value.at || (target.value.branch === into ? "" : target.value.branch));
  const branches = useLoad("branches " + graph, (signal) => get<{ branches: string[] }>(pathOf(graph, "/branches", { limit: 200 }), signal));
  const names = branches.state === "done" ? branches.value.branches : [];
  const others = names.filter((n) => n !== into);
  return (
    <>
      <h1>Compare</h1>
      {branches.state === "failed" && branches.error.status === 403 ? (
        <Failure error={branches.error} />
      ) : (
        <>
          <form
            class="row"
            aria-label="What to compare"
            key={from + "\n" + into}
            onSubmit={(event) => {
              event.preventDefault();
              const given = new FormData(event.currentTarget);
              go(withQuery({ from: String(given.get("from") ?? "").trim(), into: String(given.get("into") ?? "").trim(), page: undefined, kind: undefined, op: undefined, type: undefined }));
            }}
          >
            <label>
              Changes of
              <input name="from" required list="states" autocomplete="off" placeholder="branch or commit" defaultValue={from} />
            </label>
            <label>
              against
              <input name="into" required list="states" autocomplete="off" placeholder="branch or commit" defaultValue={into} />
            </label>
            <datalist id="states">
              {names.filter(isVisible).map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
            <button type="submit">Compare</button>
            {from && <a href={withQuery({ from: into, into: from, page: undefined })}>The other way round</a>}
          </form>
          {from === "" || from === into ? <Start others={others} into={into} loading={branches.state === "loading"} /> : <Differences graph={graph} from={from} into={into} />}
        </>
      )}
    </>
  );
}

// Offers the branches to compare.
function Start(props: { others: string[]; into: string; loading: boolean }) {
  const { others, into, loading } = props;
  if (loading) {
    return (
      <p class="loading" role="status">
        Loading…
      </p>
    );
  }
  return (
    <>
      <p class="lead">See entity by entity what a branch or a commit has that another one lacks, before anybody merges it.</p>
      {others.length === 0 ? (
        <p class="empty">There is no other branch yet. Give the ids of two commits, or write to a branch first.</p>
      ) : (
        <ul class="cards">
          {others.slice(0, 30).map((name) => (
            <li key={name}>
              <a href={withQuery({ from: name, into })}>
                <Text value={name} most={80} plain /> against <Text value={into} most={80} plain />
              </a>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Differences(props: { graph: string; from: string; into: string }) {
  const { graph, from, into } = props;
  const { query } = route.value;
  const asked = { kind: query.get("kind") ?? "", op: query.get("op") ?? "", type: query.get("type") ?? "" };
  const page = query.get("page") ?? "";
  const path = pathOf(graph, "/compare", { ...stateOf("source", from), ...stateOf("target", into), ...asked, limit: pageSize, page_token: page });
  const compared = useLoad("compare " + path, (signal) => get<Comparison>(path, signal));
  const types = useTypes(graph);
  const all = types.state === "done" ? types.value : [];
  const filtered = asked.kind !== "" || asked.op !== "" || asked.type !== "";
  const branches = !commitId.test(from) && !commitId.test(into);
  return (
    <Show of={compared}>
      {(c) => {
        const none = c.changes.length === 0 && !filtered && !page;
        return (
          <>
            <section aria-label="Summary">
              {none ? (
                <p class="done">
                  <Text value={from} most={80} plain /> has nothing that <Text value={into} most={80} plain /> lacks.
                </p>
              ) : (
                <p>
                  {c.compares === "target_to_result" ? "A merge would change" : "Since they parted, the first one changed"} nodes: {countsText(c.nodes)}. Edges: {countsText(c.edges)}.
                </p>
              )}
              {c.conflict_count > 0 && (
                <p class="note">
                  {c.conflict_count === 1 ? "One conflict stands" : `${c.conflict_count} conflicts stand`} in the way of a merge. A proposal shows both sides and lets you decide.
                </p>
              )}
              {branches && !none && <Proposed graph={graph} source={from} into={into} />}
              <p class="compared">
                Compared: <a href={href(graph, "history", [c.source_commit_id], { branch: "", at: "" })}>{c.source_commit_id}</a> against{" "}
                <a href={href(graph, "history", [c.target_commit_id], { branch: "", at: "" })}>{c.target_commit_id}</a>; they parted at{" "}
                <a href={href(graph, "history", [c.base_commit_id], { branch: "", at: "" })}>{c.base_commit_id}</a>.
              </p>
            </section>
            {!none && (
              <section>
                <h2>Changes</h2>
                <div class="row" role="group" aria-label="Filters of the changes">
                  <Choice name="kind" text="Entities" values={["node", "edge"]} value={asked.kind} />
                  <Choice name="op" text="Kind of change" values={["insert", "update", "delete"]} value={asked.op} />
                  <Choice name="type" text="Type" values={[...new Set(all.map((t) => t.name))]} value={asked.type} />
                </div>
                {c.changes.length === 0 && <p class="empty">No change matches the filters.</p>}
                <ol class="versions">
                  {c.changes.map((change) => (
                    <li key={change.kind + change.type.name + change.id}>
                      <ChangeHead graph={graph} types={all} change={change} query={change.op === "delete" ? at(into, c.target_commit_id) : at(from, c.source_commit_id)} />
                      {change.effect === "already_there" ? (
                        <p class="empty">The other side has this change too.</p>
                      ) : (
                        <Difference before={change.before} after={change.after} blobs={blobsOf(all, change.kind, change.type.name)} />
                      )}
                    </li>
                  ))}
                </ol>
                <p class="row">
                  {page && <a href={withQuery({ page: undefined })}>First changes</a>}
                  {c.next_page_token && <a href={withQuery({ page: c.next_page_token })}>More changes</a>}
                </p>
              </section>
            )}
          </>
        );
      }}
    </Show>
  );
}

// Links to the open proposal between two branches, or to the form that opens one.
function Proposed(props: { graph: string; source: string; into: string }) {
  const { graph, source, into } = props;
  const path = pathOf(graph, "/proposals", { state: "open", source, target: into, limit: 1 });
  const list = useLoad("proposed " + path, (signal) => get<{ proposals: ProposalSummary[] }>(path, signal));
  const open = list.state === "done" ? list.value.proposals[0] : undefined;
  return (
    <p>
      {open ? (
        <>
          There is an open proposal:{" "}
          <a href={href(graph, "review", [open.id])}>
            <Text value={open.title} most={120} plain />
          </a>
        </>
      ) : (
        <a class="button" href={proposeHref(graph, source, into)}>
          Open a proposal
        </a>
      )}
    </p>
  );
}
