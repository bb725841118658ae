// The desk of the Query page: open tabs, the history of runs, and favourites. It is in the storage of the browser, which belongs to the
// server, by actor and graph. Logging out clears it (session.ts).

import { useState } from "preact/hooks";
import { deskPrefix } from "./session";

export interface Tab {
  id: string;
  text: string;
}

export interface Desk {
  tabs: Tab[];
  open: string; // the id of the open tab
  history: { text: string; at: number }[]; // the latest first; `at` is in milliseconds since 1970
  favourites: { name: string; text: string }[];
}

const mostRuns = 100;
const mostText = 100_000; // a longer text is not kept in the history

/** Returns a new tab. */
export function newTab(text = ""): Tab {
  return { id: crypto.randomUUID(), text };
}

/** Returns the desk of an actor on a graph, and a function that changes it. */
export function useDesk(actor: string, graph: string): [Desk, (change: (desk: Desk) => Partial<Desk>) => void] {
  const key = deskPrefix + JSON.stringify([actor, graph]);
  const [desk, setDesk] = useState(() => read(key));
  return [
    desk,
    (change) =>
      setDesk((before) => {
        const after = { ...before, ...change(before) };
        try {
          localStorage.setItem(key, JSON.stringify(after));
        } catch {
          // The storage is full. The page goes on without it.
        }
        return after;
      }),
  ];
}

function read(key: string): Desk {
  const tab = newTab();
  const empty: Desk = { tabs: [tab], open: tab.id, history: [], favourites: [] };
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<Desk>;
    return kept.tabs?.length ? { ...empty, ...kept } : empty;
  } catch {
    return empty;
  }
}

/** Adds a run to the history. A text that is in the history already moves to the front. */
export function withRun(desk: Desk, text: string): Partial<Desk> {
  if (text.length > mostText) {
    return {};
  }
  return { history: [{ text, at: Date.now() }, ...desk.history.filter((run) => run.text !== text)].slice(0, mostRuns) };
}

/** Returns the title of a text: the name of its first query. */
export function titleOf(text: string): string {
  return /\bquery\s+(\w+)/.exec(text)?.[1] ?? "New query";
}

/** Adds a text to the stored desk of an actor, as the open tab. The Query page must not be in view. */
export function keepInDesk(actor: string, graph: string, text: string) {
  const key = deskPrefix + JSON.stringify([actor, graph]);
  const desk = read(key);
  const tab = newTab(text);
  try {
    localStorage.setItem(key, JSON.stringify({ ...desk, tabs: [...desk.tabs.filter((t) => t.text.trim() !== ""), tab], open: tab.id }));
  } catch {
    // The storage is full. The Query page opens without the text.
  }
}
