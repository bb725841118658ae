// The session: the token of the user. The token is stored in sessionStorage, which belongs to one tab
// and is deleted when the tab is closed. It is never stored in a URL.

import { signal } from "@preact/signals";

const storageKey = "omnigraph-token";

/** The start of the keys in localStorage under which the Query page keeps texts. */
export const deskPrefix = "omnigraph-desk ";

/** The token that requests send. If it is "", requests send none, because the server does not ask for one. */
export const token = signal(stored());

/** The reason why the login page is shown, or null while other pages are shown. */
export const loggedOut = signal<string | null>(null);

/** The token of a link, until the user decides whether it replaces the token of the login; otherwise null. */
export const offered = signal<string | null>(null);

// main.tsx imports this module first, so that nothing else sees the token in the URL.
takeLink();
// A link that differs from the current URL only in its fragment loads no new page.
addEventListener("hashchange", takeLink);
addEventListener("pageshow", (event) => event.persisted && followStorage());

function stored(): string {
  return sessionStorage.getItem(storageKey) ?? "";
}

// Takes the token from the fragment of the URL. It removes the fragment, so that neither the browser's history
// nor a copied link contains the token. A link must not replace a login by itself: the user would go on as another actor
// without noticing.
function takeLink() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (location.hash !== "") {
    history.replaceState(null, "", location.pathname + location.search);
  }
  if (!given || given === token.value) {
    return;
  }
  if (token.value === "") {
    logIn(given);
  } else {
    offered.value = given;
  }
}

// The browser can show a page again as the user left it, with its data and its token in memory. If the user has logged
// out since, or is somebody else by now, the page must not go on.
function followStorage() {
  if (token.value === stored()) {
    return;
  }
  token.value = stored();
  loggedOut.value = "";
  if (token.value !== "") {
    location.reload();
  }
}

/** Sets the token that all later requests send. */
export function logIn(text: string) {
  token.value = text;
  sessionStorage.setItem(storageKey, text);
  loggedOut.value = null;
  offered.value = null;
}

/** Forgets the token and shows the login page with the reason. The URL stays. The token of a link then replaces no login. */
export function logOut(reason: string) {
  if (offered.value !== null) {
    logIn(offered.value);
    return;
  }
  token.value = "";
  sessionStorage.removeItem(storageKey);
  loggedOut.value = reason;
}

/** Forgets the token and all texts that the user has typed, and shows the login page. */
export function forget() {
  sessionStorage.clear();
  for (const key of Object.keys(localStorage).filter((k) => k.startsWith(deskPrefix))) {
    localStorage.removeItem(key);
  }
  logOut("");
}
