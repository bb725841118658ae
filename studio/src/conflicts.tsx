// The conflicts of a proposal, side by side, and the resolutions that the proposal stores.

import { useState } from "preact/hooks";
import { ApiError, type Image, type Type } from "./api";
import { blobsOf, ChangedValue } from "./bytes";
import { EntityLink } from "./changes";
import { endText } from "./facts";
import { Failure } from "./load";
import { choose, resolutionOf, SideFields, unchosen, valueOf, type Chosen } from "./side";
import { atBase, atSource, type Conflict, type NewResolution, type Proposal, type Resolution, type Send } from "./proposal";
import { Text } from "./text";

/** The most resolutions that the page shows. */
const mostResolutions = 100;

/** The longest text that a side of a conflict shows without a click. */
const most = 400;

interface Props {
  graph: string;
  proposal: Proposal;
  types: Type[];
  send: Send;
  busy: boolean;
}

/** Shows the conflicts without a resolution in one form, so that one request stores all chosen sides. */
export function Conflicts(props: Props) {
  const { proposal: p, types, send, busy } = props;
  const [chosen, setChosen] = useState<Chosen[]>(() => p.conflicts.map(() => unchosen));
  const [tried, setTried] = useState(false);
  const [refused, setRefused] = useState<ApiError | null>(null);
  if (p.conflicts.length === 0) {
    return p.state === "open" && p.digest !== "" ? (
      <section>
        <h2>Conflicts</h2>
        <p class="empty">No conflict waits for a resolution.</p>
      </section>
    ) : null;
  }
  const picked = chosen.filter((c) => c.take !== "").length;
  const resolvable = p.conflicts.filter((c) => c.resolvable).length;
  const editable = p.state === "open" && resolvable > 0;
  const everywhere = (take: "ours" | "theirs") => setChosen(p.conflicts.map((c) => (c.resolvable ? choose(take) : unchosen)));
  const faulty = p.conflicts.filter((conflict, i) => valueOf(types, conflict, chosen[i] ?? unchosen).fault !== undefined);
  const store = () => {
    setTried(true);
    setRefused(null);
    const resolutions: NewResolution[] = [];
    for (const [i, conflict] of p.conflicts.entries()) {
      const side = chosen[i] ?? unchosen;
      if (side.take !== "") {
        resolutions.push(resolutionOf(conflict, side, valueOf(types, conflict, side).value));
      }
    }
    if (resolutions.length > 0 && faulty.length === 0) {
      void send("", { digest: p.digest, resolutions }, resolutions.length === 1 ? "The resolution is stored." : `${resolutions.length} resolutions are stored.`, (error) =>
        setRefused(named(error, resolutions)),
      );
    }
  };
  return (
    <section>
      <h2>Conflicts</h2>
      {p.conflict_count > p.conflicts.length && (
        <p class="note">
          These are the first {p.conflicts.length} of {p.conflict_count} conflicts. The page shows the next ones when these have resolutions.
        </p>
      )}
      <form
        noValidate
        aria-label="Conflicts"
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy) {
            store();
          }
        }}
      >
        {editable && resolvable > 1 && (
          <div class="row">
            <button type="button" class="quiet" onClick={() => everywhere("ours")}>
              Choose ours everywhere
            </button>
            <button type="button" class="quiet" onClick={() => everywhere("theirs")}>
              Choose theirs everywhere
            </button>
          </div>
        )}
        {p.conflicts.map((conflict, i) => (
          <OneConflict
            key={i}
            {...props}
            index={i}
            conflict={conflict}
            chosen={chosen[i] ?? unchosen}
            tried={tried}
            onChoose={(side) => setChosen(chosen.map((old, k) => (k === i ? side : old)))}
          />
        ))}
        {editable && (
          <div class="row">
            <button type="submit" disabled={busy} aria-describedby={tried && picked === 0 ? "no-side" : undefined}>
              {picked === 0 ? "Store the resolutions" : picked === 1 ? "Store 1 resolution" : `Store ${picked} resolutions`}
            </button>
            {tried && picked === 0 && (
              <p id="no-side" class="fault" role="alert">
                Choose a side first.
              </p>
            )}
            {tried && faulty.length > 0 && <Faulty places={faulty} />}
          </div>
        )}
        {refused && <Failure error={refused} />}
      </form>
    </section>
  );
}

// Names the place in an error about a resolution, which the server names by its number in the request.
function named(error: ApiError, resolutions: NewResolution[]): ApiError {
  const message = error.message.replace(/^resolutions\[(\d+)\](\.value)?/, (text, i) => {
    const place = resolutions[Number(i)];
    return place ? placeText(place) : text;
  });
  return new ApiError(error.status, message, error.body);
}

function placeText(place: Omit<NewResolution, "take" | "value">): string {
  return [place.type_name, place.id, place.property].filter(Boolean).join(" ");
}

// Says next to the button which conflicts have a value that cannot be stored, because their fields can be far above it.
function Faulty(props: { places: Conflict[] }) {
  const { places } = props;
  return (
    <p class="fault" role="alert">
      Nothing is stored, because {places.length === 1 ? "this value is" : `${places.length} values are`} not valid:{" "}
      {places.slice(0, 5).map((place, i) => (
        <>
          {i > 0 && ", "}
          <Text value={placeText(place)} most={120} plain />
        </>
      ))}
      {places.length > 5 && " …"}
    </p>
  );
}

function OneConflict(props: Props & { index: number; conflict: Conflict; chosen: Chosen; tried: boolean; onChoose: (side: Chosen) => void }) {
  const { graph, proposal: p, types, index, conflict, chosen, tried, onChoose } = props;
  const ends = (conflict.theirs ?? conflict.ours ?? conflict.base)?.endpoints;
  const sides = { Base: conflict.base, Ours: conflict.ours, Theirs: conflict.theirs };
  const titles = { Base: "the merge base", Ours: p.target, Theirs: p.source };
  return (
    <fieldset class="conflict">
      <legend>
        <span class="badge">{conflict.kind.replaceAll("_", " ")}</span>{" "}
        <EntityLink graph={graph} types={types} place={conflict} ends={ends} query={conflict.base && !conflict.theirs ? atBase(p) : atSource(p)} />
        {conflict.property && (
          <>
            {" · "}
            <Text value={conflict.property} />
          </>
        )}
      </legend>
      <p>
        <Text value={conflict.message} />
      </p>
      {conflict.resolvable ? (
        <>
          <div class="sides">
            {(["Base", "Ours", "Theirs"] as const).map((side) => (
              <div key={side} class={"side-" + side.toLowerCase()}>
                <h3>
                  {side} <span class="kind"><Text value={titles[side]} plain /></span>
                </h3>
                <State image={sides[side]} property={conflict.property} blobs={blobsOf(types, conflict.entity_kind, conflict.type_name)} />
              </div>
            ))}
          </div>
          {p.state === "open" && <SideFields id={"side-" + index} proposal={p} types={types} place={conflict} chosen={chosen} tried={tried} onChoose={onChoose} />}
        </>
      ) : (
        <p class="hint">
          No resolution can resolve this conflict. Write to the branch <Text value={p.source} />, or merge <Text value={p.target} /> into it.
        </p>
      )}
    </fieldset>
  );
}

// Shows one state of the property or, if the property is "", of the whole entity.
function State(props: { image: Image | null; property: string; blobs: ReadonlySet<string> }) {
  const { image, property, blobs } = props;
  if (!image) {
    return <p class="null">does not exist</p>;
  }
  if (property) {
    const end = property === "from" || property === "to" ? image.endpoints?.[property] : undefined;
    return (
      <p>
        <ChangedValue blobs={blobs} name={property} value={image.properties[property] ?? (end === undefined ? null : endText(end))} most={most} />
      </p>
    );
  }
  const values = Object.entries(image.properties).filter(([, value]) => value !== null);
  return (
    <dl class="properties">
      {image.endpoints && (
        <div>
          <dt>ends</dt>
          <dd>
            <Text value={endText(image.endpoints.from)} most={most} /> → <Text value={endText(image.endpoints.to)} most={most} />
          </dd>
        </div>
      )}
      {values.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <ChangedValue blobs={blobs} name={name} value={value} most={most} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Shows the stored resolutions. While the proposal is open, each has a form that replaces it. */
export function Resolutions(props: Props) {
  const { graph, proposal: p, types } = props;
  const newest = p.resolutions.slice(-mostResolutions);
  return (
    <section>
      <h2>Resolutions</h2>
      {newest.length < p.resolutions.length && (
        <p class="note">
          These are the newest {newest.length} of {p.resolutions.length} resolutions.
        </p>
      )}
      <ul class="checks">
        {newest.map((r, i) => (
          <li key={[r.entity_kind, r.type_name, r.id, r.property].join("\n")}>
            <p>
              <EntityLink graph={graph} types={types} place={r} query={atSource(p)} />
              {r.property && (
                <>
                  {" · "}
                  <Text value={r.property} />
                </>
              )}
              : {r.take === "value" ? <ChangedValue blobs={blobsOf(types, r.entity_kind, r.type_name)} name={r.property} value={r.value} most={most} /> : r.take === "ours" ? "ours, the state on " : "theirs, the state on "}
              {r.take !== "value" && <Text value={r.take === "ours" ? p.target : p.source} />}
            </p>
            {p.state === "open" && <Replace {...props} index={i} resolution={r} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Replace(props: Props & { index: number; resolution: Resolution }) {
  const { proposal: p, types, send, busy, index, resolution } = props;
  const [chosen, setChosen] = useState<Chosen>(unchosen);
  const [tried, setTried] = useState(false);
  const [open, setOpen] = useState(false);
  const [refused, setRefused] = useState<ApiError | null>(null);
  const { value, fault } = valueOf(types, resolution, chosen);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Choose another side</summary>
      <form
        noValidate
        onSubmit={async (event) => {
          event.preventDefault();
          setTried(true);
          setRefused(null);
          const resolutions = [resolutionOf(resolution, chosen, value)];
          if (chosen.take !== "" && !fault && !busy && (await send("", { digest: p.digest, resolutions }, "The resolution is stored.", setRefused))) {
            setOpen(false);
            setChosen(unchosen);
            setTried(false);
          }
        }}
      >
        <SideFields id={"other-" + index} proposal={p} types={types} place={resolution} chosen={chosen} tried={tried} onChoose={setChosen} />
        <button type="submit" class="quiet" disabled={busy}>
          Store the resolution
        </button>
        {tried && chosen.take === "" && (
          <p class="fault" role="alert">
            Choose a side first.
          </p>
        )}
        {refused && <Failure error={refused} />}
      </form>
    </details>
  );
}
