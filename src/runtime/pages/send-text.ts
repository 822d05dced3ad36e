import type { ServerResponse } from "node:http";

/** Responds to a request for which there is no page. */
export function sendText(outgoing: ServerResponse, status: number, sentence: string): void {
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  outgoing.statusCode = status;
  outgoing.setHeader("content-type", "text/plain; charset=utf-8");
  outgoing.setHeader("cache-control", "no-store");
  outgoing.end(`${sentence}\n`);
}
