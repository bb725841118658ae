// The decision about a proposal: what blocks its merge, and a form with the steps that a user can take.

import { useState } from "preact/hooks";
import type { Proposal, Send } from "./proposal";
import { ReviewKey } from "./reviewkey";
import { Text } from "./text";
import { useUnsent } from "./unsent";

export function Decide(props: { graph: string; proposal: Proposal; send: Send; busy: boolean }) {
  const { graph, proposal: p, send, busy } = props;
  const [comment, setComment] = useUnsent(`${graph} ${p.id}`);
  const [fault, setFault] = useState("");
  if (p.state !== "open") {
    return (
      <section>
        <h2>Decision</h2>
        <p class="empty">The proposal is {p.state}, which is final.</p>
      </section>
    );
  }
  const steps = {
    approve: () => send("/review", { decision: "approve", digest: p.digest, comment }, "You approved the proposal."),
    request_changes: () => send("/review", { decision: "request_changes", digest: p.digest, comment }, "You asked for changes."),
    comment: () => send("/review", { decision: "comment", comment }, "The comment is stored."),
    merge: () => send("/merge", { digest: p.digest, comment }, p.query ? "The query is published as a tool." : `The proposal is merged into ${p.target}.`),
    close: () => send("/close", { comment }, "The proposal is closed."),
  };
  const take = async (step: keyof typeof steps) => {
    const missing = step === "comment" && comment.trim() === "";
    setFault(missing ? "Write a comment first." : "");
    if (!missing && !busy && (await steps[step]())) {
      setComment("");
    }
  };
  const blocked = p.blockers.length > 0;
  const compared = p.digest !== "";
  return (
    <section aria-busy={busy}>
      <h2>Decision</h2>
      <Blockers proposal={p} />
      <form
        aria-label="Your decision"
        onSubmit={(event) => {
          event.preventDefault();
          const step = (event.submitter as HTMLButtonElement | null)?.value;
          if (step !== undefined && step in steps) {
            void take(step as keyof typeof steps);
          }
        }}
      >
        <div class="field">
          <label for="comment">Comment</label>
          <textarea
            id="comment"
            rows={3}
            value={comment}
            aria-invalid={fault !== ""}
            aria-describedby={fault ? "comment-fault comment-hint" : "comment-hint"}
            onInput={(event) => setComment(event.currentTarget.value)}
          />
          {fault && (
            <p id="comment-fault" class="fault" role="alert">
              {fault}
            </p>
          )}
          <p id="comment-hint" class="hint">
            The comment is stored together with the step that you choose.
          </p>
        </div>
        <div class="row">
          <button type="submit" value="approve" disabled={busy || !compared}>
            Approve
          </button>
          <button type="submit" value="request_changes" class="quiet" disabled={busy || !compared}>
            Ask for changes
          </button>
          <button type="submit" value="comment" class="quiet" disabled={busy}>
            Only comment
          </button>
        </div>
        <div class="row">
          <button type="submit" value="merge" disabled={busy || blocked} aria-describedby={blocked ? "blockers" : undefined}>
            {p.query ? "Publish the tool" : <>Merge into <Text value={p.target} plain /></>}
          </button>
        </div>
        <details>
          <summary>Close without a merge</summary>
          <p class="hint">A closed proposal cannot be opened again.</p>
          <button type="submit" value="close" class="quiet" disabled={busy}>
            Close the proposal
          </button>
        </details>
      </form>
      <ReviewKey graph={graph} />
    </section>
  );
}

function Blockers(props: { proposal: Proposal }) {
  const { blockers, approved_by, changes_requested_by } = props.proposal;
  return (
    <>
      {blockers.length === 0 ? (
        <p class="done">Nothing blocks the merge.</p>
      ) : (
        <div class="note" id="blockers">
          <strong>Before the merge</strong>
          <ul class="reasons">
            {blockers.map((blocker) => (
              <li key={blocker}>
                <Text value={blocker} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <dl class="standing">
        <Reviewers title="Approved by" names={approved_by} />
        <Reviewers title="Changes asked for by" names={changes_requested_by} />
      </dl>
    </>
  );
}

function Reviewers(props: { title: string; names: string[] }) {
  const { title, names } = props;
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {names.length === 0 && <span class="null">no reviewer</span>}
        {names.map((name, i) => (
          <span key={name}>
            {i > 0 && ", "}
            <Text value={name} />
          </span>
        ))}
      </dd>
    </div>
  );
}
