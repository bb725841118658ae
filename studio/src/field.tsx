// A field of a form, made from the JSON Schema of a parameter. This file also converts the text in a
// field to the value of the parameter.

import type { ParamSchema } from "./api";
import { parseJson, writeJson, type Json } from "./json";
import { Text, visible } from "./text";

type Fields = { properties: Record<string, ParamSchema>; required: string[] } | undefined;

/**
 * Converts the texts of a form to parameters, and returns the faults of the fields that are not valid.
 * If a text is null, the parameter is left out, so that the query uses its default.
 */
export function paramsOf(fields: Fields, texts: Record<string, string | null>) {
  const params: Record<string, Json> = {};
  const faults: Record<string, string> = {};
  for (const [name, schema] of Object.entries(fields?.properties ?? {})) {
    const text = texts[name] ?? null;
    if (text === null || (text === "" && kindOf(schema) !== "string")) {
      if (fields?.required.includes(name)) {
        faults[name] = "Give a value.";
      }
      continue;
    }
    try {
      params[name] = valueOf(schema, text);
    } catch (error) {
      faults[name] = (error as Error).message;
    }
  }
  return { params, faults };
}

/** Returns the type of the schema without null. */
function kindOf(schema: ParamSchema): string {
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  for (const kind of ["array", "boolean", "integer", "number", "object"]) {
    if (types.includes(kind)) {
      return kind;
    }
  }
  return "string";
}

function valueOf(schema: ParamSchema, text: string): Json {
  switch (kindOf(schema)) {
    case "array":
      return text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => valueOf(schema.items ?? {}, line));
    case "boolean":
      return text === "true";
    case "integer": {
      if (!/^-?\d+$/.test(text.trim())) {
        throw new Error("Give a whole number.");
      }
      const n = BigInt(text.trim());
      if ((schema.minimum !== undefined && n < schema.minimum) || (schema.maximum !== undefined && n > schema.maximum)) {
        throw new Error(`Give a number ${rangeOf(schema)}.`);
      }
      return Number.isSafeInteger(Number(n)) ? Number(n) : n;
    }
    case "number": {
      const n = Number(text);
      if (text.trim() === "" || !Number.isFinite(n)) {
        throw new Error("Give a number.");
      }
      if ((schema.minimum !== undefined && n < schema.minimum) || (schema.maximum !== undefined && n > schema.maximum)) {
        throw new Error(`Give a number ${rangeOf(schema)}.`);
      }
      return n;
    }
    case "object":
      return objectOf(schema, text);
  }
  if (schema.format === "date-time" && Number.isNaN(Date.parse(text))) {
    throw new Error("Give a moment, such as 2026-05-01T12:30:00Z.");
  }
  if (schema.enum && !schema.enum.includes(text)) {
    throw new Error("Choose one of the values.");
  }
  return text;
}

/** Reads an object from JSON. Its members are checked by the server. */
function objectOf(schema: ParamSchema, text: string): Json {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`Give a JSON object, such as ${exampleOf(schema)}.`);
  }
  return value as Json;
}

/** Returns an object of the schema as JSON. */
function exampleOf(schema: ParamSchema): string {
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => [name, member.enum?.[0] ?? sampleOf(member)]);
  return writeJson(Object.fromEntries(members));
}

function sampleOf(schema: ParamSchema): Json {
  switch (kindOf(schema)) {
    case "array":
      return [];
    case "boolean":
      return true;
    case "integer":
    case "number":
      return 1;
  }
  return isDate(schema) ? "2026-05-01" : schema.format === "date-time" ? "2026-05-01T12:30:00Z" : "text";
}

function rangeOf(schema: ParamSchema): string {
  const { minimum, maximum } = schema;
  if (minimum !== undefined && maximum !== undefined) {
    return `from ${minimum} to ${maximum}`;
  }
  return minimum !== undefined ? `of at least ${minimum}` : `of at most ${maximum}`;
}

/** Shows the field of a parameter. A null text means that the parameter is left out. */
export function Field(props: {
  name: string;
  schema: ParamSchema;
  required: boolean;
  text: string | null;
  fault: string | undefined;
  onText: (text: string | undefined) => void;
}) {
  const { name, schema, required, text, fault, onText } = props;
  const id = "field-" + name;
  const hint = hintOf(schema);
  const shared = {
    id,
    required,
    "aria-invalid": fault !== undefined,
    "aria-describedby": [fault && id + "-fault", schema.description && id + "-description", hint && id + "-hint"].filter(Boolean).join(" ") || undefined,
  };
  return (
    <div class="field">
      <label for={id}>
        {name}
        {!required && <span class="optional"> (optional)</span>}
      </label>
      <Input schema={schema} required={required} text={text} shared={shared} onText={onText} />
      {fault !== undefined && (
        <p id={id + "-fault"} class="fault">
          <Text value={fault} plain />
        </p>
      )}
      {schema.description && (
        <p id={id + "-description"} class="hint">
          <Text value={schema.description} />
        </p>
      )}
      {hint && (
        <p id={id + "-hint"} class="hint">
          <Text value={hint} plain />
        </p>
      )}
    </div>
  );
}

function Input(props: {
  schema: ParamSchema;
  required: boolean;
  text: string | null;
  shared: Record<string, string | boolean | undefined>;
  onText: (text: string | undefined) => void;
}) {
  const { schema, required, text, shared, onText } = props;
  const kind = kindOf(schema);
  const choices = schema.enum ? schema.enum.filter((v) => v !== null).map(String) : kind === "boolean" ? ["true", "false"] : null;
  if (choices) {
    return (
      <select {...shared} value={text ?? ""} onChange={(event) => onText(event.currentTarget.value || undefined)}>
        <option value="">{required ? "Choose…" : "(left out)"}</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {visible(choice)}
          </option>
        ))}
      </select>
    );
  }
  const onInput = (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => onText(event.currentTarget.value || undefined);
  if (kind === "array") {
    return <textarea {...shared} rows={3} value={text ?? ""} onInput={onInput} />;
  }
  if (isDate(schema)) {
    return <input {...shared} type="date" value={text ?? ""} onInput={onInput} />;
  }
  const numeric = kind === "integer" ? "numeric" : kind === "number" ? "decimal" : undefined;
  return <input {...shared} type="text" inputMode={numeric} autocomplete="off" value={text ?? ""} onInput={onInput} />;
}

/** Reports whether a value is a date. The schemas of tools say so in words, because some clients refuse the format. */
function isDate(schema: ParamSchema): boolean {
  return schema.format === "date" || (kindOf(schema) === "string" && (schema.description ?? "").includes("A date as YYYY-MM-DD."));
}

function hintOf(schema: ParamSchema): string {
  const parts: string[] = [];
  if (kindOf(schema) === "array") {
    parts.push("One value on each line.");
  }
  const object = kindOf(schema) === "array" ? (schema.items ?? {}) : schema;
  if (kindOf(object) === "object") {
    parts.push(`A JSON object, such as ${exampleOf(object)}.`);
  }
  if (schema.format === "date-time") {
    parts.push("A moment, such as 2026-05-01T12:30:00Z.");
  }
  if (schema.minimum !== undefined || schema.maximum !== undefined) {
    parts.push(`A number ${rangeOf(schema)}.`);
  }
  if (schema.default !== undefined) {
    parts.push(`The default is ${textOf(schema.default)}.`);
  }
  if (schema.examples?.length) {
    parts.push(`For example ${schema.examples.map(textOf).join(", ")}.`);
  }
  return parts.join(" ");
}

/** Returns a value as a text of a field. */
function textOf(value: Json): string {
  return typeof value === "object" && value !== null ? writeJson(value) : String(value);
}
