import { createServer } from "node:http";
import { expect, it } from "vitest";
import { replaceErrorDocument } from "../../../src/runtime/pages/replace-error-document.ts";
import { sendRequest } from "../../support/http.ts";

it.each([
  ["text/html; charset=utf-8", "our document", async () => "our document"],
  ["text/x-component", "for scripts", async () => "our document"],
  // Rather than leave the browser waiting.
  ["text/html", "", () => Promise.reject(new Error("not made"))],
])("replaces only documents: %s by %j", async (contentType, sent, document) => {
  const server = createServer((_, response) => {
    const replace = replaceErrorDocument(response, document);
    response.setHeader("content-type", contentType);
    response.setHeader("content-encoding", "identity");
    replace("failed");
    response.writeHead(500);
    response.write("for ");
    response.end("scripts");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { port: number };
  const { status, text, fields } = await sendRequest(`http://127.0.0.1:${port}`, "GET", "/");
  expect([status, text]).toEqual([500, sent]);
  expect(fields["content-encoding"]).toBe(sent === "for scripts" ? "identity" : undefined);
  await new Promise((closed) => server.close(closed));
});
