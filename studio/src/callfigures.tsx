// The calls of the last day in numbers: by hour, by tool and by actor.

import type { CallSummary, Tally } from "./api";
import { callsHref, duration } from "./calls";
import { HourBars } from "./spark";
import { Table, type Column } from "./table";
import { actorOf, Text } from "./text";

/** The number of rows of each table. */
const mostRows = 8;

export function CallFigures(props: { graph: string; summary: CallSummary }) {
  const { graph, summary } = props;
  if (summary.all.calls === 0) {
    return <p class="empty">Nobody has called the graph in the last 24 hours.</p>;
  }
  const numbers = <T extends Tally>(filter: (row: T) => Record<string, string>): Column<T>[] => [
    { name: "Calls", value: (r) => r.calls },
    {
      name: "Failed",
      value: (r) => r.failed,
      view: (r) => (r.failed > 0 ? <a class="bad" href={callsHref(graph, { ...filter(r), outcome: "failed" })}>{r.failed.toLocaleString("en")}</a> : "0"),
    },
    { name: "p99", value: (r) => duration(r.p99_micros) },
  ];
  const byTool = (r: CallSummary["tools"][number]) => ({ tool: r.tool });
  const byActor = (r: CallSummary["actors"][number]) => ({ actor: r.actor_id ?? "" });
  const { all } = summary;
  return (
    <>
      <p>
        {all.calls.toLocaleString("en")} calls, {all.failed.toLocaleString("en")} failed, {all.denied.toLocaleString("en")} of them denied by the policy. 99 of 100 took at most {duration(all.p99_micros)}.
        {!summary.complete && " Only the latest calls are counted."}
      </p>
      <HourBars hours={summary.hours} />
      <div class="lists">
        <Table
          label="Calls by tool"
          rows={summary.tools.slice(0, mostRows)}
          columns={[
            {
              name: "Tool",
              value: (r) => r.tool,
              view: (r) => (r.tool ? <a href={callsHref(graph, byTool(r))}><Text value={r.tool} most={80} plain /></a> : <span class="null">an unknown tool</span>),
            },
            ...numbers(byTool),
          ]}
        />
        <Table
          label="Calls by actor"
          rows={summary.actors.slice(0, mostRows)}
          columns={[
            {
              name: "Actor",
              value: actorOf,
              view: (r) => (r.actor_id ? <a href={callsHref(graph, byActor(r))}><Text value={actorOf(r) ?? ""} most={80} plain /></a> : <span class="null">nobody known</span>),
            },
            ...numbers(byActor),
          ]}
        />
      </div>
    </>
  );
}
