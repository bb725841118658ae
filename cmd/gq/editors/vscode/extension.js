// The extension starts `gq lsp`, which implements every feature.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async () => {
  const settings = workspace.getConfiguration("omnigraph.gq");
  client = new LanguageClient(
    "omnigraph-gq",
    "Omnigraph GQ",
    { command: settings.get("path"), args: ["lsp"] },
    {
      documentSelector: [
        { scheme: "file", language: "gq" },
        { scheme: "file", language: "pg" },
        { scheme: "file", pattern: "**/cluster.yaml" },
        { scheme: "file", pattern: "**/gq.yaml" },
      ],
      initializationOptions: { against: settings.get("against") },
    },
  );
  await client.start();
};

exports.deactivate = () => client?.stop();
