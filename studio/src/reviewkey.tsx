// Makes a review key: with it the user decides about proposals where an agent works, over the connection of the agent.

import { useState } from "preact/hooks";
import { ApiError, pathOf, post } from "./api";
import { Failure } from "./load";
import { Moment } from "./text";

export function ReviewKey(props: { graph: string }) {
  const { graph } = props;
  const [key, setKey] = useState<{ review_key: string; expires_at: number } | null>(null);
  const [fault, setFault] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const make = async () => {
    setBusy(true);
    setFault(null);
    try {
      setKey(await post(pathOf(graph, "/review-keys"), {}));
    } catch (error) {
      setFault(error instanceof ApiError ? error : new ApiError(0, String(error)));
    }
    setBusy(false);
  };
  return (
    <details class="kept">
      <summary>Review where an agent works</summary>
      <p class="hint">
        A client that shows apps shows this proposal in a conversation with an agent. To decide there, type a review key. The agent does not have it; give it to nobody. It is good for
        12 hours, and ends when the server does.
      </p>
      {key ? (
        <p class="note" role="status">
          <code>{key.review_key}</code> until <Moment micros={key.expires_at} />. The studio does not show it again.
        </p>
      ) : (
        <button type="button" class="quiet" disabled={busy} onClick={() => void make()}>
          Make a review key
        </button>
      )}
      {fault && <Failure error={fault} />}
    </details>
  );
}
