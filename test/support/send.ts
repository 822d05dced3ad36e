import { Agent, request } from "node:http";
import type { Slot } from "../../src/domain/slot.ts";

export type Answer = { status: number; body: Record<string, unknown>; headers: Record<string, unknown> };

/** Kept-alive connections; as many as are used at once. */
const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/** Posts bytes to a slot. Rejects when the connection breaks before there is an answer. */
export function deliver(
  serverUrl: string,
  slot: Slot | string,
  delivery: { rawBody: Buffer; headers: Record<string, string> },
  options: { agent?: Agent; method?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${serverUrl}/api/webhooks/${slot}`,
      {
        method: options.method ?? "POST",
        agent: options.agent ?? agent,
        headers: { ...delivery.headers, "content-length": delivery.rawBody.length },
        timeout: 30_000,
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () =>
          resolve({
            status: incoming.statusCode ?? 0,
            body: JSON.parse(Buffer.concat(chunks).toString() || "{}"),
            headers: incoming.headers,
          }),
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer within 30 s")));
    outgoing.end(delivery.rawBody);
  });
}
