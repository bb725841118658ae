// JSON without loss: integers beyond 2^53 become BigInt, because a number would round them.

export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown;

// The type declarations of TypeScript do not have the third argument of a reviver yet.
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;

const integer = /^-?\d+$/;

/** Parses JSON. */
export function parseJson(text: string): unknown {
  let passesSource = false;
  parse("1", (_key, _value, context) => (passesSource = context?.source === "1"));
  if (!passesSource) {
    return parseMarked(text);
  }
  return parse(text, (_key, value, context) => {
    const source = context?.source;
    if (typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && integer.test(source)) {
      return BigInt(source);
    }
    return value;
  });
}

// Parses JSON in a browser that does not pass the source text of a number to a reviver. Large integers become strings
// first, with a mark before the digits that nobody who wrote a string of the text could know.
function parseMarked(text: string): unknown {
  const mark = `integer ${Math.random()} `;
  const parts = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
  const marked = text.replace(parts, (part) => (integer.test(part) && !Number.isSafeInteger(Number(part)) ? `"${mark}${part}"` : part));
  return parse(marked, (_key, value) => (typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value));
}

/** Writes JSON. A BigInt becomes an integer with all its digits. */
export function writeJson(value: unknown, indent = ""): string {
  return write(value, indent, "\n");
}

function write(value: unknown, indent: string, line: string): string {
  if (typeof value === "bigint") {
    return value.toString();
  }
  if (value === null || typeof value !== "object") {
    return JSON.stringify(value) ?? "null";
  }
  const deeper = line + indent;
  const [open, close, items] = Array.isArray(value)
    ? ["[", "]", value.map((item) => write(item, indent, deeper))]
    : ["{", "}", Object.entries(value).map(([key, item]) => JSON.stringify(key) + (indent ? ": " : ":") + write(item, indent, deeper))];
  if (items.length === 0) {
    return open + close;
  }
  return indent ? open + deeper + items.join("," + deeper) + line + close : open + items.join(",") + close;
}
