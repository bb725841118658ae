// What has happened to a proposal: its comments and reviews, and why a review no longer counts.

import { get, pathOf, type Commit, type Type } from "./api";
import { EntityLink } from "./changes";
import { useLoad, type Loaded } from "./load";
import { atSource, isReview, standingOf, type Proposal, type ProposalEvent } from "./proposal";
import { href, route, withQuery } from "./route";
import { Actor, Moment, Text } from "./text";

/** The number of events that the page shows unless the URL has events=all. */
const mostEvents = 50;

/** The number of commits of the source among which the page looks for those after a review. */
const mostCommits = 50;

const names: Record<ProposalEvent["kind"], string> = {
  opened: "opened",
  changed: "edited",
  commented: "commented",
  approved: "approved",
  changes_requested: "asked for changes",
  merged: "merged",
  closed: "closed",
  resolved: "resolved conflicts",
};

export function Events(props: { graph: string; proposal: Proposal; types: Type[] }) {
  const { graph, proposal: p, types } = props;
  // Only an open proposal has a source that certainly exists.
  const wanted = p.state === "open" && !p.query && p.events.some((e, i) => isReview(e) && standingOf(p, i) === "void");
  const commits = useLoad(wanted ? `source ${graph} ${p.source} ${p.source_commit_id}` : null, async (signal) => {
    const list = await get<{ commits: Commit[] }>(pathOf(graph, "/commits", { branch: p.source, limit: mostCommits }), signal);
    return list.commits;
  });
  const hidden = route.value.query.get("events") === "all" ? 0 : Math.max(0, p.events.length - mostEvents);
  return (
    <section>
      <h2>What happened</h2>
      {hidden > 0 && <a href={withQuery({ events: "all" })}>Show {hidden} earlier events</a>}
      <ol class="events">
        {p.events.slice(hidden).map((e, i) => (
          <li key={i}>
            <p>
              <Actor of={e} first /> <span class={"badge " + e.kind}>{names[e.kind]}</span> <Moment micros={e.created_at} />
            </p>
            {e.on && (
              <p>
                about <EntityLink graph={graph} types={types} place={e.on} query={atSource(p)} />
              </p>
            )}
            {/* The page shows the text of a proposed query itself. */}
            {e.comment && !(p.query && (e.kind === "opened" || e.kind === "changed")) && <Text value={e.comment} />}
            {isReview(e) && <Standing graph={graph} proposal={p} index={hidden + i} commits={commits} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

// Says whether a review counts. If it does not, it lists the later commits and edits.
function Standing(props: { graph: string; proposal: Proposal; index: number; commits: Loaded<Commit[]> }) {
  const { graph, proposal: p, index, commits } = props;
  const review = p.events[index] as ProposalEvent;
  switch (standingOf(p, index)) {
    case "counts":
      return <p class="hint">This review counts.</p>;
    case "replaced":
      return <p class="hint">A later review by the same actor replaces this one.</p>;
    case "unknown":
      return <p class="hint">This review does not count while the branches cannot be compared.</p>;
    case "barred":
      return <p class="hint">This approval does not count: the policy does not let this actor approve the proposal.</p>;
  }
  const later = commits.state === "done" ? commits.value.filter((c) => c.created_at > review.created_at) : [];
  const edits = p.events.slice(index + 1).filter((e) => e.kind === "changed" || e.kind === "resolved");
  return (
    <div class="void">
      <p>This review no longer counts, because the changes or the resolutions are different now.</p>
      {later.length + edits.length > 0 && (
        <>
          <p>Since the review:</p>
          <ul class="reasons">
            {edits.map((e, i) => (
              <li key={i}>
                <Actor of={e} first /> edited the proposal, <Moment micros={e.created_at} />
              </li>
            ))}
            {later.map((c) => (
              <li key={c.graph_commit_id}>
                <Actor of={c} first /> made{" "}
                <a href={href(graph, "history", [c.graph_commit_id], { branch: p.source, at: "" })}>a commit to the source</a>, <Moment micros={c.created_at} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
