// The choice of a side in a conflict: ours, theirs, a value, or no value.

import type { ComponentChildren } from "preact";
import type { Property, Type } from "./api";
import { isInterface } from "./facts";
import { parseJson, type Json } from "./json";
import type { EntityPlace, NewResolution, Proposal } from "./proposal";
import { Text, visible } from "./text";

/** The chosen side: "" is no side yet, and "none" removes the value of the property. */
export interface Chosen {
  take: "" | "ours" | "theirs" | "value" | "none";
  text: string; // of the value
}

type Place = EntityPlace & { property: string };

export const unchosen: Chosen = { take: "", text: "" };

/** Returns the choice of a side without a value. */
export function choose(take: Chosen["take"]): Chosen {
  return { take, text: "" };
}

// Returns the property of a place, or undefined for a whole entity and for the end of an edge.
function propertyOf(types: Type[], place: Place): Property | undefined {
  return types.find((t) => t.kind === place.entity_kind && t.name === place.type_name)?.properties.find((p) => p.name === place.property);
}

// Reports whether a place is an end of an edge for which the schema names an interface. Its value is an object.
function isInterfaceEnd(types: Type[], place: Place): boolean {
  const edge = place.entity_kind === "edge" ? types.find((t) => t.kind === "edge" && t.name === place.type_name) : undefined;
  return edge !== undefined && (place.property === "from" || place.property === "to") && isInterface(edge[place.property], types);
}

// The kinds whose values are not texts in JSON.
const bare = ["I32", "I64", "U32", "U64", "F32", "F64", "Bool", "Vector"];

/** Converts the text of a chosen value to the JSON that the server expects, or says why it cannot. */
export function valueOf(types: Type[], place: Place, chosen: Chosen): { value?: Json; fault?: string } {
  if (chosen.take === "none") {
    return { value: null };
  }
  if (chosen.take !== "value") {
    return {};
  }
  const property = propertyOf(types, place);
  if (isInterfaceEnd(types, place)) {
    const fault = 'Give a type and an id in JSON, such as {"type": "Person", "id": "ann"}.';
    try {
      const value = parseJson(chosen.text) as Json;
      return value !== null && typeof value === "object" ? { value } : { fault };
    } catch {
      return { fault };
    }
  }
  if (property?.enum && !property.list && chosen.text === "") {
    return { fault: "Choose one of the values." };
  }
  if (!property || !(property.list || bare.includes(property.kind))) {
    return { value: chosen.text };
  }
  const list = property.list || property.kind === "Vector";
  const fault = list ? "Give a list in JSON, such as [1, 2]." : property.kind === "Bool" ? "Give true or false." : "Give a number.";
  try {
    const value = parseJson(chosen.text) as Json;
    const fits = list ? Array.isArray(value) : property.kind === "Bool" ? typeof value === "boolean" : isNumber(value, property.kind);
    return fits ? { value } : { fault };
  } catch {
    return { fault };
  }
}

// Reports whether a value is a number in JSON. Floats that are not finite are texts there.
function isNumber(value: Json, kind: string): boolean {
  return typeof value === "number" || typeof value === "bigint" || (kind.startsWith("F") && typeof value === "string" && /^(NaN|-?Infinity)$/.test(value));
}

/** Returns the resolution that takes the chosen side. */
export function resolutionOf(place: Place, chosen: Chosen, value: Json | undefined): NewResolution {
  const { entity_kind, type_name, id, property } = place;
  const take = chosen.take === "ours" || chosen.take === "theirs" ? chosen.take : "value";
  return { entity_kind, type_name, id, ...(property ? { property } : {}), take, ...(take === "value" ? { value: value ?? null } : {}) };
}

/** Shows the fields in which the user chooses a side. */
export function SideFields(props: {
  id: string;
  proposal: Proposal;
  types: Type[];
  place: Place;
  chosen: Chosen;
  tried: boolean;
  onChoose: (side: Chosen) => void;
}) {
  const { id, proposal: p, types, place, chosen, tried, onChoose } = props;
  const property = propertyOf(types, place);
  const fault = tried ? valueOf(types, place, chosen).fault : undefined;
  const radio = (take: Chosen["take"], label: ComponentChildren) => (
    <label>
      <input type="radio" name={id} value={take} checked={chosen.take === take} onChange={() => onChoose({ ...chosen, take })} /> {label}
    </label>
  );
  return (
    <div class="choice" role="radiogroup" aria-label={"Resolution of " + visible([place.type_name, place.id, place.property].join(" "))}>
      {radio("ours", <>ours: keep the state on <Text value={p.target} plain /></>)}
      {radio("theirs", <>theirs: take the state on <Text value={p.source} plain /></>)}
      {place.property && radio("value", "another value")}
      {place.property && chosen.take === "value" && (
        <div class="field">
          <Input id={id} property={property} chosen={chosen} fault={fault} onChoose={onChoose} />
          {fault && (
            <p id={id + "-fault"} class="fault" role="alert">
              {fault}
            </p>
          )}
        </div>
      )}
      {property?.type.endsWith("?") && radio("none", "no value")}
    </div>
  );
}

function Input(props: { id: string; property: Property | undefined; chosen: Chosen; fault: string | undefined; onChoose: (side: Chosen) => void }) {
  const { id, property, chosen, fault, onChoose } = props;
  const shared = {
    "aria-label": "The value",
    "aria-invalid": fault !== undefined,
    "aria-describedby": fault ? id + "-fault" : undefined,
    value: chosen.text,
  };
  const set = (text: string) => onChoose({ take: "value", text });
  if (property?.enum && !property.list) {
    return (
      <select {...shared} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">Choose…</option>
        {property.enum.map((v) => (
          <option key={v} value={v}>
            {visible(v)}
          </option>
        ))}
      </select>
    );
  }
  return <textarea {...shared} rows={2} onInput={(event) => set(event.currentTarget.value)} />;
}
