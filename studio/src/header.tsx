// The part of the header that says who the user is, and on a click what the user may do.

import { useEffect, useRef, useState } from "preact/hooks";
import { actorOf } from "./api";
import { useLoad } from "./load";
import { RightsList } from "./rights";
import { url } from "./route";
import { forget, token } from "./session";
import { Text } from "./text";

/** Shows who the user is. On a graph, a click shows what the user may do there. */
export function Me(props: { graph: string }) {
  const { graph } = props;
  const actor = useLoad("actor", (signal) => actorOf(token.value, signal));
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const here = url.value.href;
  useEffect(() => setOpen(false), [here]);
  useEffect(() => {
    if (!open) {
      return;
    }
    const outside = (event: Event) => event.target instanceof Node && !place.current?.contains(event.target) && setOpen(false);
    const escape = (event: KeyboardEvent) => {
      if (event.key === "Escape") {
        setOpen(false);
        place.current?.querySelector("button")?.focus();
      }
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("focusin", outside);
    document.addEventListener("keydown", escape);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("focusin", outside);
      document.removeEventListener("keydown", escape);
    };
  }, [open]);
  // A server that is older than the studio in the browser does not say who the user is.
  const name = actor.state === "done" ? <Text value={actor.value} most={80} plain /> : actor.state === "failed" ? "unknown actor" : "…";
  return (
    <div class="me" ref={place}>
      {graph ? (
        <button type="button" class="quiet" aria-expanded={open} title="What you may do" onClick={() => setOpen(!open)}>
          <span class="actor">
            <span class="wide">logged in as </span>
            {name}
          </span>
        </button>
      ) : (
        <span class="actor">logged in as {name}</span>
      )}
      {open && (
        <div class="rights-panel" role="region" aria-label="What you may do">
          <p>
            Logged in as <strong>{name}</strong>
          </p>
          <RightsList graph={graph} />
        </div>
      )}
      <button type="button" class="quiet" onClick={forget}>
        Log out
      </button>
    </div>
  );
}
