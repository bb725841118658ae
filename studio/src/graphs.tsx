// The list of graphs.

import { useState } from "preact/hooks";
import { get } from "./api";
import { Failure, useLoad } from "./load";
import { go, href } from "./route";
import { Text } from "./text";

export function GraphsPage() {
  const [name, setName] = useState("");
  const list = useLoad("graphs", (signal) => get<{ graphs: { graph_id: string }[] }>("/graphs", signal));
  return (
    <>
      <h1>Graphs</h1>
      {list.state === "loading" && <p role="status">Loading…</p>}
      {list.state === "done" && (
        <ul class="cards">
          {list.value.graphs.map((g) => (
            <li key={g.graph_id}>
              <a href={href(g.graph_id, "", [], { branch: "", at: "" })}>
                <Text value={g.graph_id} plain />
              </a>
            </li>
          ))}
        </ul>
      )}
      {list.state === "failed" && (
        <>
          {list.error.status === 403 ? <p>You may not list the graphs of this server. Open one by its name.</p> : <Failure error={list.error} />}
          <form
            class="row"
            onSubmit={(event) => {
              event.preventDefault();
              go(href(name.trim(), "", [], { branch: "", at: "" }));
            }}
          >
            <label>
              Graph
              <input required value={name} onInput={(event) => setName(event.currentTarget.value)} />
            </label>
            <button type="submit">Open</button>
          </form>
        </>
      )}
    </>
  );
}
