// Values of the type Blob: bytes, of which a page shows only how many there are. The user can save them as a file.

import { useState } from "preact/hooks";
import { ApiError, getBytes, pathOf, type Type } from "./api";
import { targetParameters } from "./route";
import { inTurn } from "./limit";
import { Failure, useLoad } from "./load";
import { save, Value } from "./table";
import type { Json } from "./json";

const mediaType = "application/octet-stream";

/** Shows a Blob of a node in the state of the graph that the page shows. */
export function StoredBytes(props: { graph: string; type: string; id: string; property: string }) {
  const { graph, type, id, property } = props;
  const path = pathOf(graph, "/blob", { entity: "node", type, id, property, ...targetParameters() });
  // One byte is enough to learn the length. A null is answered as a value that does not exist.
  const length = useLoad("blob " + path, (signal) => inTurn(signal, () => lengthOf(path, signal)));
  const [fault, setFault] = useState<ApiError | null>(null);
  if (length.state === "loading") {
    return (
      <span class="loading" role="status">
        Loading…
      </span>
    );
  }
  if (length.state === "failed") {
    return <Failure error={length.error} />;
  }
  if (length.value === null) {
    return <Value value={null} />;
  }
  const download = async () => {
    setFault(null);
    try {
      save(fileOf(id, property), await (await getBytes(path)).blob());
    } catch (error) {
      setFault(error instanceof ApiError ? error : new ApiError(0, String(error)));
    }
  };
  return (
    <>
      <Bytes length={length.value} name={property} onDownload={() => void download()} />
      {fault && <Failure error={fault} />}
    </>
  );
}

// Returns the length of a Blob, or null if the property has no value.
async function lengthOf(path: string, signal: AbortSignal): Promise<number | null> {
  try {
    const response = await getBytes(path, { Range: "bytes=0-0" }, signal);
    const range = response.headers.get("Content-Range"); // such as "bytes 0-0/1234"; an empty Blob has no range
    return range === null ? (await response.arrayBuffer()).byteLength : Number(range.split("/")[1]);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) {
      return null;
    }
    throw error;
  }
}

/** Returns the names of the properties of a type that are Blobs. */
export function blobsOf(types: Type[], kind: "node" | "edge", name: string): ReadonlySet<string> {
  const type = types.find((t) => t.kind === kind && t.name === name);
  return new Set(type?.properties.filter((p) => p.kind === "Blob").map((p) => p.name));
}

/** Shows a value of a change: like Value, but of a Blob, which the server sends in base64, only the number of bytes. */
export function ChangedValue(props: { blobs: ReadonlySet<string>; name: string; value: Json; most: number }) {
  const { blobs, name, value, most } = props;
  if (!blobs.has(name) || typeof value !== "string") {
    return <Value value={value} most={most} />;
  }
  const bytes = () => Uint8Array.from(atob(value), (c) => c.charCodeAt(0));
  const padding = value.endsWith("==") ? 2 : value.endsWith("=") ? 1 : 0;
  return <Bytes length={(value.length / 4) * 3 - padding} name={name} onDownload={() => save(fileOf(name), new Blob([bytes()], { type: mediaType }))} />;
}

function Bytes(props: { length: number; name: string; onDownload: () => void }) {
  return (
    <span class="bytes">
      {props.length.toLocaleString("en")} {props.length === 1 ? "byte" : "bytes"}{" "}
      <button type="button" class="quiet" aria-label={"Download " + props.name} onClick={props.onDownload}>
        Download
      </button>
    </span>
  );
}

function fileOf(...parts: string[]): string {
  return parts.join("-").slice(-100);
}
