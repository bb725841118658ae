// Query: write queries, run them, look at the answer.

import { useEffect, useRef, useState } from "preact/hooks";
import { actorOf, ApiError, get, pathOf, post, type AssistAnswer, type AssistQuery, type Commit } from "./api";
import { newTab, titleOf, useDesk, withRun, type Desk, type Tab } from "./desk";
import type { EditorOptions } from "./editor";
import { Failure, Show, useLoad } from "./load";
import { ProposeQuery } from "./proposequery";
import { may, useRights } from "./rights";
import { Runner } from "./runner";
import { go, route, target, targetMembers, withQuery } from "./route";
import { token } from "./session";
import { save } from "./table";
import { Moment, Text, visible } from "./text";

export function QueryPage() {
  const { graph } = route.value;
  const actor = useLoad("actor", (signal) => actorOf(token.value, signal));
  return (
    <Show of={actor} heading="Query">
      {(name) => <Page key={name} graph={graph} actor={name} />}
    </Show>
  );
}

function Page(props: { graph: string; actor: string }) {
  const { graph, actor } = props;
  const [desk, change] = useDesk(actor, graph);
  const tab = desk.tabs.find((t) => t.id === desk.open) ?? desk.tabs[0];
  if (!tab) {
    return null;
  }
  const open = (text: string) => {
    const added = newTab(text);
    change((d) => ({ tabs: [...d.tabs.filter((t) => t.text.trim() !== ""), added], open: added.id }));
  };
  return (
    <>
      <h1>Query</h1>
      <Tabs desk={desk} tab={tab} onOpen={(id) => change(() => ({ open: id }))} onNew={() => open("")} onClose={(id) => change((d) => without(d, id))} />
      <Workplace
        key={tab.id}
        graph={graph}
        tab={tab}
        onText={(text) => change((d) => ({ tabs: d.tabs.map((t) => (t.id === tab.id ? { ...t, text } : t)) }))}
        onRun={(text) => change((d) => withRun(d, text))}
        onKeep={(text) => change((d) => ({ favourites: [{ name: titleOf(text), text }, ...d.favourites.filter((f) => f.text !== text)] }))}
      />
      <Kept desk={desk} onOpen={open} onForget={(text) => change((d) => ({ favourites: d.favourites.filter((f) => f.text !== text) }))} />
    </>
  );
}

// Closes a tab. One always stays open.
function without(desk: Desk, id: string): Partial<Desk> {
  const left = desk.tabs.filter((t) => t.id !== id);
  const tabs = left.length > 0 ? left : [newTab()];
  return { tabs, open: tabs.some((t) => t.id === desk.open) ? desk.open : (tabs.at(-1)?.id ?? "") };
}

function Tabs(props: { desk: Desk; tab: Tab; onOpen: (id: string) => void; onNew: () => void; onClose: (id: string) => void }) {
  const { desk, tab, onOpen, onNew, onClose } = props;
  return (
    <div class="desk" role="group" aria-label="Open queries">
      {desk.tabs.map((t) => (
        <span key={t.id} class={t === tab ? "tab open" : "tab"}>
          <button type="button" class="plain" aria-pressed={t === tab} onClick={() => onOpen(t.id)}>
            <Text value={titleOf(t.text)} most={40} plain />
          </button>
          {(desk.tabs.length > 1 || t.text !== "") && (
            <button type="button" class="plain" aria-label={"Close " + titleOf(t.text)} onClick={() => onClose(t.id)}>
              ×
            </button>
          )}
        </span>
      ))}
      <button type="button" class="quiet" onClick={onNew}>
        New query
      </button>
    </div>
  );
}

interface WorkplaceProps {
  graph: string;
  tab: Tab;
  onText: (text: string) => void;
  onRun: (text: string) => void;
  onKeep: (text: string) => void;
}

function Workplace(props: WorkplaceProps) {
  const { graph, tab, onText, onRun, onKeep } = props;
  const [queries, setQueries] = useState<AssistQuery[] | null>(null); // null until the text is checked
  const [faulty, setFaulty] = useState(false);
  const [refusal, setRefusal] = useState<ApiError | null>(null);
  const [runs, setRuns] = useState(0); // counts the runs that the keyboard asks for
  const [proposing, setProposing] = useState(false);
  const mayPropose = may(useRights(graph), "query_propose");
  const read = !faulty && queries?.length === 1 && !queries[0]?.mutation ? queries[0] : undefined;
  const proposed = proposing ? read : undefined;
  return (
    <>
      <Editor
        key={tab.id + JSON.stringify(targetMembers())}
        text={tab.text}
        label="The query in GQ. Control and Enter run it; Tab takes a completion or leaves the editor."
        assist={async (ask, text, position) => {
          try {
            const answer = await post<AssistAnswer>(pathOf(graph, "/assist"), { text, ask, ...(ask === "diagnostics" ? {} : { position }), ...targetMembers() });
            setRefusal(null);
            return answer;
          } catch (error) {
            setRefusal(error instanceof ApiError ? error : new ApiError(0, String(error)));
            return {};
          }
        }}
        onText={(text) => {
          setQueries(null);
          onText(text);
        }}
        onChecked={(found, bad) => {
          setQueries(found);
          setFaulty(bad);
        }}
        onRun={() => setRuns((n) => n + 1)}
      />
      {refusal && <Failure error={refusal} />}
      {proposed && <ProposeQuery key={proposed.name} graph={graph} text={tab.text} query={proposed} onClose={() => setProposing(false)} />}
      <Runner graph={graph} text={tab.text} queries={refusal ? null : queries} checked={!refusal} faulty={faulty} asked={runs} onRun={() => onRun(tab.text)}>
        <AsOf graph={graph} />
        <button type="button" class="quiet" disabled={tab.text.trim() === ""} onClick={() => save(titleOf(tab.text) + ".gq", new Blob([tab.text], { type: "text/plain;charset=utf-8" }))}>
          Save as .gq
        </button>
        <button type="button" class="quiet" disabled={tab.text.trim() === ""} onClick={() => onKeep(tab.text)}>
          Add to favourites
        </button>
        {mayPropose && (
          <button type="button" class="quiet" disabled={!read || proposing} title={read ? "" : "Only a read without errors can become a tool."} onClick={() => setProposing(true)}>
            Propose as a tool
          </button>
        )}
      </Runner>
    </>
  );
}

// Loads the editor and shows it. Later texts come from the editor itself, so the properties count only at the start.
function Editor(props: EditorOptions) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const [fault, setFault] = useState("");
  const [ready, setReady] = useState(false);
  useEffect(() => {
    let close: (() => void) | null = null;
    let gone = false;
    import("./editor").then(
      ({ openEditor }) => {
        if (host.current && !gone) {
          close = openEditor(host.current, {
            ...props,
            assist: (...call) => latest.current.assist(...call),
            onText: (text) => latest.current.onText(text),
            onChecked: (...found) => latest.current.onChecked(...found),
            onRun: () => latest.current.onRun(),
          }).close;
          setReady(true);
        }
      },
      () => setFault("The editor could not be loaded. Load the page again: the server may have a new version."),
    );
    return () => {
      gone = true;
      close?.();
    };
  }, []);
  return (
    <>
      {fault && (
        <p class="failure" role="alert">
          {fault}
        </p>
      )}
      {!ready && !fault && (
        <p class="loading" role="status">
          Loading the editor…
        </p>
      )}
      <div ref={host} class="editor" />
    </>
  );
}

// Lets the user choose the state that queries read: the head of the branch, or one of its last commits.
function AsOf(props: { graph: string }) {
  const { branch, at } = target.value;
  const commits = useLoad(`last commits ${props.graph} ${branch}`, (signal) =>
    get<{ commits: Commit[] }>(pathOf(props.graph, "/commits", { branch, limit: 30 }), signal),
  );
  const known = commits.state === "done" ? commits.value.commits : [];
  return (
    <label class="target">
      As of
      <select value={at} onChange={(event) => go(withQuery({ at: event.currentTarget.value }))}>
        <option value="">now</option>
        {at && !known.some((c) => c.graph_commit_id === at) && <option value={at}>{visible(at, 20)}</option>}
        {known.map((c) => (
          <option key={c.graph_commit_id} value={c.graph_commit_id}>
            {new Date(c.created_at / 1000).toISOString().slice(0, 19).replace("T", " ")} by {visible(c.actor_id ?? "an unknown actor", 40)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Kept(props: { desk: Desk; onOpen: (text: string) => void; onForget: (text: string) => void }) {
  const { desk, onOpen, onForget } = props;
  if (desk.favourites.length + desk.history.length === 0) {
    return null;
  }
  return (
    <div class="lists kept">
      {desk.favourites.length > 0 && (
        <section>
          <h2>Favourites</h2>
          <ul class="plain-list">
            {desk.favourites.map((f) => (
              <li key={f.text}>
                <button type="button" class="plain" title={visible(f.text)} onClick={() => onOpen(f.text)}>
                  <Text value={f.name} most={60} plain />
                </button>
                <button type="button" class="plain" aria-label={"Remove " + f.name} onClick={() => onForget(f.text)}>
                  ×
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {desk.history.length > 0 && (
        <section>
          <h2>Last runs</h2>
          <ul class="plain-list">
            {desk.history.slice(0, 20).map((run) => (
              <li key={run.text}>
                <button type="button" class="plain" title={visible(run.text)} onClick={() => onOpen(run.text)}>
                  <Text value={titleOf(run.text)} most={60} plain />
                </button>
                <span class="hint">
                  <Moment micros={run.at * 1000} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
