import { createServer, type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";

type App = Pick<Hono, "fetch">;

/** An app behind real HTTP, on a free port. */
// biome-ignore lint/suspicious/noExplicitAny: whatever environment the app has
export async function listening(app: { fetch: any }): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(getRequestListener((app as App).fetch, { hostname: "localhost" }));
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

export type Asked = { status: number; headers: IncomingHttpHeaders; body: string };

/** Sends a path as it is written: `fetch` would tidy it up first. */
export function ask(
  url: string,
  path: string,
  options: { method?: string; headers?: Record<string, string | string[]>; body?: Buffer | string } = {},
): Promise<Asked> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { hostname, port, path, method: options.method ?? "GET", headers: options.headers, timeout: 10_000 },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer within 10 s")));
    outgoing.end(options.body);
  });
}
