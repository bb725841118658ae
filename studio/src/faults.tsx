// The faults of the last save, which a server that gq dev started tells.

import { useEffect, useState } from "preact/hooks";
import { get } from "./api";
import { useBeat, useLoad } from "./load";
import { loadServer } from "./oidc";
import { Text } from "./text";

/** The time between two looks at the faults, in milliseconds. */
const pulse = 1000;

interface Fault {
  file?: string;
  line?: number;
  column?: number;
  message: string;
  help?: string;
}

/** Shows why the last save was not applied, until another save is. Shows nothing unless gq dev started the server. */
export function Faults() {
  const server = useLoad("server", loadServer);
  const dev = server.state === "done" && server.value.dev === true;
  const beat = useBeat(dev, pulse);
  const [faults, setFaults] = useState<Fault[]>([]);
  useEffect(() => {
    if (dev) {
      // If the server does not answer, the pages say so.
      get<{ faults: Fault[] }>("/studio/faults.json").then((answer) => setFaults(answer.faults), () => undefined);
    }
  }, [dev, beat]);
  if (faults.length === 0) {
    return null;
  }
  return (
    <div class="failure faults" role="alert">
      <strong>The last save was not applied. The server still serves what was saved before.</strong>
      <ul>
        {faults.map((fault) => (
          <li>
            {fault.file && (
              <code>
                <Text value={`${fault.file}:${fault.line}:${fault.column}`} plain />
              </code>
            )}{" "}
            <Text value={fault.message} />
            {fault.help && (
              <>
                {" "}
                (<Text value={fault.help} />)
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
