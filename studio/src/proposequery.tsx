// Proposed queries: the form that proposes a query as a tool, and what the page of its proposal shows.

import { useState } from "preact/hooks";
import { ApiError, pathOf, post, type AssistQuery } from "./api";
import { writeJson } from "./json";
import { Failure } from "./load";
import type { Proposal, ProposedQuery } from "./proposal";
import { go, href } from "./route";
import { columnsOf, Table } from "./table";
import { Text } from "./text";
import { useUnsent } from "./unsent";

/** The greatest number of questions of a tool. */
const mostQuestions = 20;

/** The form that proposes the query of a text as a tool. */
export function ProposeQuery(props: { graph: string; text: string; query: AssistQuery; onClose: () => void }) {
  const { graph, text, query, onClose } = props;
  const [description, setDescription] = useUnsent(`${graph} tool description ${query.name}`);
  const [questions, setQuestions] = useUnsent(`${graph} tool questions ${query.name}`);
  const [why, setWhy] = useUnsent(`${graph} tool why ${query.name}`);
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const asked = questions.split("\n").map((q) => q.trim()).filter((q) => q !== "");
  const faults = {
    description: description.trim() === "" ? "Say what the tool answers, and when to use it." : "",
    questions: asked.length > mostQuestions ? `Keep at most ${mostQuestions} questions: those that differ most.` : "",
    why: why.trim() === "" ? "Tell the reviewer why the query should be kept." : "",
  };
  const submit = async () => {
    setTried(true);
    if (busy || Object.values(faults).some((f) => f !== "")) {
      return;
    }
    setBusy(true);
    setError(null);
    try {
      const made = await post<Proposal>(pathOf(graph, "/proposed-queries"), { name: query.name, query: text, description: description.trim(), questions: asked, why: why.trim() });
      setDescription("");
      setQuestions("");
      setWhy("");
      go(href(graph, "review", [made.id]));
    } catch (thrown) {
      setError(thrown instanceof ApiError ? thrown : new ApiError(0, String(thrown)));
      setBusy(false);
    }
  };
  return (
    <form
      class="panel"
      noValidate
      aria-label="Propose as a tool"
      aria-busy={busy}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h2>
        Propose <Text value={query.name} most={80} plain /> as a tool
      </h2>
      <p class="hint">Agents see the tool once another actor has looked at the proposal and merged it. The tool has the name of the query: to give it another one, change the text.</p>
      <Lines id="tool-description" label="What it answers, and when to use it" rows={2} value={description} fault={tried ? faults.description : ""} onInput={setDescription} />
      <Lines id="tool-questions" label="Questions that it answers, one on each line" rows={3} value={questions} fault={tried ? faults.questions : ""} hint="The search for tools uses them. They may be left out." onInput={setQuestions} />
      <Lines id="tool-why" label="Why it should be kept" rows={2} value={why} fault={tried ? faults.why : ""} hint="For the reviewer." onInput={setWhy} />
      {error && <Failure error={error} />}
      <p class="row">
        <button type="submit" disabled={busy}>
          Propose the tool
        </button>
        <button type="button" class="quiet" onClick={onClose}>
          Cancel
        </button>
      </p>
    </form>
  );
}

function Lines(props: { id: string; label: string; rows: number; value: string; fault: string; hint?: string; onInput: (text: string) => void }) {
  const { id, label, rows, value, fault, hint, onInput } = props;
  const about = [fault && id + "-fault", hint && id + "-hint"].filter((s) => s).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea id={id} rows={rows} value={value} aria-invalid={fault !== ""} {...(about ? { "aria-describedby": about } : {})} onInput={(event) => onInput(event.currentTarget.value)} />
      {fault && (
        <p id={id + "-fault"} class="fault" role="alert">
          {fault}
        </p>
      )}
      {hint && (
        <p id={id + "-hint"} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** Shows the query of a proposal: its text, what it costs and answers, and what it changes for others. */
export function QueryOfProposal(props: { graph: string; query: ProposedQuery; open: boolean }) {
  const { graph, query: q, open } = props;
  return (
    <>
      <section>
        <h2>Query</h2>
        <pre tabIndex={0} aria-label="Text of the query">
          <Text value={q.text} />
        </pre>
      </section>
      <section>
        <h2>Example answer</h2>
        <Example query={q} />
      </section>
      <section>
        <h2>Cost</h2>
        {q.plan === "" ? (
          <p class="empty">There is no plan, because the query does not fit the schema.</p>
        ) : (
          <>
            <p>The operators of its plan are expected to yield {Math.round(q.cost).toLocaleString("en")} rows in total.</p>
            <details>
              <summary>Plan</summary>
              <pre tabIndex={0} aria-label="Plan">
                <Text value={q.plan} />
              </pre>
            </details>
          </>
        )}
      </section>
      <section>
        <h2>What to look at</h2>
        <Findings title="The linter says" list={q.findings} none="The linter finds nothing." />
        {open && <Findings title="Callers of the tools would see" list={q.changes} none="Nothing changes for callers of the other tools." />}
        {q.resembles.length === 0 ? (
          <p class="empty">No stored query that you may run resembles it.</p>
        ) : (
          <p>
            It resembles{" "}
            {q.resembles.map((name, i) => (
              <>
                {i > 0 && ", "}
                <a key={name} href={href(graph, "run", [name])}>
                  <Text value={name} most={80} plain />
                </a>
              </>
            ))}
            . Is one of them enough?
          </p>
        )}
      </section>
    </>
  );
}

function Example(props: { query: ProposedQuery }) {
  const { name, example } = props.query;
  if (!example) {
    return <p class="empty">There is none, because the query does not fit the schema.</p>;
  }
  return (
    <>
      <p>
        {Object.keys(example.params).length > 0 ? (
          <>
            With the arguments <code><Text value={writeJson(example.params)} most={400} /></code>, on main, with your rights:
          </>
        ) : (
          "On main, with your rights:"
        )}
      </p>
      {example.error ? (
        <p class="note">
          <Text value={example.error} />
        </p>
      ) : (
        <Table label={name + " example"} rows={example.rows} columns={columnsOf(example.rows)} empty="The answer has no rows." />
      )}
      {example.more_rows && <p class="empty">The answer has more rows.</p>}
    </>
  );
}

function Findings(props: { title: string; list: string[]; none: string }) {
  const { title, list, none } = props;
  if (list.length === 0) {
    return <p class="empty">{none}</p>;
  }
  return (
    <>
      <p>{title}:</p>
      <ul class="reasons">
        {list.map((text, i) => (
          <li key={i}>
            <Text value={text} />
          </li>
        ))}
      </ul>
    </>
  );
}
