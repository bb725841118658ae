// Logging in at an OpenID Connect issuer: the authorization code flow with PKCE (RFC 7636). The studio is
// a public client: it has no secret, sets no cookie, and asks for no refresh token.
//
// begin() sends the browser to the issuer, which sends it back to callbackPath with a code. finish() then
// exchanges the code for a token. Between the two, sessionStorage has what finish() must check.

import { signal } from "@preact/signals";
import { logIn, logOut, token } from "./session";

/** The issuer at which the users of this server log in. */
export interface Issuer {
  issuer: string;
  client_id: string;
  scopes: string[];
}

/** Where the issuer sends the browser back to. */
const callbackPath = "/studio/callback";

/** The name in sessionStorage of the login that the issuer has not answered yet. */
const storageKey = "omnigraph-login";

/** The accepted difference between the clocks of the issuer and of this computer, in seconds. */
const leeway = 300;

interface Pending extends Issuer {
  state: string;
  nonce: string;
  verifier: string; // the code verifier of PKCE
  tokenEndpoint: string;
  issNeeded: boolean; // the issuer promised the parameter iss in its answer (RFC 9207)
  back: string; // the path and the query of the page to show after the login
}

/** A reason why a login failed, as a sentence for the user. */
class LoginError extends Error {}

// The parameters of the issuer's answer, or null if the browser does not come from the issuer. A graph
// may have the name "callback", so the answer must have a state.
const answer = takeAnswer();

/** True while the code of the issuer is exchanged for a token. */
export const loggingIn = signal(answer !== null);

// Takes the answer of the issuer from the URL, so that no link, history or Referer contains the code.
function takeAnswer(): URLSearchParams | null {
  const given = new URLSearchParams(location.search);
  if (location.pathname !== callbackPath || !given.has("state")) {
    return null;
  }
  history.replaceState(null, "", "/studio/");
  return given;
}

/** Loads the issuer of this server, or null if its users do not log in at an issuer; and whether gq dev started the server. */
export async function loadServer(signal: AbortSignal): Promise<{ oidc: Issuer | null; dev?: boolean }> {
  const response = await fetch("/studio/login.json", { signal, credentials: "omit", redirect: "error" });
  return (await response.json()) as { oidc: Issuer | null; dev?: boolean };
}

/** Sends the browser to the issuer. After the login, the studio shows the current page again. */
export async function begin(issuer: Issuer): Promise<void> {
  if (!isSecureContext) {
    throw new LoginError("Open the studio at an address that begins with https:// to log in at the issuer.");
  }
  const found = await discover(issuer.issuer);
  const pending: Pending = {
    ...issuer,
    state: random(),
    nonce: random(),
    verifier: random(),
    tokenEndpoint: found.tokenEndpoint,
    issNeeded: found.issNeeded,
    back: location.pathname + location.search,
  };
  const to = new URL(found.authorizationEndpoint);
  const parameters = {
    response_type: "code",
    client_id: issuer.client_id,
    redirect_uri: location.origin + callbackPath,
    scope: issuer.scopes.join(" "),
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(pending.verifier)))),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) {
    to.searchParams.set(name, value);
  }
  sessionStorage.setItem(storageKey, JSON.stringify(pending));
  location.assign(to);
}

/**
 * Logs in with the answer of the issuer, if the browser has just brought one. It then calls `show` with the
 * page on which the user began to log in.
 */
export async function finish(show: (page: string) => void): Promise<void> {
  if (!answer) {
    return;
  }
  const stored = sessionStorage.getItem(storageKey);
  sessionStorage.removeItem(storageKey); // a second answer must not count
  const pending = stored ? (JSON.parse(stored) as Pending) : null;
  try {
    logIn(await exchange(answer, pending));
  } catch (error) {
    // A forged answer must not end a session that the tab has already.
    if (token.value === "") {
      logOut(messageOf(error));
    }
  }
  if (pending) {
    show(pending.back);
  }
  loggingIn.value = false;
}

/** Returns the message about a failed login. */
export function messageOf(error: unknown): string {
  return error instanceof LoginError ? error.message : "The issuer does not answer, or does not let pages of this server call it. Try again, or ask the operator of this server.";
}

// Checks the answer of the issuer, and returns the access token.
async function exchange(answer: URLSearchParams, pending: Pending | null): Promise<string> {
  // The state comes first: another site can send the browser here with any other parameters.
  if (!pending || answer.get("state") !== pending.state) {
    throw new LoginError("The answer of the issuer does not belong to a login that began in this tab. Log in again.");
  }
  const iss = answer.get("iss");
  if (iss === null ? pending.issNeeded : iss !== pending.issuer) {
    throw new LoginError("The answer comes from another issuer than the one of this server. Log in again.");
  }
  const code = answer.get("code");
  if (code === null) {
    const reason = [answer.get("error"), answer.get("error_description")].filter(Boolean).join(": ");
    throw new LoginError("The issuer refused the login" + (reason ? ": " + reason : "."));
  }
  const response = await fetch(pending.tokenEndpoint, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: location.origin + callbackPath,
      client_id: pending.client_id,
      code_verifier: pending.verifier,
    }),
    credentials: "omit",
    redirect: "error",
  });
  const got = (await response.json()) as Record<string, unknown>;
  if (!response.ok) {
    throw new LoginError("The issuer refused the login: " + [got.error, got.error_description].filter((text) => typeof text === "string").join(": "));
  }
  const { access_token, id_token, token_type } = got;
  if (typeof access_token !== "string" || typeof id_token !== "string" || String(token_type).toLowerCase() !== "bearer") {
    throw new LoginError("The issuer gave no bearer token, or no ID token. Ask the operator of this server to check the client at the issuer.");
  }
  checkIdToken(id_token, pending);
  return access_token;
}

// Checks the claims of the ID token. Its signature needs no check, because it came straight from the
// token endpoint of the issuer (OpenID Connect Core, section 3.1.3.7).
function checkIdToken(text: string, pending: Pending) {
  const claims = claimsOf(text);
  const audiences = Array.isArray(claims.aud) ? claims.aud : [claims.aud];
  if (claims.iss !== pending.issuer) {
    throw new LoginError("The ID token comes from another issuer than the one of this server. Log in again.");
  }
  if (!audiences.includes(pending.client_id) || (audiences.length > 1 && claims.azp !== pending.client_id)) {
    throw new LoginError("The ID token is for another client than the studio. Ask the operator of this server to check server.oidc.studio.");
  }
  if (typeof claims.exp !== "number" || claims.exp < Date.now() / 1000 - leeway) {
    throw new LoginError("The ID token has expired. Check the clock of this computer, and log in again.");
  }
  if (claims.nonce !== pending.nonce) {
    throw new LoginError("The ID token does not belong to this login. Log in again.");
  }
}

function claimsOf(text: string): Record<string, unknown> {
  try {
    const payload = (text.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(payload), (c) => c.charCodeAt(0)))) as Record<string, unknown>;
  } catch {
    throw new LoginError("The ID token of the issuer cannot be read.");
  }
}

// Reads the discovery document of the issuer. The policy of the page allows connections only to the
// origin of the issuer, so its token endpoint must be there.
async function discover(issuer: string) {
  const response = await fetch(issuer.replace(/\/$/, "") + "/.well-known/openid-configuration", { credentials: "omit", redirect: "error" });
  const document = (await response.json()) as Record<string, unknown>;
  if (!response.ok || document.issuer !== issuer) {
    throw new LoginError("The issuer describes itself with another name than the one that this server has for it. Ask the operator of this server to check server.oidc.issuer.");
  }
  const endpoint = (name: string): string => {
    const found = document[name];
    if (typeof found === "string" && URL.canParse(found) && new URL(found).protocol === new URL(issuer).protocol) {
      return found;
    }
    throw new LoginError(`The issuer does not describe its ${name}.`);
  };
  const tokenEndpoint = endpoint("token_endpoint");
  if (new URL(tokenEndpoint).origin !== new URL(issuer).origin) {
    throw new LoginError("The token endpoint of the issuer is on another host than the issuer, so the studio may not call it. Paste a token instead.");
  }
  return { authorizationEndpoint: endpoint("authorization_endpoint"), tokenEndpoint, issNeeded: document.authorization_response_iss_parameter_supported === true };
}

// Returns 256 random bits, as 43 characters that need no escape in a URL.
function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
