// The form that adds a node, or changes the properties of one. It writes only what was tried before, without writing.

import { useState } from "preact/hooks";
import { ApiError, pathOf, post, type Mutated, type ParamSchema, type Property, type Row, type Rows, type Type } from "./api";
import { Field, paramsOf } from "./field";
import { nodeQuery } from "./gql";
import { kindOf } from "./grid";
import { writeJson, type Json } from "./json";
import { Failure, Show, useLoad } from "./load";
import { proposeHref } from "./propose";
import { href, target } from "./route";
import { Text } from "./text";

const whole = ["I32", "I64", "U32", "U64"];

/** Reports whether the form has a field for a property. Bytes and vectors are loaded, not typed. */
function isTyped(p: Property): boolean {
  return p.kind !== "Blob" && p.kind !== "Vector";
}

function schemaOf(p: Property): ParamSchema {
  const one: ParamSchema = whole.includes(p.kind)
    ? { type: "integer" }
    : p.kind.startsWith("F")
      ? { type: "number" }
      : p.kind === "Bool"
        ? { type: "boolean" }
        : p.kind === "Date"
          ? { type: "string", format: "date" }
          : p.kind === "DateTime"
            ? { type: "string", format: "date-time" }
            : { type: "string", enum: p.enum };
  return { ...(p.list ? { type: "array", items: one } : one), description: p.description };
}

/** Returns the text of a field for a value, or null for no value. */
function textOf(value: Json | undefined): string | null {
  if (value === null || value === undefined) {
    return null;
  }
  const text = (item: Json) => (typeof item === "string" ? item : writeJson(item));
  return Array.isArray(value) ? value.map(text).join("\n") : text(value);
}

/** Returns the type of the parameter for a property: optional if the property is, so that null clears it. */
function typeOf(p: Property): string {
  const kind = kindOf(p);
  return (p.list ? `[${kind}]` : kind) + (p.type.endsWith("?") ? "?" : "");
}

/** Returns the mutation that sets properties of a node, or inserts one if there is no id. */
function mutation(type: Type, properties: Property[], id: string | null, values: Record<string, Json>) {
  const set = properties.map((p, i) => `${p.name}: $v${i}`).join(", ");
  const declared = [...(id === null ? [] : ["$id: String"]), ...properties.map((p, i) => `$v${i}: ${typeOf(p)}`)].join(", ");
  const statement = id === null ? `insert new ${type.name} { ${set} }` : `update ${type.name} set { ${set} } where id = $id`;
  return {
    query: `query write(${declared}) { ${statement} }`,
    params: { ...(id === null ? {} : { id }), ...Object.fromEntries(properties.map((p, i) => ["v" + i, values[p.name] ?? null])) },
  };
}

/** Shows the form of a node, which it loads first, or of a new one if there is no id. */
export function RowForm(props: { graph: string; type: Type; id: string | null; onClose: () => void; onWritten: () => void }) {
  const { graph, type, id, onClose } = props;
  const { branch } = target.value;
  const node = useLoad(`edit ${branch} ${type.name} ${id}`, async (signal): Promise<Row> => {
    if (id === null) {
      return {};
    }
    const { rows } = await post<Rows>(pathOf(graph, "/query"), { query: nodeQuery(type), params: { id }, ...(branch ? { branch } : {}) }, signal);
    return (rows[0]?.n ?? {}) as Row;
  });
  return (
    <section class="panel" aria-label="Edit">
      <h2>{id === null ? <>New {type.name}</> : <>Change <Text value={id} most={120} plain /></>}</h2>
      <Show of={node}>{(before) => <Form {...props} before={before} />}</Show>
      <button type="button" class="quiet" onClick={onClose}>
        Close
      </button>
    </section>
  );
}

function Form(props: { graph: string; type: Type; id: string | null; before: Row; onWritten: () => void }) {
  const { graph, type, id, before, onWritten } = props;
  const { branch } = target.value;
  // A key says which node it is, so only a new node has fields for it.
  const properties = type.properties.filter((p) => isTyped(p) && (id === null || !type.key?.includes(p.name)));
  const [texts, setTexts] = useState<Record<string, string | null>>(() => Object.fromEntries(properties.map((p) => [p.name, textOf(before[p.name])])));
  const [tried, setTried] = useState<Mutated | null>(null);
  const [done, setDone] = useState<Mutated | null>(null);
  const [fault, setFault] = useState<ApiError | null>(null);
  const [shown, setShown] = useState(false);
  const [busy, setBusy] = useState(false);
  const fields = {
    properties: Object.fromEntries(properties.map((p) => [p.name, schemaOf(p)])),
    required: properties.filter((p) => !p.type.endsWith("?")).map((p) => p.name),
  };
  const { params, faults } = paramsOf(fields, texts);
  const changed = properties.filter((p) => (texts[p.name] ?? null) !== textOf(before[p.name]));
  const send = async (into: string, dry: boolean) => {
    setShown(true);
    if (busy || changed.length === 0 || Object.keys(faults).length > 0) {
      return;
    }
    setBusy(true);
    setFault(null);
    try {
      const body = { ...mutation(type, changed, id, params), ...(into ? { branch: into } : {}), ...(dry ? { dry_run: true } : {}) };
      const answer = await post<Mutated>(pathOf(graph, "/mutate"), body, undefined, dry ? {} : { "Idempotency-Key": crypto.randomUUID() });
      (dry ? setTried : setDone)(answer);
      if (!dry) {
        onWritten();
      }
    } catch (error) {
      setFault(error instanceof ApiError ? error : new ApiError(0, String(error)));
    }
    setBusy(false);
  };
  if (done) {
    return (
      <p class="note" role="status">
        The change is on the branch <Text value={done.branch} />.{" "}
        {done.commit && <a href={href(graph, "history", [done.commit.graph_commit_id])}>See what it changed</a>}
        {done.branch !== "main" && (
          <>
            {" · "}
            <a href={proposeHref(graph, done.branch, "main")}>Propose it for main</a>
          </>
        )}
      </p>
    );
  }
  return (
    <form
      noValidate
      aria-label="Properties"
      onSubmit={(event) => {
        event.preventDefault();
        void send(branch, true);
      }}
    >
      <div class="fields">
        {properties.map((p) => (
          <Field
            key={p.name}
            name={p.name}
            schema={fields.properties[p.name] ?? {}}
            required={fields.required.includes(p.name)}
            text={texts[p.name] ?? null}
            fault={shown ? faults[p.name] : undefined}
            onText={(text) => {
              setTried(null);
              setTexts({ ...texts, [p.name]: text ?? null });
            }}
          />
        ))}
      </div>
      {shown && changed.length === 0 && <p class="fault">Nothing differs from what is stored.</p>}
      {fault && <Failure error={fault} />}
      {tried && (
        <p class="note" role="status">
          Nothing was written. This would change {tried.affected_nodes} nodes: {changed.map((p) => p.name).join(", ")}.
        </p>
      )}
      <div class="row">
        <button type="submit" disabled={busy}>
          Try without writing
        </button>
        {tried && (
          <button type="button" disabled={busy} onClick={() => void send(branch, false)}>
            Write to <Text value={branch || "main"} plain />
          </button>
        )}
        {(tried ?? fault) && (
          <button type="button" class="quiet" disabled={busy} onClick={() => void send("draft", false)}>
            Write to my draft
          </button>
        )}
      </div>
    </form>
  );
}
