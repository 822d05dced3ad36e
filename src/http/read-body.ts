import type { IncomingMessage } from "node:http";
import { refuse } from "../domain/refusals/refusal.ts";
import { BodyBudget } from "./body-budget.ts";
import { refuseBody } from "./refuse-body.ts";

/** The body exceeds the limit; thrown before the rest has arrived. */
export class BodyTooLarge extends Error {
  override name = "BodyTooLarge";
}

/** The client disconnected before its body was complete; no response can be sent. */
export class BodyAborted extends Error {
  override name = "BodyAborted";
}

/** Abandoned: bodies that are still arriving take too much memory. */
export class BodyAbandoned extends Error {
  override name = "BodyAbandoned";
}

/** For the whole process. A single body may be as large as the maximum of `WEBHOOK_MAX_BYTES`. */
const budget = new BodyBudget(64 * 1024 * 1024);

/** The raw bytes of a request, as signed. @throws BodyTooLarge, BodyAborted, BodyAbandoned */
export function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Already disconnected: no event would report it any more, even if the whole body has arrived.
    if (incoming.destroyed) {
      reject(new BodyAborted());
      return;
    }
    if (Number(incoming.headers["content-length"] ?? 0) > maxBytes) {
      reject(new BodyTooLarge());
      return;
    }
    let chunks: Buffer[] = [];
    let bytes = 0;
    const fail = (error: Error) => {
      budget.release(reader);
      chunks = [];
      // Discarded, not cut off: a client that sends before it reads would never see the response.
      incoming.removeAllListeners("data").resume();
      reject(error);
    };
    const reader = { abandon: () => fail(new BodyAbandoned()) };
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        fail(new BodyTooLarge());
        return;
      }
      chunks.push(chunk);
      // A body that arrives in one chunk is complete before it could be counted.
      if (bytes !== Number(incoming.headers["content-length"])) budget.add(reader, chunk.length);
    });
    incoming.once("end", () => {
      budget.release(reader);
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    incoming.once("error", () => fail(new BodyAborted()));
    incoming.once("close", () => {
      if (!incoming.complete) fail(new BodyAborted());
    });
  });
}

/**
 * Counts a body that others read, such as Next.js, with those that are read here. Abandoned, its connection is closed:
 * the reader would wait for the rest.
 */
export function countBody(incoming: IncomingMessage, counted: BodyBudget = budget): void {
  if (incoming.destroyed) return;
  const reader = { abandon: () => incoming.socket.destroy() };
  const release = () => counted.release(reader);
  // Of a request that has waited behind another one on its connection, parts have arrived.
  if (incoming.readableLength > 0) counted.add(reader, incoming.readableLength);
  const { push } = incoming;
  // What Node calls with each part. A listener would start the stream before its reader is there.
  incoming.push = (chunk: Buffer | null) => {
    if (chunk !== null && !incoming.destroyed) counted.add(reader, chunk.length);
    return push.call(incoming, chunk);
  };
  incoming.once("end", release).once("close", release);
}

/** The same, throwing refusals. @throws Refusal `too_large`, `invalid_input`, `unavailable` */
export async function readBodyOrRefuse(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  try {
    return await readBody(incoming, maxBytes);
  } catch (error) {
    if (error instanceof BodyTooLarge) refuse({ reason: "payload_too_large", params: { maxBytes } });
    if (error instanceof BodyAborted) refuseBody("a complete body");
    if (error instanceof BodyAbandoned) refuse({ reason: "unavailable" });
    throw error;
  }
}
