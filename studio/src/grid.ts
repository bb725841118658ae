// The query of the Data page. Names come from the schema, and values are parameters, so no text that a user types becomes part of it.

import type { Property, Row, Type } from "./api";
import { columnName, listedLength } from "./gql";
import type { Json } from "./json";

export interface Filter {
  property: string;
  operator: string;
  value: string;
}

/** The number of rows that one request asks for. */
export const pageSize = 100;

/** Reports whether the grid can show, sort and filter by a property. */
export function inGrid(p: Property): boolean {
  return p.kind !== "Blob" && p.kind !== "Vector" && !p.list;
}

/** Lists the conditions that a property can have. */
export function operatorsOf(p: Property): string[] {
  const empty = p.type.endsWith("?") ? ["is null", "is not null"] : [];
  if (p.enum || p.kind === "Bool") {
    return ["=", "!=", ...empty];
  }
  return p.kind === "String" ? ["contains", "=", "starts_with", ...empty] : ["=", ">=", "<=", ...empty];
}

const integers = ["I32", "I64", "U32", "U64"];

/** Converts a typed text to a value of a property, or returns undefined if it is none. */
function valueOf(p: Property, text: string): Json | undefined {
  if (integers.includes(p.kind)) {
    return /^-?\d+$/.test(text) ? BigInt(text) : undefined;
  }
  if (p.kind === "F32" || p.kind === "F64") {
    return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
  }
  if (p.kind === "Bool") {
    return text === "true" || text === "false" ? text === "true" : undefined;
  }
  return text;
}

/** Returns the type of a parameter for one value of a property: without the values of an enum, and with the digits of a Decimal. */
export function kindOf(p: Property): string {
  return p.enum ? "String" : p.kind === "Decimal" ? p.type.replace(/[?[\]]/g, "") : p.kind;
}

/** Where a page begins: after the row with this value of the property in the order, and this id. */
export interface Place {
  value: Json;
  id: string;
}

/**
 * Returns the query and the parameters of one page, in the order of a property and then of ids. In ascending order nulls come first,
 * in descending order last. A filter without a valid value is left out.
 */
export function pageQuery(type: Type, columns: Property[], filters: Filter[], order: Property | undefined, down: boolean, after: Place | null) {
  const params: Record<string, Json> = {};
  const declared: string[] = [];
  const match = [`$n: ${type.name}`];
  const add = (name: string, kind: string, value: Json) => {
    declared.push(`$${name}: ${kind}`);
    params[name] = value;
    return "$" + name;
  };
  filters.forEach((f, i) => {
    const p = type.properties.find((x) => x.name === f.property);
    if (!p || !inGrid(p) || !operatorsOf(p).includes(f.operator)) {
      return;
    }
    const value = valueOf(p, f.value);
    if (f.operator.startsWith("is ")) {
      match.push(`$n.${p.name} ${f.operator}`);
    } else if (value !== undefined && f.value !== "") {
      const text = f.operator === "contains";
      match.push(`${text ? `lower($n.${p.name})` : "$n." + p.name} ${f.operator} ${add("f" + i, kindOf(p), text ? f.value.toLowerCase() : value)}`);
    }
  });
  if (after) {
    const id = add("id", "String", after.id);
    const beyond = down ? "<" : ">";
    const next = `$n.id ${beyond} ${id}`;
    if (!order) {
      match.push(next);
    } else if (after.value === null) {
      match.push(down ? `$n.${order.name} is null ${next}` : `any { $n.${order.name} is not null all { $n.${order.name} is null ${next} } }`);
    } else {
      const value = add("value", kindOf(order), after.value);
      const nulls = down && order.type.endsWith("?") ? ` $n.${order.name} is null` : "";
      match.push(`any { $n.${order.name} ${beyond} ${value} all { $n.${order.name} = ${value} ${next} }${nulls} }`);
    }
  }
  const listed = columns.map((p, i) => `${p.kind === "String" && !p.enum ? `substring($n.${p.name}, 0, ${listedLength + 1})` : "$n." + p.name} as ${columnName(i)}`);
  const direction = down ? " desc" : "";
  const query = [
    `query page(${declared.join(", ")}) {`,
    `  match { ${match.join("  ")} }`,
    `  return { ${["$n.id as id", ...(order ? [`$n.${order.name} as place`] : []), ...listed].join(", ")} }`,
    `  order { ${order ? `$n.${order.name}${direction}, ` : ""}$n.id${direction} }`,
    `  limit ${pageSize + 1}`,
    "}",
  ].join("\n");
  return { query, params };
}

/** Returns where the page after a row begins. */
export function placeOf(row: Row): Place {
  return { value: row.place ?? null, id: String(row.id) };
}
