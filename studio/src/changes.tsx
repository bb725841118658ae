// Changes of entities: the line that says which entity a change is about, and the changes of a proposal
// with their comments.

import { get, pathOf, type Change, type End, type Type } from "./api";
import { blobsOf } from "./bytes";
import { Difference } from "./difference";
import { nodeHref } from "./entity";
import { Show, useLoad } from "./load";
import { atBase, atSource, sameEntity, type Counts, type EntityPlace, type Proposal, type ProposalEvent, type Send } from "./proposal";
import { go, route, withQuery } from "./route";
import { Actor, Moment, Text, visible } from "./text";
import { useUnsent } from "./unsent";

/** The number of changes on one page. */
const pageSize = 50;

/**
 * Shows an entity by its id. A node links to its page. An edge links to the pages of its ends, if they are
 * known. The argument `query` selects the state of the graph that the linked pages show.
 */
export function EntityLink(props: {
  graph: string;
  types: Type[];
  place: EntityPlace;
  ends?: { from: End; to: End } | null;
  query?: Record<string, string | undefined>;
}) {
  const { graph, types, place, ends, query } = props;
  const link = (type: string, id: string) => (
    <a href={nodeHref(graph, type, id, query)}>
      <Text value={id} most={120} plain />
    </a>
  );
  const endLink = (type: string | undefined, end: End) =>
    typeof end === "string" ? (
      link(type ?? "", end)
    ) : (
      <>
        <Text value={end.type} /> {link(end.type, end.id)}
      </>
    );
  const edge = place.entity_kind === "edge" ? types.find((t) => t.kind === "edge" && t.name === place.type_name) : undefined;
  return (
    <>
      <Text value={place.type_name} />{" "}
      {place.entity_kind === "node" ? (
        link(place.type_name, place.id)
      ) : edge && ends ? (
        <>
          {endLink(edge.from, ends.from)} → {endLink(edge.to, ends.to)}
        </>
      ) : (
        <Text value={place.id} most={120} />
      )}
    </>
  );
}

/** Shows the kind of a change and the changed entity. */
export function ChangeHead(props: { graph: string; types: Type[]; change: Change; query?: Record<string, string | undefined> }) {
  const { change } = props;
  return (
    <h3>
      <span class={"badge " + change.op}>{change.op}</span>{" "}
      <EntityLink graph={props.graph} types={props.types} place={placeOf(change)} ends={(change.after ?? change.before)?.endpoints} query={props.query} />
    </h3>
  );
}

function placeOf(change: Change): EntityPlace {
  return { entity_kind: change.kind, type_name: change.type.name, id: change.id };
}

interface ProposedChange extends Change {
  effect: "changes" | "already_there" | "kept" | "undecided";
}

interface ProposalChanges {
  source_commit_id: string;
  target_commit_id: string;
  compares: "target_to_result" | "base_to_source";
  changes: ProposedChange[];
  next_page_token: string | null;
}

/** Shows what the merge of a proposal changes on the target, in pages, with filters and comments. */
export function ProposedChanges(props: { graph: string; proposal: Proposal; types: Type[]; send: Send; busy: boolean }) {
  const { graph, proposal: p, types } = props;
  const { query } = route.value;
  const asked = { kind: query.get("kind") ?? "", op: query.get("op") ?? "", type: query.get("type") ?? "" };
  const page = query.get("page") ?? "";
  const path = pathOf(graph, `/proposals/${encodeURIComponent(p.id)}/changes`, { ...asked, limit: pageSize, page_token: page });
  // The commits and the digest, which covers the resolutions, are part of the key: with others, the changes are others.
  const list = useLoad(p.digest ? `proposed ${p.source_commit_id} ${p.target_commit_id} ${p.merge_commit_id} ${p.digest} ${path}` : null, (signal) => get<ProposalChanges>(path, signal));
  const filtered = asked.kind !== "" || asked.op !== "" || asked.type !== "";
  return (
    <section>
      <h2>Changes</h2>
      <p>
        {p.conflict_count > 0 ? "The source changed" : p.state === "merged" ? "The merge changed" : "The merge would change"} nodes: {countsText(p.nodes)}. Edges:{" "}
        {countsText(p.edges)}.
      </p>
      <div class="row" role="group" aria-label="Filters of the changes">
        <Choice name="kind" text="Entities" values={["node", "edge"]} value={asked.kind} />
        <Choice name="op" text="Kind of change" values={["insert", "update", "delete"]} value={asked.op} />
        <Choice name="type" text="Type" values={[...new Set(types.map((t) => t.name))]} value={asked.type} />
      </div>
      {p.digest === "" ? (
        <p class="empty">The branches cannot be compared.</p>
      ) : (
        <Show of={list}>
          {({ changes, next_page_token, source_commit_id, target_commit_id, compares }) => (
            <>
              <p class="compared">
                {compares === "target_to_result" ? (
                  <>
                    From <Text value={p.target} /> at commit <code>{target_commit_id}</code> to the result of the merge, with the stored resolutions.
                  </>
                ) : (
                  <>The merge has no result yet. These are the changes of the source since the merge base, not what will be merged.</>
                )}
              </p>
              {(source_commit_id !== p.source_commit_id || target_commit_id !== p.target_commit_id) && (
                <p class="note" role="status">
                  A branch has changed since you opened the first page of these changes. <a href={withQuery({ page: undefined })}>Begin again with the first page</a>
                </p>
              )}
              {changes.length === 0 && <p class="empty">{filtered || page ? "No change matches the filters." : "The source changes nothing."}</p>}
              <ol class="versions">
                {changes.map((change) => (
                  <li key={change.kind + change.type.name + change.id}>
                    <ChangeHead graph={graph} types={types} change={change} query={change.op === "delete" ? atBase(p) : atSource(p)} />
                    {change.effect === "already_there" ? (
                      <p class="empty">Already there: the target has what the source changed.</p>
                    ) : change.effect === "kept" ? (
                      <p class="empty">Not merged: a resolution keeps the state of the target.</p>
                    ) : (
                      <Difference before={change.before} after={change.after} blobs={blobsOf(types, change.kind, change.type.name)} />
                    )}
                    <Remarks {...props} place={placeOf(change)} />
                  </li>
                ))}
              </ol>
              <p class="row">
                {page && <a href={withQuery({ page: undefined })}>First changes</a>}
                {next_page_token && <a href={withQuery({ page: next_page_token })}>More changes</a>}
              </p>
            </>
          )}
        </Show>
      )}
    </section>
  );
}

/** Says how many entities changed. */
export function countsText(c: Counts): string {
  return `${c.inserted} new, ${c.updated} changed, ${c.deleted} deleted`;
}

/** Lets the user choose one value of a filter, which is a parameter of the URL. */
export function Choice(props: { name: string; text: string; values: string[]; value: string }) {
  const { name, text, values, value } = props;
  return (
    <label>
      {text}
      <select value={value} onChange={(event) => go(withQuery({ [name]: event.currentTarget.value, page: undefined }))}>
        <option value="">all</option>
        {values.map((v) => (
          <option key={v} value={v}>
            {visible(v)}
          </option>
        ))}
      </select>
    </label>
  );
}

// Shows the comments about one changed entity, and a form for another one.
function Remarks(props: { graph: string; proposal: Proposal; send: Send; busy: boolean; place: EntityPlace }) {
  const { graph, proposal: p, send, busy, place } = props;
  const name = [place.entity_kind, place.type_name, place.id].join(" ");
  const [text, setText] = useUnsent(`${graph} ${p.id} ${name}`);
  const about = p.events.filter((e) => e.on && sameEntity(e.on, place));
  return (
    <>
      {about.map((e, i) => (
        <Remark key={i} event={e} />
      ))}
      {p.state === "open" && (
        <details class="remark" open={text !== ""}>
          <summary>Comment on this change</summary>
          <form
            onSubmit={async (event) => {
              event.preventDefault();
              const body = { decision: "comment", comment: text, on: place };
              if (!busy && (await send("/review", body, "The comment is stored."))) {
                setText("");
              }
            }}
          >
            <textarea rows={2} required aria-label={"Comment on " + visible(name)} value={text} onInput={(event) => setText(event.currentTarget.value)} />
            <button type="submit" class="quiet" disabled={busy}>
              Store the comment
            </button>
          </form>
        </details>
      )}
    </>
  );
}

function Remark(props: { event: ProposalEvent }) {
  const { event } = props;
  return (
    <blockquote class="remark">
      <p>
        <Actor of={event} first /> · <Moment micros={event.created_at} />
      </p>
      <Text value={event.comment} />
    </blockquote>
  );
}
