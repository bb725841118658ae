// Import: a table becomes nodes and edges. The server proposes how; the user corrects it, tries it, and imports.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, type Type } from "./api";
import { useTypes } from "./facts";
import { ImportForm } from "./importform";
import { forget, infer, progress, upload, type Proposal } from "./importmap";
import { Failure, Show } from "./load";
import { may, useRights } from "./rights";
import { href, route, target } from "./route";
import { Table } from "./table";
import { Text } from "./text";

export function ImportPage() {
  const { graph } = route.value;
  const { branch, at } = target.value;
  const types = useTypes(graph);
  const rights = useRights(graph);
  return (
    <>
      <h1>Import</h1>
      {at ? (
        <p class="failure" role="alert">
          A commit cannot be changed. Go back to the branch to import into it.
        </p>
      ) : (
        <Show of={types}>{(all) => (rights.state === "loading" ? <p class="loading">Loading…</p> : <Drop key={branch} graph={graph} types={all} mayWrite={may(rights, "change", "adhoc") !== false} />)}</Show>
      )}
    </>
  );
}

/** A file that the server has, and what it found in it. */
export interface Dropped {
  name: string;
  id: string;
  proposal: Proposal;
}

// Takes a file and sends it. An actor who may not write to the branch sends it for a draft.
function Drop(props: { graph: string; types: Type[]; mayWrite: boolean }) {
  const { graph, types, mayWrite } = props;
  const { branch } = target.value;
  const [over, setOver] = useState(false);
  const [sent, setSent] = useState<{ name: string; part: number; read?: number } | null>(null); // read counts the records that the server has read
  const [dropped, setDropped] = useState<Dropped | null>(null);
  const [fault, setFault] = useState<ApiError | null>(null);
  const running = useRef<AbortController | undefined>(undefined);
  const kept = useRef(""); // the upload that the server has, also of a part of the file
  const drop = () => {
    if (kept.current) {
      forget(graph, kept.current);
      kept.current = "";
    }
  };
  const stop = () => {
    running.current?.abort();
    drop();
  };
  useEffect(() => {
    addEventListener("pagehide", drop);
    return () => {
      removeEventListener("pagehide", drop);
      stop();
    };
  }, []);
  const take = async (file: File | undefined) => {
    if (!file) {
      return;
    }
    stop();
    const { signal } = (running.current = new AbortController());
    setDropped(null);
    setFault(null);
    setSent({ name: file.name, part: 0 });
    try {
      const opened = (id: string) => (signal.aborted ? forget(graph, id) : (kept.current = id));
      const id = await upload(graph, mayWrite ? branch : "draft", file, opened, (bytes) => setSent({ name: file.name, part: bytes / file.size }), signal);
      const watching = new AbortController();
      const ended = AbortSignal.any([signal, watching.signal]);
      void progress(graph, id, (read) => setSent({ name: file.name, part: 1, read }), ended);
      const proposal = await infer(graph, id, file.name, branch, signal).finally(() => watching.abort());
      if (signal.aborted) {
        return;
      }
      setDropped({ name: file.name, id, proposal });
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      drop();
      setFault(error instanceof ApiError ? error : new ApiError(0, String(error)));
    }
    setSent(null);
  };
  return (
    <>
      <div
        class={over ? "drop over" : "drop"}
        onDragOver={(event) => (event.preventDefault(), setOver(true))}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void take(event.dataTransfer?.files[0]);
        }}
      >
        <label for="file">Drop a file here, or choose one</label>
        <input
          id="file"
          type="file"
          accept=".csv,.tsv"
          aria-describedby="file-hint"
          onChange={(event) => {
            void take(event.currentTarget.files?.[0]);
            event.currentTarget.value = ""; // so that the same file can be chosen again when it was mended
          }}
        />
        <p id="file-hint" class="hint">
          CSV or TSV. Its first line names the columns.
        </p>
      </div>
      {sent && (
        <p class="loading" role="status">
          {sent.part < 1 ? `Sending ${Math.floor(sent.part * 100)} %…` : sent.read ? `The server has read ${sent.read.toLocaleString("en")} rows…` : "The server reads the file…"}
        </p>
      )}
      {fault && <Faults error={fault} />}
      {dropped && (
        <>
          <Found dropped={dropped} />
          <ImportForm key={dropped.id} graph={graph} dropped={dropped} types={types} mayWrite={mayWrite} onDone={drop} />
        </>
      )}
    </>
  );
}

// Shows what is in the file.
function Found(props: { dropped: Dropped }) {
  const { name, proposal } = props.dropped;
  const { key, key_evidence: evidence } = proposal;
  return (
    <section aria-labelledby="found">
      <h2 id="found">
        <Text value={name} plain />: {proposal.rows.toLocaleString("en")} rows
      </h2>
      <p>
        {key.length === 0 ? "No column identifies the rows." : <>The rows are identified by <Text value={key.join(", ")} />: <Text value={evidence ?? ""} />.</>}
      </p>
      <Table
        label={"The columns of " + name}
        rows={proposal.columns}
        columns={[
          { name: "column", value: (c) => c.name },
          { name: "type", value: (c) => c.type + (c.optional ? "?" : "") },
          { name: "values", value: (c) => c.values },
          { name: "different", value: (c) => c.distinct || null },
          { name: "such as", value: (c) => c.samples.join("\n") },
          { name: "note", value: (c) => c.note ?? "" },
        ]}
      />
    </section>
  );
}

interface LineFault {
  line: number;
  field?: string;
  message: string;
}

/** Says why a file does not fit: by its lines, if the server names them. */
export function Faults(props: { error: ApiError }) {
  const { error } = props;
  const list = Array.isArray(error.body.line_faults) ? (error.body.line_faults as unknown as LineFault[]) : [];
  if (list.length === 0) {
    return <Failure error={error} />;
  }
  return (
    <div role="alert">
      <p class="failure">
        Nothing was written. {list.length === 1 ? "One record does not fit" : `${list.length} records do not fit`}
        {error.body.more_line_faults ? ", and there are more." : "."} Correct the form, or the file, and choose it again.
      </p>
      <Table
        label="Faults of the file"
        rows={list}
        columns={[
          { name: "line", value: (f) => f.line },
          { name: "column", value: (f) => f.field ?? "" },
          { name: "fault", value: (f) => f.message },
        ]}
      />
    </div>
  );
}

/** Links to a type of the schema, for a graph that lacks the type of the file. */
export function MissingType(props: { graph: string; source: string }) {
  return (
    <details class="note">
      <summary>No type of this graph fits the file. This one would:</summary>
      <pre>
        <Text value={props.source} />
      </pre>
      <a href={href(props.graph, "schema")}>The types of this graph</a>
    </details>
  );
}
