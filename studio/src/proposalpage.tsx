// The page of a proposal: its conflicts, checks and changes, and to the right of them the decision and
// the events.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get, pathOf, post } from "./api";
import { ProposedChanges } from "./changes";
import { Checks } from "./checks";
import { Conflicts, Resolutions } from "./conflicts";
import { Decide } from "./decide";
import { Events } from "./events";
import { useTypes } from "./facts";
import { Failure, Show, useLoad } from "./load";
import { isDraft, type Proposal, type Send } from "./proposal";
import { EditProposal } from "./propose";
import { QueryOfProposal } from "./proposequery";
import { href } from "./route";
import { Actor, Moment, Text } from "./text";

export function ProposalPage(props: { graph: string; id: string }) {
  const { graph, id } = props;
  const loaded = useLoad(`proposal ${graph} ${id}`, (signal) => get<Proposal>(pathOf(graph, "/proposals/" + encodeURIComponent(id)), signal));
  return (
    <>
      <p class="crumbs">
        <a href={href(graph, "review")}>Proposals</a>
      </p>
      <Show of={loaded} heading="Proposal">
        {(proposal) => <Loaded graph={graph} first={proposal} />}
      </Show>
    </>
  );
}

/** What the last request to change the proposal led to. */
interface Outcome {
  done?: string; // what the server did
  error?: ApiError;
  moved: boolean; // the proposal or a branch had changed since the page read them
}

function Loaded(props: { graph: string; first: Proposal }) {
  const { graph, first } = props;
  const [proposal, setProposal] = useState(first);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [busy, setBusy] = useState(false);
  const types = useTypes(graph);
  const path = "/proposals/" + encodeURIComponent(proposal.id);

  const send: Send = async (route, body, done, refused) => {
    setBusy(true);
    try {
      const next = await post<Proposal>(pathOf(graph, path + route), body);
      setProposal(next);
      setOutcome({ done, moved: branchesMoved(proposal, next) });
      return true;
    } catch (thrown) {
      const error = thrown instanceof ApiError ? thrown : new ApiError(0, String(thrown));
      if (refused && error.status === 400) {
        setOutcome(null);
        refused(error);
        return false;
      }
      let moved = false;
      if (error.status === 409 || error.status === 412) {
        const newest = await get<Proposal>(pathOf(graph, path)).catch(() => proposal);
        moved = branchesMoved(proposal, newest) || newest.digest !== proposal.digest || newest.state !== proposal.state;
        setProposal(newest);
      }
      setOutcome({ error, moved });
      return false;
    } finally {
      setBusy(false);
    }
  };
  const all = types.state === "done" ? types.value : [];
  const shared = { graph, proposal, send, busy, types: all };
  return (
    <>
      <Head graph={graph} proposal={proposal} />
      {proposal.state === "open" && !proposal.query && <EditProposal proposal={proposal} send={send} busy={busy} />}
      <Result outcome={outcome} />
      <div class="review">
        <div>
          {proposal.query ? (
            <QueryOfProposal graph={graph} query={proposal.query} open={proposal.state === "open"} />
          ) : (
            <>
              {/* The key drops the chosen sides when a branch moves or a resolution is stored. */}
              <Conflicts key={[proposal.source_commit_id, proposal.target_commit_id, proposal.digest].join(" ")} {...shared} />
              {proposal.resolutions.length > 0 && <Resolutions {...shared} />}
              {proposal.state === "open" && <Checks graph={graph} proposal={proposal} />}
              <ProposedChanges {...shared} />
            </>
          )}
        </div>
        <div class="side">
          <Decide graph={graph} proposal={proposal} send={send} busy={busy} />
          <Events graph={graph} proposal={proposal} types={all} />
        </div>
      </div>
    </>
  );
}

// Reports whether a branch has another head in the newer answer. The merge itself moves the target, but
// the answer about a merged proposal has the heads that were compared.
function branchesMoved(before: Proposal, after: Proposal): boolean {
  return before.source_commit_id !== after.source_commit_id || before.target_commit_id !== after.target_commit_id;
}

function Head(props: { graph: string; proposal: Proposal }) {
  const { graph, proposal: p } = props;
  return (
    <>
      <h1>
        <Text value={p.title} /> <span class={"badge " + p.state}>{p.state}</span>
      </h1>
      <p>
        {p.query ? (
          "A query that would become a tool, proposed by "
        ) : (
          <>
            From <Source graph={graph} proposal={p} /> into{" "}
            <a href={href(graph, "history", [], { branch: p.target, at: "" })}><Text value={p.target} plain /></a>, opened by{" "}
          </>
        )}
        <Actor of={p} /> on <Moment micros={p.created_at} />
        {p.merge_commit_id && (
          <>
            {" · "}
            <a href={href(graph, "history", [p.merge_commit_id], { branch: p.target, at: "" })}>the commit of the merge</a>
          </>
        )}
      </p>
      {p.description && (
        <div class="lead">
          <Text value={p.description} />
        </div>
      )}
    </>
  );
}

// Shows the source branch. The merge ends a draft, and a draft whose proposal is closed may have ended since, so
// that their history cannot be shown.
function Source(props: { graph: string; proposal: Proposal }) {
  const { graph, proposal: p } = props;
  if (p.state !== "open" && isDraft(p.source)) {
    return (
      <>
        <Text value={p.source} plain />
        {p.state === "merged" && " (a draft, which ended with the merge)"}
      </>
    );
  }
  return <a href={href(graph, "history", [], { branch: p.source, at: "" })}><Text value={p.source} plain /></a>;
}

// Says what the last request led to. It takes the focus, because the element that had it may be gone.
function Result(props: { outcome: Outcome | null }) {
  const { outcome } = props;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (outcome) {
      place.current?.focus();
      place.current?.scrollIntoView({ block: "nearest" });
    }
  }, [outcome]);
  return (
    <div ref={place} tabIndex={-1} class="outcome">
      {outcome?.done && (
        <p class="done" role="status">
          {outcome.done}
        </p>
      )}
      {outcome?.error && <Failure error={outcome.error} />}
      {outcome?.moved && (
        <p class="note" role="status">
          The proposal or one of its branches has changed since you opened this page. The page now shows the newest state; look at it again before you decide.
        </p>
      )}
    </div>
  );
}
