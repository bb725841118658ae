// Loading: a hook that runs a request for each new key, and a component that shows the state of the
// request.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "./api";
import { token } from "./session";
import { Text } from "./text";

export type Loaded<T> = { state: "loading" } | { state: "done"; value: T } | { state: "failed"; error: ApiError };

/**
 * Runs the request when the component appears, and again when the key or the token changes. It cancels
 * requests whose answers the component no longer needs. If the key is null, it runs no request.
 */
export function useLoad<T>(key: string | null, request: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const whole = key === null ? null : token.value + "\n" + key;
  const [loaded, setLoaded] = useState<{ key: string | null; result: Loaded<T> }>({ key: null, result: { state: "loading" } });
  useEffect(() => {
    if (whole === null) {
      return;
    }
    const abort = new AbortController();
    request(abort.signal).then(
      (value) => setLoaded({ key: whole, result: { state: "done", value } }),
      (error: unknown) => {
        if (!abort.signal.aborted) {
          setLoaded({ key: whole, result: { state: "failed", error: error instanceof ApiError ? error : new ApiError(0, String(error)) } });
        }
      },
    );
    return () => abort.abort();
  }, [whole]);
  return loaded.key === whole ? loaded.result : { state: "loading" };
}

/** Counts up every `pulse` milliseconds while `live` is true and the page is in view. */
export function useBeat(live: boolean, pulse: number): number {
  const [beat, setBeat] = useState(0);
  useEffect(() => {
    if (!live) {
      return;
    }
    const timer = setInterval(() => document.visibilityState === "visible" && setBeat((n) => n + 1), pulse);
    return () => clearInterval(timer);
  }, [live, pulse]);
  return beat;
}

/**
 * Shows the value that a request loaded, or that it is still loading, or why it failed. Without a value,
 * it shows the heading, for a page whose own heading depends on the value.
 */
export function Show<T>(props: { of: Loaded<T>; heading?: string; children: (value: T) => ComponentChildren }) {
  const { of, heading } = props;
  if (of.state === "done") {
    return <>{props.children(of.value)}</>;
  }
  return (
    <>
      {heading && <h1>{heading}</h1>}
      {of.state === "failed" ? (
        <Failure error={of.error} />
      ) : (
        <p class="loading" role="status">
          Loading…
        </p>
      )}
    </>
  );
}

/** Says why a request failed. */
export function Failure(props: { error: ApiError }) {
  const { status, message, body } = props.error;
  const faults = Array.isArray(body.diagnostics) ? body.diagnostics : [];
  return (
    <div class="failure" role="alert">
      <strong>{status === 403 ? "Not allowed" : status === 404 ? "Not found" : "This did not work"}</strong>
      <p>
        <Text value={message} />
      </p>
      {faults.map((fault) => (
        <p>
          <Text value={String((fault as Record<string, unknown>).message ?? "")} />
        </p>
      ))}
    </div>
  );
}
