// Review: the list of proposals, and the page of one of them.

import { get, pathOf } from "./api";
import { Show, useLoad } from "./load";
import { states, type ProposalSummary } from "./proposal";
import { ProposalPage } from "./proposalpage";
import { newProposal, OpenProposal, proposeHref } from "./propose";
import { go, href, route, target, withQuery } from "./route";
import { Table } from "./table";
import { actorOf, Moment, Text } from "./text";

/** The number of proposals on one page. */
const pageSize = 50;

/** The value of the parameter `state` that lists proposals in all states. */
const anyState = "any";

export function ReviewPage() {
  const { graph, rest } = route.value;
  const [id] = rest;
  if (id === newProposal) {
    return <OpenProposal graph={graph} />;
  }
  return id === undefined ? <ProposalList graph={graph} /> : <ProposalPage key={id} graph={graph} id={id} />;
}

interface ProposalPageOfList {
  proposals: ProposalSummary[];
  next_page_token?: string;
}

// The parameter `into` is the filter for the target of a proposal; `target` would be easy to confuse
// with the branch that all pages show.
function ProposalList(props: { graph: string }) {
  const { graph } = props;
  const { query } = route.value;
  const state = query.get("state") ?? "open";
  const author = query.get("author") ?? "";
  const reviewer = query.get("reviewer") ?? "";
  const into = query.get("into") ?? "";
  const page = query.get("page") ?? "";
  const path = pathOf(graph, "/proposals", { state: state === anyState ? "" : state, author, reviewer, target: into, limit: pageSize, page_token: page });
  const list = useLoad("proposals " + path, (signal) => get<ProposalPageOfList>(path, signal));
  const filtered = author !== "" || reviewer !== "" || into !== "" || state !== "open";
  return (
    <>
      <h1>Proposals</h1>
      <p>
        <a href={proposeHref(graph, target.value.branch === "main" ? "" : target.value.branch, "")}>Open a proposal</a>
      </p>
      <form
        class="row"
        aria-label="Filters"
        key={[state, author, reviewer, into].join("\n")}
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget);
          const text = (name: string) => String(given.get(name) ?? "").trim();
          const chosen = text("state");
          go(withQuery({ state: chosen === "open" ? undefined : chosen, author: text("author"), reviewer: text("reviewer"), into: text("into"), page: undefined }));
        }}
      >
        <label>
          State
          <select name="state">
            {[...states, anyState].map((s) => (
              <option key={s} value={s} selected={s === state}>
                {s}
              </option>
            ))}
          </select>
        </label>
        <label>
          Author
          <input name="author" autocomplete="off" defaultValue={author} />
        </label>
        <label>
          Reviewer
          <input name="reviewer" autocomplete="off" defaultValue={reviewer} />
        </label>
        <label>
          Target branch
          <input name="into" autocomplete="off" defaultValue={into} />
        </label>
        <button type="submit">Show</button>
        {filtered && <a href={href(graph, "review")}>All open proposals</a>}
      </form>
      <Show of={list}>
        {({ proposals, next_page_token }) => (
          <>
            <Table
              label="Proposals"
              rows={proposals}
              empty={
                filtered || page
                  ? "No proposal matches the filters."
                  : "There are no open proposals. Agents open them with the tool proposal_submit."
              }
              columns={[
                {
                  name: "Proposal",
                  value: (p) => p.title,
                  view: (p) => (
                    <a href={href(graph, "review", [p.id])}>
                      <Text value={p.title} plain />
                    </a>
                  ),
                },
                { name: "State", value: (p) => p.state, view: (p) => <span class={"badge " + p.state}>{p.state}</span> },
                { name: "Source", value: (p) => p.source, view: (p) => (p.source ? <Text value={p.source} most={200} /> : <span class="kind">a query</span>) },
                { name: "Target", value: (p) => p.target, view: (p) => (p.source ? <Text value={p.target} most={200} /> : <span class="kind">the tools</span>) },
                { name: "Author", value: actorOf },
                { name: "Opened", value: (p) => new Date(p.created_at / 1000).toISOString(), view: (p) => <Moment micros={p.created_at} /> },
                { name: "Last event", value: (p) => new Date(p.updated_at / 1000).toISOString(), view: (p) => <Moment micros={p.updated_at} /> },
              ]}
            />
            <p class="row">
              {page && <a href={withQuery({ page: undefined })}>Newest proposals</a>}
              {next_page_token && <a href={withQuery({ page: next_page_token })}>Older proposals</a>}
            </p>
          </>
        )}
      </Show>
    </>
  );
}
