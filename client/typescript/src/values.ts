/** A value in an answer, as JSON. A 64-bit integer is a string of digits, so that it keeps them all. */
export type Value = string | number | boolean | null | Value[] | { [name: string]: Value };

/** A row, or the properties of an entity. */
export interface Row {
  [name: string]: Value;
}

/** Arguments by name. A bigint keeps all digits, a Date is an instant, and a Uint8Array is a Blob. */
export type Params = object;

/** An instant with microseconds, which a Date cannot hold. */
export class DateTime extends Date {
  /** The microseconds after the whole millisecond, 0 to 999. */
  readonly micros: number;

  /** @param text such as 2026-03-01T12:30:00.123456Z */
  constructor(text: string) {
    const match = /^(.*T\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(Z|[+-]\d\d:\d\d)$/i.exec(text);
    if (match === null) throw new TypeError(`${JSON.stringify(text)} is not an instant such as 2026-03-01T12:30:00.123456Z`);
    const [, seconds = "", fraction = "", zone = ""] = match;
    const digits = fraction.padEnd(6, "0");
    super(`${seconds}.${digits.slice(0, 3)}${zone}`.toUpperCase());
    this.micros = Number(digits.slice(3));
  }

  override toISOString(): string {
    return this.micros === 0 ? super.toISOString() : super.toISOString().replace("Z", `${String(this.micros).padStart(3, "0")}Z`);
  }

  override toJSON(): string {
    return this.toISOString();
  }
}

/** Writes a value as JSON in the forms that the server takes. NaN and the infinities become texts, which it refuses, not null. */
export function toJSON(value: unknown): string {
  return JSON.stringify(value, function (this: { [key: string]: unknown }, key, v: unknown) {
    if (typeof v === "bigint" || (typeof v === "number" && !Number.isFinite(v))) return String(v);
    const own = this[key]; // before a toJSON such as that of Buffer
    return own instanceof Uint8Array ? btoa(Array.from(own, (byte) => String.fromCharCode(byte)).join("")) : v;
  });
}

/** Makes a value of a program from one of an answer. */
export type Decode<T> = (value: Value) => T;

/** A member of a row: its name in the answer, and how to decode it. */
export interface Field<T> {
  readonly name: string;
  readonly decode: (value: Value) => T;
}

/** Describes a member whose value is used as it is, or null. */
export function field(name: string): Field<any>;
/** Describes a member whose value is decoded, unless it is null. */
export function field<T>(name: string, decode: Decode<T>): Field<any>;
export function field<T>(name: string, decode?: Decode<T>): Field<unknown> {
  return { name, decode: (v) => (v === null || decode === undefined ? v : decode(v)) };
}

/** Decodes a record with the given members. */
export function record<T>(fields: { readonly [K in keyof T]-?: Field<T[K]> }): Decode<T> {
  const members = Object.entries(fields) as [string, Field<unknown>][];
  return (row) => {
    const from = row as Row;
    const to: { [key: string]: unknown } = {};
    for (const [key, { name, decode }] of members) {
      const value = from[name];
      if (value === undefined) throw new TypeError(`the answer has no ${name}; generate the types again from the server's queries`);
      to[key] = decode(value);
    }
    return to as T;
  };
}

/** Decodes a list. */
export function list<T>(decode: Decode<T>): Decode<T[]> {
  return (values) => (values as Value[]).map(decode);
}

/** Decodes a 64-bit integer. */
export const bigint: Decode<bigint> = (v) => BigInt(v as string | number);

/** Decodes a float, which may be NaN or infinite. */
export const float: Decode<number> = (v) => Number(v);

/** Decodes an instant. */
export const dateTime: Decode<DateTime> = (v) => new DateTime(v as string);

/** Decodes a Blob. */
export const bytes: Decode<Uint8Array> = (v) => Uint8Array.from(atob(v as string), (c) => c.charCodeAt(0));

/** The names of arguments that differ from those of a query; with a list, also those in a record. */
export interface Names {
  readonly [key: string]: string | readonly [string, Names];
}

/** Gives arguments the names that they have in the query. */
export function rename(value: object, names: Names): Params {
  const to: { [name: string]: unknown } = {};
  for (const [key, v] of Object.entries(value) as [string, unknown][]) {
    const name = names[key] ?? key;
    if (typeof name === "string") to[name] = v;
    else if (Array.isArray(v)) to[name[0]] = (v as object[]).map((e) => rename(e, name[1]));
    else to[name[0]] = v && rename(v, name[1]);
  }
  return to;
}
