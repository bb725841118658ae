// Makes and revokes review keys: with it the user decides about proposals where an agent works, over the connection of the agent.

import { useState } from "preact/hooks";
import { ApiError, exchange, pathOf, post } from "./api";
import { Failure } from "./load";
import { Moment } from "./text";

export function ReviewKey(props: { graph: string }) {
  const { graph } = props;
  const [key, setKey] = useState<{ review_key: string; expires_at: number } | null>(null);
  const [revoked, setRevoked] = useState<number | null>(null);
  const [fault, setFault] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const path = pathOf(graph, "/review-keys");
  const act = async (call: () => Promise<void>) => {
    setBusy(true);
    setFault(null);
    setKey(null);
    setRevoked(null);
    try {
      await call();
    } catch (error) {
      setFault(error instanceof ApiError ? error : new ApiError(0, String(error)));
    }
    setBusy(false);
  };
  const make = () => act(async () => setKey(await post(path, {})));
  const revoke = () =>
    act(async () => setRevoked(((await (await exchange(path, { method: "DELETE" })).json()) as { revoked: number }).revoked));
  return (
    <details class="kept">
      <summary>Review where an agent works</summary>
      <p class="hint">
        A client that shows apps shows this proposal in a conversation with an agent. To decide there, type a review key. The agent does not have it; give it to nobody. It is good for
        12 hours, and ends when the server does. If someone else may have a key of yours, revoke them all.
      </p>
      {key ? (
        <p class="note" role="status">
          <code>{key.review_key}</code> until <Moment micros={key.expires_at} />. The studio does not show it again.
        </p>
      ) : (
        revoked !== null && (
          <p class="note" role="status">
            {revoked === 0 ? "You had no review keys for this graph." : revoked === 1 ? "Your review key is revoked." : `Your ${revoked} review keys are revoked.`}
          </p>
        )
      )}
      <div class="buttons">
        {!key && (
          <button type="button" class="quiet" disabled={busy} onClick={() => void make()}>
            Make a review key
          </button>
        )}
        <button type="button" class="quiet" disabled={busy} onClick={() => void revoke()}>
          Revoke my review keys
        </button>
      </div>
      {fault && <Failure error={fault} />}
    </details>
  );
}
