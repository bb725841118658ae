// A JSON value as a tree whose branches can be opened and closed.

import type { Json } from "./json";
import { Text } from "./text";
import { Value } from "./table";

/** The most items of an array or object that are shown. */
const most = 200;

export function Tree(props: { value: Json; name?: string; open?: boolean }) {
  const { value, name, open = false } = props;
  const label = name === undefined ? null : (
    <span class="key">
      <Text value={name} most={160} />:{" "}
    </span>
  );
  if (value === null || typeof value !== "object") {
    return (
      <div class="leaf">
        {label}
        <Value value={value} />
      </div>
    );
  }
  const items: [string, Json][] = Array.isArray(value) ? value.map((item, i) => [String(i), item]) : Object.entries(value);
  return (
    <details class="branch" open={open}>
      <summary>
        {label}
        <span class="null">{Array.isArray(value) ? `[${items.length}]` : `{${items.length}}`}</span>
      </summary>
      {items.slice(0, most).map(([key, item]) => (
        <Tree key={key} name={key} value={item} open={items.length <= 20} />
      ))}
      {items.length > most && <p class="empty">… and {items.length - most} more; the JSON has them all.</p>}
    </details>
  );
}
