// A client of `gq lsp` for the tests: the protocol of VS Code over standard input and output.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import lsp from "vscode-languageserver-protocol/node";

export const { DiagnosticSeverity } = lsp;

export class Editor {
  // start starts a server for a folder.
  static async start(gq, dir, options = {}) {
    const e = new Editor();
    e.dir = dir;
    e.process = spawn(gq, ["lsp"], { cwd: dir, stdio: ["pipe", "pipe", "inherit"] });
    e.exited = new Promise((resolve) => e.process.on("exit", resolve));
    e.connection = lsp.createProtocolConnection(
      new lsp.StreamMessageReader(e.process.stdout),
      new lsp.StreamMessageWriter(e.process.stdin),
    );
    e.logs = [];
    e.published = new Map();
    e.waiting = [];
    e.connection.onNotification("window/logMessage", (p) => e.logs.push(p.message));
    e.connection.onNotification("textDocument/publishDiagnostics", (p) => {
      e.published.set(p.uri, p);
      e.waiting = e.waiting.filter((w) => !w(p));
    });
    e.connection.onRequest("client/registerCapability", () => null);
    e.refreshes = 0;
    for (const what of ["codeLens", "inlayHint"]) {
      e.connection.onRequest(`workspace/${what}/refresh`, () => {
        e.refreshes++;
        return null;
      });
    }
    e.connection.listen();
    e.initialized = await e.connection.sendRequest("initialize", {
      processId: process.pid,
      rootUri: pathToFileURL(dir).href,
      initializationOptions: options,
      capabilities: {
        workspace: {
          didChangeWatchedFiles: { dynamicRegistration: true },
          codeLens: { refreshSupport: true },
          inlayHint: { refreshSupport: true },
        },
        textDocument: { publishDiagnostics: { versionSupport: true } },
      },
    });
    await e.connection.sendNotification("initialized", {});
    return e;
  }

  uri(name) {
    return pathToFileURL(join(this.dir, name)).href;
  }

  // open opens a file with its text on the disk, or with another text.
  async open(name, text = readFileSync(join(this.dir, name), "utf8")) {
    const doc = new Doc(this, name, text);
    await this.connection.sendNotification("textDocument/didOpen", {
      textDocument: { uri: doc.uri, languageId: name.split(".").pop(), version: doc.version, text },
    });
    return doc;
  }

  // diagnostics waits for diagnostics of a file that fulfil a condition.
  diagnostics(name, until = () => true, ms = 20000) {
    const uri = this.uri(name);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`no such diagnostics of ${name}; the last were ${JSON.stringify(this.published.get(uri)).slice(0, 2000)}`));
      }, ms);
      const look = (p) => {
        if (p.uri !== uri || !until(p.diagnostics, p)) return false;
        clearTimeout(timer);
        resolve(p.diagnostics);
        return true;
      };
      this.waiting.push(look);
    });
  }

  // settled waits until the server has checked whole graphs after what came before.
  async settled(ms = 20000) {
    const before = this.refreshes;
    const end = Date.now() + ms;
    while (this.refreshes < before + 2) {
      if (Date.now() > end) throw new Error("the server did not check the graphs within the time");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop() {
    await this.connection.sendRequest("shutdown");
    await this.connection.sendNotification("exit");
    return this.exited;
  }
}

export class Doc {
  constructor(editor, name, text) {
    Object.assign(this, { editor, name, text, version: 1, uri: editor.uri(name) });
  }

  // at returns the position of the nth occurrence of a text, plus a number of UTF-16 code units.
  at(text, plus = 0, nth = 1) {
    let index = -1;
    for (let i = 0; i < nth; i++) {
      index = this.text.indexOf(text, index + 1);
      if (index < 0) throw new Error(`${this.name} does not have ${text} ${nth} times`);
    }
    return this.position(index + plus);
  }

  position(index) {
    const lines = this.text.slice(0, index).split("\n");
    return { line: lines.length - 1, character: lines[lines.length - 1].length };
  }

  index({ line, character }) {
    return this.text.split("\n").slice(0, line).reduce((sum, l) => sum + l.length + 1, 0) + character;
  }

  // change replaces the text between two indexes.
  async change(from, to, text) {
    const range = { start: this.position(from), end: this.position(to) };
    this.text = this.text.slice(0, from) + text + this.text.slice(to);
    this.version++;
    await this.editor.connection.sendNotification("textDocument/didChange", {
      textDocument: { uri: this.uri, version: this.version },
      contentChanges: [{ range, text }],
    });
  }

  // replace replaces the first occurrence of a text.
  async replace(old, text) {
    const from = this.text.indexOf(old);
    if (from < 0) throw new Error(`${this.name} does not have ${old}`);
    await this.change(from, from + old.length, text);
  }

  request(method, params = {}) {
    return this.editor.connection.sendRequest(`textDocument/${method}`, { textDocument: { uri: this.uri }, ...params });
  }

  // slice returns the text of a range.
  slice(range) {
    return this.text.slice(this.index(range.start), this.index(range.end));
  }

  // applied returns the text after edits.
  applied(edits) {
    let text = this.text;
    for (const e of [...edits].sort((a, b) => this.index(b.range.start) - this.index(a.range.start))) {
      text = text.slice(0, this.index(e.range.start)) + e.newText + text.slice(this.index(e.range.end));
    }
    return text;
  }
}
