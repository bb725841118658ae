const baseUrl = { runtime: 'process.env["OMNIGRAPH_URL"]' };
module.exports = { graph: { input: process.env.DOCUMENT, output: { target: "client.ts", client: "fetch", mode: "single", baseUrl } } };
