module.exports = { graph: { input: process.env.DOCUMENT, output: { target: "client.ts", client: "fetch", mode: "single" } } };
