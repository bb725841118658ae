// The checks of an open proposal: stored queries that must find nothing in the result of the merge.

import type { Proposal } from "./proposal";
import { href } from "./route";
import { columnsOf, Table } from "./table";
import { Text } from "./text";

export function Checks(props: { graph: string; proposal: Proposal }) {
  const { graph, proposal } = props;
  const { checks } = proposal;
  return (
    <section>
      <h2>Checks</h2>
      {checks.length === 0 && <p class="empty">The graph has no checks.</p>}
      <ul class="checks">
        {checks.map((c, i) => (
          <li key={i}>
            <p>
              <span class={"badge " + c.outcome}>{c.outcome}</span> <Text value={c.title} />{" "}
              {c.query && (
                <a href={href(graph, "run", [c.query], { branch: proposal.target, at: "" })}>
                  <Text value={c.query} plain />
                </a>
              )}
            </p>
            {c.outcome === "unfinished" && (
              <p class="hint">
                {c.reason && (
                  <>
                    Reason: <Text value={c.reason} />.{" "}
                  </>
                )}
                An unfinished check counts as not passed.
              </p>
            )}
            {c.rows && c.rows.length > 0 && <Table label={c.query} rows={c.rows} columns={columnsOf(c.rows)} />}
            {c.more_rows && <p class="empty">The query returned more rows.</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
