// The session: the token of the user. The token is stored in sessionStorage, which belongs to one tab
// and is deleted when the tab is closed. It is never stored in a URL.

import { signal } from "@preact/signals";

const storageKey = "omnigraph-token";

/** The token that requests send. If it is "", requests send none, because the server does not ask for one. */
export const token = signal(restore());

/** The reason why the login page is shown, or null while other pages are shown. */
export const loggedOut = signal<string | null>(null);

// Takes the token from the fragment of the URL or from sessionStorage. It removes the fragment, so
// that neither the browser's history nor a copied link contains the token. main.tsx imports this
// module first, so this function runs before all other code.
function restore(): string {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (location.hash !== "") {
    history.replaceState(null, "", location.pathname + location.search);
  }
  if (given) {
    sessionStorage.setItem(storageKey, given);
  }
  return given ?? sessionStorage.getItem(storageKey) ?? "";
}

/** Sets the token that all later requests send. */
export function logIn(text: string) {
  token.value = text;
  sessionStorage.setItem(storageKey, text);
  loggedOut.value = null;
}

/** Forgets the token and shows the login page with the reason. The URL stays. */
export function logOut(reason: string) {
  token.value = "";
  sessionStorage.removeItem(storageKey);
  loggedOut.value = reason;
}

/** Forgets the token and all texts that the user has typed and not sent, and shows the login page. */
export function forget() {
  sessionStorage.clear();
  logOut("");
}
