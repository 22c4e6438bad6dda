// What another client than Python's does with the server: lists the tools, reads a program, starts a diagnosis
// and waits for it with one call that reports progress. Prints what came back as one JSON object.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, program] = process.argv.slice(2);
const transport = new StdioClientTransport({ command, args: ["mcp", "--allow-run"], env: process.env });
const client = new Client({ name: "npm-client", version: "1" });
await client.connect(transport);

const textOf = (answer) => answer.content.map((part) => part.text ?? "").join("\n");
const { tools } = await client.listTools();
const linted = await client.callTool({ name: "lint", arguments: { program } });
const started = JSON.parse(textOf(await client.callTool({ name: "diagnose", arguments: { program } })));
const reports = [];
const ended = await client.callTool(
  { name: "result", arguments: { id: started.id, wait_s: 600 } },
  undefined,
  {
    timeout: 600_000,
    onprogress: (report) => reports.push(report.message ?? ""),
    resetTimeoutOnProgress: true,
  },
);
const refused = await client.callTool({ name: "apply", arguments: { id: started.id } });
console.log(JSON.stringify({
  tools: tools.map((tool) => tool.name),
  linted: textOf(linted),
  ended: textOf(ended),
  refused: textOf(refused),
  refusedIsError: refused.isError === true,
  reports,
}));
await client.close();
