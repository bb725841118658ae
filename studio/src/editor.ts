// The editor of queries: CodeMirror in a shadow root, where its style sheets are adopted, because the policy of the page allows no style
// elements. The build makes a file of its own of this module, which the browser loads when a page needs it.

import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, completionStatus, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentUnit, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { linter, lintKeymap, type Diagnostic } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, highlightSpecialChars, hoverTooltip, keymap, lineNumbers, placeholder, type Tooltip } from "@codemirror/view";
import { tags, type Tag } from "@lezer/highlight";
import grammar from "../../cmd/gq/editors/vscode/syntaxes/gq.tmLanguage.json";
import type { AssistAnswer, AssistQuery } from "./api";

export interface EditorOptions {
  text: string;
  label: string;
  assist: (ask: "diagnostics" | "completion" | "hover", text: string, position: number) => Promise<AssistAnswer>;
  onText: (text: string) => void;
  /** Gets the queries without errors after each check of the text. */
  onChecked: (queries: AssistQuery[], faulty: boolean) => void;
  onRun: () => void;
}

// The colours of the scopes of the grammar, which `gq` writes for all editors from one table. The first scope that fits counts.
const scopes: [string, string, Tag][] = [
  ["comment", "comment", tags.comment],
  ["string", "string", tags.string],
  ["constant.numeric", "number", tags.number],
  ["storage.modifier", "annotation", tags.annotation],
  ["variable.other.member", "property", tags.propertyName],
  ["variable.other", "variable", tags.variableName],
  ["support.type", "type", tags.typeName],
  ["entity.name.type", "type", tags.className],
  ["support.function", "function", tags.macroName],
  ["keyword.operator", "operator", tags.operator],
  ["keyword", "keyword", tags.keyword],
];

const rules = grammar.patterns.map((p) => ({
  token: scopes.find(([scope]) => p.name.startsWith(scope))?.[0] ?? "",
  start: new RegExp(p.match ?? p.begin ?? "", "y"),
  end: p.end === undefined ? null : new RegExp(p.end),
}));

const language = StreamLanguage.define<{ inside: (typeof rules)[number] | null }>({
  name: "gq",
  startState: () => ({ inside: null }),
  copyState: (state) => ({ ...state }),
  tokenTable: Object.fromEntries(scopes.map(([scope, , tag]) => [scope.replaceAll(".", "-"), tag])),
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } } },
  token(stream, state) {
    const begun = state.inside;
    const rule = begun ?? rules.find((r) => ((r.start.lastIndex = stream.pos), r.start.test(stream.string)));
    if (!rule) {
      // A name that no rule knows is skipped whole, so that no rule matches within it.
      if (!stream.match(/^[\w$]+/)) {
        stream.next();
      }
      return null;
    }
    if (!begun) {
      stream.pos = rule.start.lastIndex;
    }
    if (rule.end) {
      // Within a string, a backslash takes the next character with it.
      state.inside = rule;
      while (!stream.eol()) {
        if (rule.token === "string" && stream.peek() === "\\") {
          stream.next();
        } else if (stream.match(new RegExp("^(?:" + rule.end.source + ")"))) {
          state.inside = null;
          break;
        }
        stream.next();
      }
      if (rule.token === "string") {
        state.inside = null; // a string ends with its line
      }
    }
    return rule.token.replaceAll(".", "-") || null;
  },
});

// The names of colours are custom properties of the page, which reach into the shadow root.
const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--ground)", fontSize: "0.875rem", minHeight: "9rem", maxHeight: "60vh" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto", minHeight: "9rem" },
  ".cm-content": { caretColor: "var(--text)", padding: "0.6rem 0" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--soft)", border: "none" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-placeholder": { color: "var(--soft)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--line)" },
  ".cm-specialChar": { color: "var(--warn)", backgroundColor: "var(--warn-ground)" },
  ".cm-tooltip, .cm-panels": { color: "var(--text)", backgroundColor: "var(--raised)", border: "1px solid var(--line)", borderRadius: "6px", maxWidth: "min(36rem, 90vw)" },
  ".cm-tooltip-hover, .cm-completionInfo": { padding: "0.4rem 0.6rem" },
  ".cm-tooltip pre": { margin: 0, fontFamily: "var(--mono)", whiteSpace: "pre-wrap" },
  ".cm-tooltip p": { margin: "0.3rem 0 0", fontFamily: "system-ui, sans-serif" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--strong)", color: "var(--on-strong)" },
  ".cm-completionDetail": { color: "inherit", opacity: 0.85 },
  // The pictures of the library are data: URLs, which the policy of the page does not allow.
  ".cm-lintRange": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)", textUnderlineOffset: "3px" },
  ".cm-lintRange-warning, .cm-lintRange-info": { backgroundImage: "none", textDecorationColor: "var(--warn)" },
  ".cm-lintRange-error": { backgroundImage: "none" },
  ".cm-diagnosticAction": { color: "var(--on-strong)", backgroundColor: "var(--strong)", padding: "2px 8px" },
});

const colours = HighlightStyle.define(scopes.map(([, name, tag]) => ({ tag, color: `var(--token-${name})` })));

/** Shows an editor in an element that has no shadow root yet. */
export function openEditor(host: HTMLElement, options: EditorOptions) {
  const root = host.attachShadow({ mode: "open" });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        highlightSpecialChars(),
        history(),
        bracketMatching(),
        closeBrackets(),
        indentUnit.of("  "),
        language,
        syntaxHighlighting(colours),
        theme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false" }),
        placeholder("query name() { match { … } return { … } }"),
        autocompletion({ override: [(context) => complete(context, options)], icons: false }),
        EditorView.domEventHandlers({ beforeinput: replaceSelection }),
        linter((v) => check(v, options), { delay: 350 }),
        hoverTooltip((v, position) => describe(v, position, options)),
        Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => (options.onRun(), true) }])),
        // Tab takes a completion. Without a list it leaves the editor, as everywhere on the page.
        keymap.of([{ key: "Tab", run: (v) => acceptCompletion(v) || completionStatus(v.state) !== null }, ...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.updateListener.of((update) => update.docChanged && options.onText(update.state.doc.toString())),
      ],
    }),
  });
  return {
    focus: () => view.focus(),
    close: () => view.destroy(),
  };
}

// Replaces the selection by a typed text. The browser itself would write the style of the text that it deletes into an attribute, which
// the policy of the page refuses.
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { from, to, empty } = view.state.selection.main;
  const typed = event.data;
  if (empty || event.inputType !== "insertText" || typed === null || event.isComposing) {
    return false;
  }
  const insert = () => view.state.update(view.state.replaceSelection(typed), { userEvent: "input.type", scrollIntoView: true });
  if (!view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, typed, insert))) {
    view.dispatch(insert());
  }
  event.preventDefault();
  return true;
}

async function complete(context: CompletionContext, options: EditorOptions): Promise<CompletionResult | null> {
  const before = context.matchBefore(/[\w$@.:({ ]/);
  if (!context.explicit && (!before || before.text === " ")) {
    return null;
  }
  const { completion } = await options.assist("completion", context.state.doc.toString(), context.pos);
  if (!completion || context.aborted) {
    return null;
  }
  return {
    from: completion.from,
    to: Math.max(completion.to, context.pos),
    // The server lists the likely ones first; the boost keeps that order among those that fit equally.
    options: completion.items.map((item, i) => ({
      label: item.label,
      detail: item.detail,
      type: item.kind,
      boost: 99 - Math.min(i, 198),
      info: item.doc === undefined ? undefined : () => explained("", item.doc),
    })),
    validFor: /^[$\w]*$/,
  };
}

async function check(view: EditorView, options: EditorOptions): Promise<Diagnostic[]> {
  const text = view.state.doc.toString();
  if (text.trim() === "") {
    options.onChecked([], false);
    return [];
  }
  const { queries = [], diagnostics = [] } = await options.assist("diagnostics", text, 0);
  if (view.state.doc.toString() !== text) {
    return []; // the next check is on its way
  }
  options.onChecked(queries, diagnostics.some((d) => d.severity === "error"));
  return diagnostics.map((d) => ({
    from: d.from,
    to: d.to,
    severity: d.severity === "note" ? "info" : d.severity,
    message: d.message + (d.help ? "\n" + d.help : ""),
    source: d.code,
    actions: d.edits && [
      {
        name: "Fix",
        apply: (v: EditorView) => v.dispatch({ changes: d.edits?.map((e) => ({ from: e.from, to: e.to, insert: e.text })) }),
      },
    ],
  }));
}

async function describe(view: EditorView, position: number, options: EditorOptions): Promise<Tooltip | null> {
  const { hover } = await options.assist("hover", view.state.doc.toString(), position);
  return hover ? { pos: hover.from, end: hover.to, create: () => ({ dom: explained(hover.code, hover.doc) }) } : null;
}

// Returns an element with code and a text, neither of which becomes markup.
function explained(code: string, doc: string | undefined): HTMLElement {
  const box = document.createElement("div");
  for (const [name, text] of [["pre", code], ["p", doc]] as const) {
    if (text) {
      box.append(Object.assign(document.createElement(name), { textContent: text }));
    }
  }
  return box;
}
