import { Agent, type IncomingMessage, request } from "node:http";
import type { SignedDelivery } from "./corruption.ts";

/** The response; `lost` when the connection broke before it arrived. */
export type WebhookResponse = { tookMs: number } & (
  | { status: number; body: Record<string, unknown> }
  | { status: "lost"; reason: string }
);

export type Sender = {
  /** Posts a delivery to a path of the server, or to any URL. Never throws. */
  post(path: string, delivery: SignedDelivery): Promise<WebhookResponse>;
  close(): void;
};

const RESPONSE_TIMEOUT_MS = 30_000;

/** Posts over connections that are kept alive, as many as are used at once. */
export function openSender(serverUrl: string, answerWithinMs = RESPONSE_TIMEOUT_MS): Sender {
  const agent = new Agent({ keepAlive: true });
  return {
    post: async (path, delivery) => {
      const startedAt = performance.now();
      try {
        const { status, text } = await exchange(agent, new URL(path, serverUrl), delivery, answerWithinMs);
        return { tookMs: performance.now() - startedAt, status, body: parseResponse(text) };
      } catch (error) {
        const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
        return { tookMs: performance.now() - startedAt, status: "lost", reason };
      }
    },
    close: () => agent.destroy(),
  };
}

type Exchanged = { status: number; text: string };

function exchange(
  agent: Agent,
  url: URL,
  delivery: SignedDelivery,
  answerWithinMs: number,
): Promise<Exchanged> {
  const { rawBody, headers } = delivery;
  return new Promise<Exchanged>((resolve, reject) => {
    const options = { method: "POST", agent, headers: { ...headers, "content-length": rawBody.length } };
    const outgoing = request(url, options, (incoming: IncomingMessage) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () =>
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
    });
    outgoing.setTimeout(answerWithinMs, () => outgoing.destroy(new Error("timed out")));
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      // The receiver closed an idle connection before it saw the request: no failed delivery, but one on
      // another connection.
      if (outgoing.reusedSocket && error.code === "ECONNRESET")
        resolve(exchange(agent, url, delivery, answerWithinMs));
      else reject(error);
    });
    outgoing.end(rawBody);
  });
}

function parseResponse(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
