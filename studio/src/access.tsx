// Access: what an actor may do, and which rules of the policy decide it.

import { get, pathOf, type Access, type Decision } from "./api";
import { Failure, Show, useLoad } from "./load";
import { go, route, target, withQuery } from "./route";
import { Table } from "./table";
import { isVisible, Text } from "./text";

/** The actor in the place of all that the policy does not name. */
const unnamed = "any-other-actor";

export function AccessPage() {
  const { graph, query } = route.value;
  const actor = query.get("actor") ?? "";
  const groups = query.get("groups") ?? "";
  const branch = target.value.branch || "main";
  const path = pathOf(graph, "/access", { actor: actor || unnamed, branch });
  const explained = useLoad(`access ${path} ${groups}`, (signal) =>
    get<Access>(path + groupList(groups).map((g) => "&group=" + encodeURIComponent(g)).join(""), signal),
  );
  return (
    <>
      <h1>Access</h1>
      {explained.state === "failed" && explained.error.status === 403 ? (
        <Failure error={explained.error} />
      ) : (
        <>
          <form
            class="row"
            key={actor + groups}
            onSubmit={(event) => {
              event.preventDefault();
              const given = new FormData(event.currentTarget);
              go(withQuery({ actor: String(given.get("actor") ?? ""), groups: String(given.get("groups") ?? "") }));
            }}
          >
            <label>
              Actor
              <input name="actor" list="actors" required autocomplete="off" defaultValue={actor} />
            </label>
            <datalist id="actors">{explained.state === "done" && explained.value.actors.filter(isVisible).map((a) => <option key={a} value={a} />)}</datalist>
            <label>
              Groups of its token, if any
              <input name="groups" autocomplete="off" defaultValue={groups} />
            </label>
            <button type="submit">Explain</button>
          </form>
          <Show of={explained}>{(access) => (actor ? <Explained access={access} /> : <Start access={access} />)}</Show>
        </>
      )}
    </>
  );
}

/** Splits a list of names with commas or blanks between them. */
function groupList(text: string): string[] {
  return text.split(/[,\s]+/).filter((name) => name !== "");
}

// Lists the actors of the policy, and shows what every other actor may do.
function Start(props: { access: Access }) {
  const { access } = props;
  return (
    <>
      {access.actors.length === 0 ? (
        <p class="empty">The policy names no actor. Give the name of one.</p>
      ) : (
        <>
          <p>The actors that the policy names:</p>
          <ul class="cards">
            {access.actors.map((name) => (
              <li key={name}>
                <a href={withQuery({ actor: name })}>
                  <Text value={name} plain />
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      {!access.actors.includes(unnamed) && (
        <>
          <h2>
            What every other actor may do on the branch <Text value={access.branch} />
          </h2>
          <Decisions access={access} />
        </>
      )}
    </>
  );
}

function Explained(props: { access: Access }) {
  const { access } = props;
  return (
    <>
      <h2>
        What <Text value={access.actor} /> may do on the branch <Text value={access.branch} />
      </h2>
      <Decisions access={access} />
    </>
  );
}

function Decisions(props: { access: Access }) {
  const { access } = props;
  return (
    <>
      <Table
        whole
        label={`actions of ${access.actor}`}
        rows={access.decisions}
        columns={[
          { name: "Action", value: (d) => d.action },
          { name: "By", value: wayOf },
          { name: "Decision", value: (d) => verdict(d), view: (d) => <Verdict decision={d} /> },
          { name: "Why", value: why, view: (d) => <Why decision={d} /> },
        ]}
      />
      <h2>Tools</h2>
      <p>A tool is listed if the actor may use it on some branch. The last column says what happens on this branch.</p>
      <Table
        whole
        label={`tools of ${access.actor}`}
        rows={access.tools}
        columns={[
          { name: "Tool", value: (t) => t.name },
          { name: "Listed", value: (t) => (t.visible ? "yes" : "no") },
          {
            name: "A call",
            value: (t) => (t.needs.every((d) => d.allowed) ? "allowed" : "denied"),
            view: (t) => <Verdict decision={{ allowed: t.needs.every((d) => d.allowed) }} />,
          },
          {
            name: "Why",
            value: (t) => t.needs.map(reason).join("; "),
            view: (t) => (
              <ul class="reasons">
                {t.needs.map((d) => (
                  <li key={reason(d)}>
                    <Text value={reason(d)} />
                  </li>
                ))}
              </ul>
            ),
          },
        ]}
      />
    </>
  );
}

/** Describes how the actor would request the action. */
function wayOf(d: Decision): string {
  if (d.action === "load_source") {
    return d.source ? "source " + d.source : "any other source";
  }
  switch (d.via) {
    case "stored":
      return "a stored query";
    case "proposal":
      return "a proposal";
    case "adhoc":
      return d.action === "branch_merge" ? "a merge without proposal" : "own queries";
  }
  return "";
}

function verdict(decision: { allowed: boolean }): string {
  return decision.allowed ? "allowed" : "denied";
}

function Verdict(props: { decision: { allowed: boolean } }) {
  return <span class={"badge " + verdict(props.decision)}>{verdict(props.decision)}</span>;
}

function reason(d: Decision): string {
  return `${d.action}${d.via ? " via " + d.via : ""}: ${why(d)}`;
}

// Shows which rules decided. If no rule allows the action, it also shows the rules that would allow it
// if one more condition held. Rules for other actors come last, because they are the least likely to
// explain the decision.
function Why(props: { decision: Decision }) {
  const { near = [], ...decided } = props.decision;
  const byActor = (r: { missing: string }) => (r.missing.startsWith("principal") ? 1 : 0);
  return (
    <>
      <Text value={why(decided)} />
      {near.length > 0 && (
        <ul class="reasons">
          {[...near]
            .sort((a, b) => byActor(a) - byActor(b))
            .map((r) => (
              <li key={r.id}>
                <Text value={`rule ${r.id}${place(r)} would, but requires ${r.missing}`} />
              </li>
            ))}
        </ul>
      )}
    </>
  );
}

function place(r: { file?: string; line?: number }): string {
  return r.file ? ` (${r.file}:${r.line})` : "";
}

/** Says which rules decided. If no rule allows the action, it says which rules would if one more condition held. */
function why(d: Decision): string {
  if (d.reason) {
    return d.reason;
  }
  if (d.rules.length > 0) {
    return d.rules.map((r) => `rule ${r.id}${place(r)} ${r.deny ? "denies" : "allows"} it`).join("; ");
  }
  if (d.allowed) {
    return "the server allows it";
  }
  return ["no rule allows it", ...(d.near ?? []).map((r) => `rule ${r.id}${place(r)} would, but requires ${r.missing}`)].join("; ");
}
