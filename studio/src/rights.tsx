// What the user may do on a graph, which every user may ask for.

import { get, pathOf, type Access, type Decision } from "./api";
import { Failure, useLoad, type Loaded } from "./load";
import { href, target } from "./route";
import { Text } from "./text";

/** The actions in plain words, with the way of access where the policy distinguishes it. An action that is not here has its own name. */
const words: Record<string, string> = {
  "read adhoc": "read",
  "read stored": "read through stored queries",
  "change adhoc": "write",
  "change stored": "write through stored queries",
  "branch_merge adhoc": "merge branches",
  "branch_merge proposal": "merge proposals",
  branch_create: "make branches",
  branch_delete: "delete branches",
  schema_apply: "change the schema",
  export: "export",
  proposal_review: "review proposals",
  query_propose: "propose queries",
  query_publish: "publish queries",
  cluster_apply: "apply the cluster's configuration",
  protection_bypass: "bypass protection",
  policy_read: "read the policy",
  audit_read: "see all calls",
  admin: "administer",
};

// A right that another one contains.
const contained: Record<string, string> = { "read stored": "read adhoc", "change stored": "change adhoc", "branch_merge proposal": "branch_merge adhoc" };

function keyOf(d: Decision): string {
  return d.via ? d.action + " " + d.via : d.action;
}

/** Returns the rights in plain words: those that the user has, with a part of the branch or with all of it, and those that the user lacks. */
export function rightsOf(access: Access): { may: string[]; mayNot: string[] } {
  const allowed = new Set(access.decisions.filter((d) => d.allowed).map(keyOf));
  const partial = new Set(access.decisions.filter((d) => d.partial).map(keyOf));
  const named = (keys: string[]) => keys.map((k) => (words[k] ?? k.replaceAll("_", " ")) + (partial.has(k) ? " (a part)" : ""));
  const all = access.decisions.filter((d) => d.action !== "load_source").map(keyOf); // which needs another right, and is about one source
  return {
    may: named(all.filter((k) => allowed.has(k) && !allowed.has(contained[k] ?? ""))),
    mayNot: named(all.filter((k) => !allowed.has(k) && !allowed.has(Object.keys(contained).find((c) => contained[c] === k) ?? ""))),
  };
}

/** Loads what the user may do on the branch that the pages show. */
export function useRights(graph: string | null): Loaded<Access> {
  const { branch } = target.value;
  return useLoad(graph === null ? null : `rights ${graph} ${branch}`, (signal) => get<Access>(pathOf(graph ?? "", "/access", { branch: branch || "main" }), signal));
}

/** Reports whether the user has a right, or null while that is not known. */
export function may(rights: Loaded<Access>, action: string, via?: string): boolean | null {
  return rights.state === "done" ? rights.value.decisions.some((d) => d.action === action && (via === undefined || d.via === via) && d.allowed) : null;
}

function list(texts: string[]): string {
  return texts.length < 2 ? texts.join("") : texts.slice(0, -1).join(", ") + " and " + texts.at(-1);
}

/** Says in one line what the user may do. */
export function RightsLine(props: { rights: Loaded<Access> }) {
  const { rights } = props;
  if (rights.state === "failed") {
    return null; // the header shows the reason
  }
  if (rights.state === "loading") {
    return (
      <p class="rights loading" role="status">
        Loading your rights…
      </p>
    );
  }
  const { actor, branch, tools } = rights.value;
  const { may } = rightsOf(rights.value);
  return (
    <p class="rights">
      <Text value={actor} most={80} plain /> may {may.length > 0 ? list(may) : "do nothing by itself"} on <Text value={branch} most={80} plain />, with {tools.length} {tools.length === 1 ? "tool" : "tools"}.
    </p>
  );
}

/** Lists what the user may do, and what not. */
export function RightsList(props: { graph: string }) {
  const { graph } = props;
  const rights = useRights(graph);
  if (rights.state === "failed") {
    return <Failure error={rights.error} />;
  }
  if (rights.state === "loading") {
    return (
      <p class="loading" role="status">
        Loading…
      </p>
    );
  }
  const { actor, branch, tools } = rights.value;
  const { may: can, mayNot } = rightsOf(rights.value);
  return (
    <>
      <p>
        What you may do on the branch <Text value={branch} most={80} plain />:
      </p>
      {can.length === 0 && <p class="empty">Nothing, apart from the tools.</p>}
      <ul class="marks">
        {can.map((text) => (
          <li key={text} class="can">
            {text}
          </li>
        ))}
      </ul>
      {mayNot.length > 0 && (
        <details>
          <summary>What you may not do</summary>
          <ul class="marks">
            {mayNot.map((text) => (
              <li key={text} class="cannot">
                {text}
              </li>
            ))}
          </ul>
        </details>
      )}
      <p>
        <a href={href(graph, "run")}>
          {tools.length} {tools.length === 1 ? "tool" : "tools"}
        </a>
        {may(rights, "policy_read") && (
          <>
            {" · "}
            <a href={href(graph, "access", [], { branch: target.value.branch, at: "", actor })}>Which rules say so</a>
          </>
        )}
      </p>
    </>
  );
}
