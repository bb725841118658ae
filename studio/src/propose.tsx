// The form that opens a proposal, and the form that changes its title and description.

import { useEffect, useState } from "preact/hooks";
import { ApiError, get, pathOf, post } from "./api";
import { Failure, useLoad } from "./load";
import type { Proposal, Send } from "./proposal";
import { go, href, route, target } from "./route";
import { isVisible } from "./text";
import { useUnsent } from "./unsent";

/** The last part of the address of the form, in the place of a proposal's id. No id has this form. */
export const newProposal = "new";

/** The greatest number of characters of a title. */
const longestTitle = 200;

/** Returns the address of the form that opens a proposal from one branch into another. */
export function proposeHref(graph: string, source: string, into: string): string {
  return href(graph, "review", [newProposal], { branch: target.value.branch, at: "", source, into });
}

// Says what is wrong with a title, or "".
function titleFault(title: string): string {
  if (title.trim() === "") {
    return "Say in one line what the changes do.";
  }
  return [...title.trim()].length > longestTitle ? `Write at most ${longestTitle} characters. Put the rest into the description.` : "";
}

/** The page that opens a proposal. The query string of its address may name the two branches. */
export function OpenProposal(props: { graph: string }) {
  const { graph } = props;
  const { query } = route.value;
  const [title, setTitle] = useUnsent(`${graph} new title`);
  const [description, setDescription] = useUnsent(`${graph} new description`);
  const [source, setSource] = useState(query.get("source") ?? (target.value.branch === "main" ? "" : target.value.branch));
  const [into, setInto] = useState(query.get("into") ?? "main");
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const branches = useLoad("branches " + graph, (signal) => get<{ branches: string[] }>(pathOf(graph, "/branches", { limit: 200 }), signal));
  const names = branches.state === "done" ? branches.value.branches : [];
  const faults = {
    source: source.trim() === "" ? "Name the branch with the changes." : source.trim() === into.trim() ? "Name another branch than the target." : "",
    into: into.trim() === "" ? "Name the branch that gets the changes." : "",
    title: titleFault(title),
  };
  const shown = (fault: string) => (tried ? fault : "");
  const submit = async () => {
    setTried(true);
    if (busy || faults.source || faults.into || faults.title) {
      return;
    }
    setBusy(true);
    setError(null);
    try {
      const made = await post<Proposal>(pathOf(graph, "/proposals"), { source: source.trim(), target: into.trim(), title: title.trim(), description: description.trim() });
      setTitle("");
      setDescription("");
      go(href(graph, "review", [made.id]), true);
    } catch (thrown) {
      setError(thrown instanceof ApiError ? thrown : new ApiError(0, String(thrown)));
      setBusy(false);
    }
  };
  return (
    <>
      <p class="crumbs">
        <a href={href(graph, "review")}>Proposals</a>
      </p>
      <h1>Open a proposal</h1>
      <p class="lead">A proposal asks somebody to look at the changes of a branch and to merge them. Later commits on the branch belong to it.</p>
      <form
        noValidate
        aria-label="New proposal"
        aria-busy={busy}
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Line id="source" label="Branch with the changes" value={source} fault={shown(faults.source)} list="branches" onInput={setSource} />
        <Line id="into" label="Branch that gets them" value={into} fault={shown(faults.into)} list="branches" onInput={setInto} />
        <datalist id="branches">
          {names.filter(isVisible).map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Line id="title" label="Title" value={title} fault={shown(faults.title)} hint="One line that says what the changes do." onInput={setTitle} />
        <Description value={description} onInput={setDescription} />
        {error && <Failure error={error} />}
        <button type="submit" disabled={busy}>
          Open the proposal
        </button>
      </form>
    </>
  );
}

/** The form that changes the title and the description of an open proposal. */
export function EditProposal(props: { proposal: Proposal; send: Send; busy: boolean }) {
  const { proposal: p, send, busy } = props;
  const [open, setOpen] = useState(false);
  const [tried, setTried] = useState(false);
  const [title, setTitle] = useState(p.title);
  const [description, setDescription] = useState(p.description);
  // Another actor may have changed the texts, so the form begins with the newest ones.
  useEffect(() => {
    if (!open) {
      setTitle(p.title);
      setDescription(p.description);
    }
  }, [open, p.revision]);
  const fault = titleFault(title);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Change the title and the description</summary>
      <form
        noValidate
        aria-label="Title and description"
        onSubmit={async (event) => {
          event.preventDefault();
          setTried(true);
          if (!fault && !busy && (await send("", { title: title.trim(), description: description.trim() }, "The title and the description are stored."))) {
            setTried(false);
            setOpen(false);
          }
        }}
      >
        <Line id="title" label="Title" value={title} fault={tried ? fault : ""} onInput={setTitle} />
        <Description value={description} onInput={setDescription} />
        <button type="submit" disabled={busy || (title === p.title && description === p.description)}>
          Store the texts
        </button>
      </form>
    </details>
  );
}

// A field for one line of text.
function Line(props: { id: string; label: string; value: string; fault: string; hint?: string; list?: string; onInput: (text: string) => void }) {
  const { id, label, value, fault, hint, list, onInput } = props;
  const about = [fault && id + "-fault", hint && id + "-hint"].filter((s) => s).join(" ");
  const shared = {
    id,
    value,
    autocomplete: "off" as const,
    "aria-invalid": fault !== "",
    ...(about ? { "aria-describedby": about } : {}),
    onInput: (event: { currentTarget: HTMLInputElement }) => onInput(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {list ? <input type="text" list={list} {...shared} /> : <input type="text" {...shared} />}
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

function Description(props: { value: string; onInput: (text: string) => void }) {
  return (
    <div class="field">
      <label for="description">Description</label>
      <textarea id="description" rows={4} value={props.value} aria-describedby="description-hint" onInput={(event) => props.onInput(event.currentTarget.value)} />
      <p id="description-hint" class="hint">
        Why the changes are good, for the reviewer.
      </p>
    </div>
  );
}
