// Texts that the user types, until they are sent. They are in sessionStorage, so that a comment is not
// lost when the token expires and the user logs in again.

import { useState } from "preact/hooks";

const prefix = "omnigraph-text ";

/** Returns the text with that name, and a function that sets it. */
export function useUnsent(name: string): [string, (text: string) => void] {
  const key = prefix + name;
  const [, update] = useState(0);
  return [
    sessionStorage.getItem(key) ?? "",
    (text) => {
      if (text) {
        sessionStorage.setItem(key, text);
      } else {
        sessionStorage.removeItem(key);
      }
      update((n) => n + 1);
    },
  ];
}
