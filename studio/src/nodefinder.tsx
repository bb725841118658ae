// Finds the nodes with which a scene of Explore begins.

import { useState } from "preact/hooks";
import { pathOf, post, type Row, type Rows, type Type } from "./api";
import { shortened } from "./entity";
import { useCounts } from "./facts";
import { columnName, listedProperties, searchQuery } from "./gql";
import { inTurn } from "./limit";
import { Show, useLoad } from "./load";
import { targetMembers } from "./route";
import { keyOf } from "./scene";
import { Value } from "./table";
import { Text } from "./text";

const mostFound = 8; // nodes of each type
const mostFirst = 25; // nodes of a type to begin with

interface Props {
  graph: string;
  types: Type[];
  empty: boolean; // the scene has no nodes
  onAdd: (keys: string[]) => void;
}

export function NodeFinder(props: Props) {
  const { graph, types, empty, onAdd } = props;
  const [words, setWords] = useState("");
  const [asked, setAsked] = useState("");
  const [only, setOnly] = useState("");
  const nodes = types.filter((t) => t.kind === "node");
  return (
    <>
      <form
        class="row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          setAsked(words.trim());
        }}
      >
        <label>
          Type
          <select value={only} onChange={(event) => setOnly(event.currentTarget.value)}>
            <option value="">all</option>
            {nodes.map((t) => (
              <option key={t.name} value={t.name}>
                {t.name}
              </option>
            ))}
          </select>
        </label>
        <label class="grow">
          Add a node: its id, or a part of a text
          <input type="search" name="q" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        </label>
        <button type="submit">Search</button>
        {asked && (
          <button type="button" class="quiet" onClick={() => (setAsked(""), setWords(""))}>
            Close the results
          </button>
        )}
      </form>
      {nodes.length === 0 && <p class="empty">The schema has no node types.</p>}
      {asked && (
        <div class="found lists">
          {nodes
            .filter((t) => only === "" || t.name === only)
            .map((t) => (
              <Found key={t.name} graph={graph} type={t} words={asked} onAdd={onAdd} />
            ))}
        </div>
      )}
      {empty && !asked && nodes.length > 0 && <Beginnings graph={graph} nodes={nodes} onAdd={onAdd} />}
    </>
  );
}

function Found(props: { graph: string; type: Type; words: string; onAdd: (keys: string[]) => void }) {
  const { graph, type, words, onAdd } = props;
  const members = targetMembers();
  const found = useLoad(`find ${graph} ${type.name} ${JSON.stringify(members)} ${words}`, (signal) =>
    inTurn(signal, () => post<Rows>(pathOf(graph, "/query"), { query: searchQuery(type, true, mostFound + 1), params: { exact: words, part: words.toLowerCase() }, ...members }, signal)),
  );
  const about = listedProperties(type)[0];
  return (
    <section>
      <h2>
        <Text value={type.name} />
      </h2>
      <Show of={found}>
        {({ rows }) => (
          <>
            {rows.length === 0 && <p class="empty">No node has this text.</p>}
            <ul class="plain-list">
              {rows.slice(0, mostFound).map((row: Row) => (
                <li key={String(row.id)}>
                  <button type="button" class="plain" onClick={() => onAdd([keyOf(type.name, String(row.id))])}>
                    <Text value={String(row.id)} most={120} plain />
                  </button>
                  {about && <span class="hint"><Value value={shortened(row[columnName(0)] ?? null)} most={80} /></span>}
                </li>
              ))}
            </ul>
            {rows.length > mostFound && <p class="empty">There are more than {mostFound}. Search for a longer text.</p>}
          </>
        )}
      </Show>
    </section>
  );
}

// Offers the first nodes of each type to a user who does not know what to search for.
function Beginnings(props: { graph: string; nodes: Type[]; onAdd: (keys: string[]) => void }) {
  const { graph, nodes, onAdd } = props;
  const counts = useCounts(graph);
  const [fault, setFault] = useState("");
  const count = (t: Type) => (counts.state === "done" ? counts.value.get("node " + t.name) : undefined);
  const begin = async (type: Type) => {
    try {
      const { rows } = await post<Rows>(pathOf(graph, "/query"), { query: searchQuery(type, false, mostFirst), ...targetMembers() });
      setFault(rows.length === 0 ? `There are no nodes of the type ${type.name}.` : "");
      onAdd(rows.map((row) => keyOf(type.name, String(row.id))));
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div class="blank">
      <p class="lead">Nothing is on the canvas yet.</p>
      <p>Search for a node above, open the page of an entity or an answer of a query in Explore, or begin with the first nodes of a type:</p>
      <div class="row">
        {nodes.map((t) => (
          <button key={t.name} type="button" class="quiet" disabled={count(t) === 0} onClick={() => void begin(t)}>
            <Text value={t.name} plain /> <span class="hint">{count(t)?.toLocaleString("en") ?? ""}</span>
          </button>
        ))}
      </div>
      {fault && (
        <p class="failure" role="alert">
          <Text value={fault} />
        </p>
      )}
    </div>
  );
}
