// The difference between two states of an entity, property by property.

import type { Image } from "./api";
import { ChangedValue } from "./bytes";
import { endText } from "./facts";
import { writeJson, type Json } from "./json";

/** The longest text that a difference shows without a click. */
const most = 400;

/** Shows the properties that differ. The argument `blobs` has the names of those that are Blobs. */
export function Difference(props: { before: Image | null; after: Image | null; blobs?: ReadonlySet<string> }) {
  const { before, after, blobs = new Set<string>() } = props;
  const was = valuesOf(before);
  const is = valuesOf(after);
  const names = [...new Set([...was.keys(), ...is.keys()])].filter((name) => !same(was.get(name), is.get(name)));
  if (names.length === 0) {
    return <p class="empty">No property differs.</p>;
  }
  return (
    <dl class="difference">
      {names.map((name) => (
        <div key={name}>
          <dt>{name}</dt>
          {before && (
            <dd class="was">
              <del>
                <ChangedValue blobs={blobs} name={name} value={was.get(name) ?? null} most={most} />
              </del>
            </dd>
          )}
          {after && (
            <dd class="is">
              <ins>
                <ChangedValue blobs={blobs} name={name} value={is.get(name) ?? null} most={most} />
              </ins>
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

// Returns the properties of an entity. The ends of an edge count as properties. Their names contain an
// arrow, because a property of the schema may have the name `from` or `to`.
function valuesOf(image: Image | null): Map<string, Json> {
  const values = new Map<string, Json>();
  if (image?.endpoints) {
    values.set("from →", endText(image.endpoints.from));
    values.set("→ to", endText(image.endpoints.to));
  }
  for (const [name, value] of Object.entries(image?.properties ?? {})) {
    if (value !== null) {
      values.set(name, value);
    }
  }
  return values;
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && writeJson(a) === writeJson(b));
}
