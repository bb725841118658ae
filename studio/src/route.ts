// The URL is the only state of the studio: it determines the whole page, and every link and form leads
// to another URL.

import { computed, signal } from "@preact/signals";

const root = "/studio/";

/** The current URL. */
export const url = signal(new URL(location.href));

export const pages = ["overview", "query", "data", "import", "explore", "entity", "run", "review", "compare", "history", "schema", "watches", "calls", "access"] as const;
export type Page = (typeof pages)[number];

export interface Route {
  graph: string; // "" on the list of graphs
  page: Page;
  rest: string[]; // the parts of the path after the page
  query: URLSearchParams;
}

/** The route of the current URL. */
export const route = computed<Route>(() => {
  const [graph = "", page = "", ...rest] = url.value.pathname.slice(root.length).split("/").map(decode);
  return {
    graph,
    page: pages.find((p) => p === page) ?? "overview",
    rest: rest.filter((part) => part !== ""),
    query: url.value.searchParams,
  };
});

// Decodes a part of a URL. It returns a part with a malformed escape unchanged.
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The state of the graph that all pages show: a branch, or a commit in its place. */
export const target = computed(() => ({
  branch: route.value.query.get("branch") ?? "",
  at: route.value.query.get("at") ?? "",
}));

/** Parameters of a route that reads the target of the URL. */
export function targetParameters(): { branch: string; snapshot: string } {
  const { branch, at } = target.value;
  return { branch: at ? "" : branch, snapshot: at };
}

/** Members of a body that reads the target of the URL. */
export function targetMembers(): { branch?: string; snapshot?: string } {
  const { branch, at } = target.value;
  return at ? { snapshot: at } : branch ? { branch } : {};
}

/**
 * Returns the URL of a page. It keeps the branch or commit of the current URL unless the query names
 * another one.
 */
export function href(graph: string, page: Page | "", rest: string[] = [], query: Record<string, string | undefined> = {}): string {
  const search = new URLSearchParams();
  const kept = "branch" in query || "at" in query ? {} : { branch: target.value.branch, at: target.value.at };
  for (const [name, value] of Object.entries({ ...kept, ...query })) {
    if (value) {
      search.set(name, value);
    }
  }
  const path = root + [graph, page, ...rest].filter((part) => part !== "").map(encodeURIComponent).join("/");
  const text = search.toString();
  return path + (text && "?" + text);
}

/** Returns the current URL with other values in its query string; undefined removes one. */
export function withQuery(changes: Record<string, string | undefined>): string {
  const next = new URL(url.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value) {
      next.searchParams.set(name, value);
    } else {
      next.searchParams.delete(name);
    }
  }
  return next.pathname + next.search;
}

/** Opens a page of the studio. With `replace`, the page replaces the current one in the browser's history. */
export function go(to: string, replace = false) {
  history[replace ? "replaceState" : "pushState"](null, "", to);
  const before = url.value.pathname;
  url.value = new URL(location.href);
  if (url.value.pathname !== before) {
    scrollTo(0, 0);
  }
}

/** Makes the studio show another page when the user clicks a link or goes back in the browser's history. */
export function followUrl() {
  addEventListener("popstate", () => (url.value = new URL(location.href)));
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    const to = link?.getAttribute("href");
    if (plain && to?.startsWith(root) && !link?.hasAttribute("target") && !event.defaultPrevented) {
      event.preventDefault();
      go(to);
    }
  });
}
