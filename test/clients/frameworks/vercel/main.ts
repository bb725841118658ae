// The program for Vercel AI, with a scripted model.
import assert from "node:assert/strict";
import { MockLanguageModelV4 } from "ai/test";
import { ask } from "./guide.js";

// A call of a tool, and what its result must contain.
type Step = { tool: string; args: Record<string, unknown>; finds: string[] };

const slug = process.env["SLUG"] ?? "";
const decision = { slug, title: "Remind late payers", reason: "Half pay then.", by: "mei", document: "late-payments" };

// A read, a write, and calls that fail: the server's error must reach the model as a text.
const writer: Step[] = [
  { tool: "who_knows", args: { params: { words: "invoice" } }, finds: ["Mei Tanaka"] },
  { tool: "record_decision", args: { params: decision }, finds: ['"affected_nodes":1'] },
  { tool: "record_decision", args: { params: decision }, finds: ["exists already"] },
  { tool: "graph_query", args: { query: "query q() { match { $p: Persn } return { $p.name } }" }, finds: ["Persn", "did you mean Person?"] },
  { tool: "why", args: { params: { slug }, branch: "draft-7" }, finds: ["draft-7"] },
  { tool: "why", args: { params: { slug } }, finds: ["Half pay then.", "late-payments"] },
];
const reader: Step[] = [{ tool: "decisions_of", args: { params: { handle: "mei" } }, finds: [slug] }];

// scripted returns a model that makes the calls of steps one by one, and checks the result of each.
function scripted(steps: Step[], writes: boolean): MockLanguageModelV4 {
  let said = 0;
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt, tools = [] }) => {
      const names = tools.map((tool) => tool.name);
      assert.equal(names.includes("record_decision"), writes, names.join());
      const last = prompt.at(-1);
      for (const text of steps[said - 1]?.finds ?? []) {
        assert.ok(last?.role === "tool", `a result, not ${last?.role}`);
        const [part] = last.content;
        assert.ok(part?.type === "tool-result");
        const given = "value" in part.output ? part.output.value : "";
        const result = Array.isArray(given) ? given.map((piece) => ("text" in piece ? piece.text : "")).join() : JSON.stringify(given);
        assert.ok(result.includes(text), `${JSON.stringify(steps[said - 1])} has the result ${result}`);
      }
      const step = steps[said++];
      const none = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 };
      return {
        content: step
          ? [{ type: "tool-call", toolCallId: `call-${said}`, toolName: step.tool, input: JSON.stringify(step.args) }]
          : [{ type: "text", text: `I called ${steps.length} tools.` }],
        finishReason: { unified: step ? "tool-calls" : "stop", raw: undefined },
        usage: { inputTokens: none, outputTokens: { total: 0, text: 0, reasoning: 0 } },
        warnings: [],
      };
    },
  });
}

for (const [token, steps, writes] of [[process.env["OMNIGRAPH_TOKEN"], writer, true], [process.env["READER_TOKEN"], reader, false]] as const) {
  process.env["OMNIGRAPH_TOKEN"] = token ?? "";
  assert.equal(await ask(scripted(steps, writes), "What do we know?"), `I called ${steps.length} tools.`);
}
process.env["OMNIGRAPH_TOKEN"] = "nobody";
await assert.rejects(ask(scripted([], false), "What do we know?"), (error) => {
  console.log(`an unknown token: ${error}`);
  return true;
});
console.log(`Vercel AI: ${writer.length + reader.length} calls answered`);
