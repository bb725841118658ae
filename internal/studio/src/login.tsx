// The login: the user pastes a token.

import { useState } from "preact/hooks";
import { logIn } from "./session";

export function LoginPage(props: { reason: string }) {
  const [text, setText] = useState("");
  return (
    <main id="main" class="login">
      <h1>Omnigraph studio</h1>
      {props.reason && (
        <p class="failure" role="alert">
          {props.reason}
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
        <button type="submit">Log in</button>
      </form>
      <p>
        Paste a token of this server. The studio keeps it until you close this tab, and sends it to this server only. What you see is what
        the policy allows the actor of the token.
      </p>
    </main>
  );
}
