// The login: the user logs in at the issuer of the server, pastes a token, or opens a link with a token.

import { useEffect, useState } from "preact/hooks";
import { actorOf } from "./api";
import { Show, useLoad } from "./load";
import { begin, loadServer, messageOf, type Issuer } from "./oidc";
import { logIn, offered, token } from "./session";
import { Text } from "./text";

export function LoginPage(props: { reason: string }) {
  const [text, setText] = useState("");
  const [issuer, setIssuer] = useState<Issuer | null>(null);
  const [fault, setFault] = useState("");
  const [leaving, setLeaving] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    loadServer(abort.signal).then((server) => setIssuer(server.oidc), () => undefined); // without an issuer, the user can paste a token
    return () => abort.abort();
  }, []);
  const reason = fault || props.reason;
  return (
    <main id="main" class="login">
      <h1>Omnigraph studio</h1>
      {reason && (
        <p class="failure" role="alert">
          <Text value={reason} plain />
        </p>
      )}
      {issuer && (
        <p>
          <button
            type="button"
            disabled={leaving}
            onClick={() => {
              setLeaving(true);
              // Also without an error: the user can come back from the issuer to this page as it was.
              void begin(issuer)
                .catch((error: unknown) => setFault(messageOf(error)))
                .finally(() => setLeaving(false));
            }}
          >
            Log in at {new URL(issuer.issuer).host}
          </button>
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim()) {
            logIn(text.trim());
          }
        }}
      >
        <label>
          Token
          <input type="password" autocomplete="off" required value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button type="submit" class={issuer ? "quiet" : undefined}>
          {issuer ? "Log in with the token" : "Log in"}
        </button>
      </form>
      <p>
        {issuer ? "Or paste" : "Paste"} a token of this server. The studio keeps it until you close this tab, and sends it to this server only. What you see is what
        the policy allows the actor of the token.
      </p>
    </main>
  );
}

/** Asks whether the token of a link replaces the login of the tab. */
export function OfferPage(props: { text: string }) {
  const mine = useLoad("actor", (signal) => actorOf(token.value, signal));
  const theirs = useLoad("actor of " + props.text, (signal) => actorOf(props.text, signal));
  return (
    <main id="main" class="login">
      <h1>Log in again?</h1>
      <p>
        You are logged in{mine.state === "done" && <> as <Text value={mine.value} most={80} plain /></>}. The link that you opened has another token.
      </p>
      <Show of={theirs}>
        {(actor) => (
          <p>
            It belongs to <Text value={actor} most={80} plain />. Everything that you do after you log in with it counts as done by that actor.
          </p>
        )}
      </Show>
      <div class="row">
        <button type="button" onClick={() => (offered.value = null)}>
          Stay logged in{mine.state === "done" && <> as <Text value={mine.value} most={80} plain /></>}
        </button>
        {theirs.state === "done" && (
          <button type="button" class="quiet" onClick={() => logIn(props.text)}>
            Log in as <Text value={theirs.value} most={80} plain />
          </button>
        )}
      </div>
    </main>
  );
}
