import type { IncomingMessage } from "node:http";

/** Larger than allowed: noticed as soon as it is, not after the rest has come in. */
export class BodyTooLarge extends Error {
  override name = "BodyTooLarge";
}

/** The client went away before its body was complete; there is nobody to answer. */
export class BodyAborted extends Error {
  override name = "BodyAborted";
}

/** The raw bytes of a request, as they were signed. @throws BodyTooLarge, BodyAborted */
export function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Gone before we came to read: nothing more would ever be said of it.
    if (incoming.destroyed && !incoming.complete) {
      reject(new BodyAborted());
      return;
    }
    if (Number(incoming.headers["content-length"] ?? 0) > maxBytes) {
      reject(new BodyTooLarge());
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        // Not read any further, but not cut off either: a client that sends before it reads would never see why.
        incoming.removeAllListeners("data").resume();
        reject(new BodyTooLarge());
        return;
      }
      chunks.push(chunk);
    });
    incoming.once("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    incoming.once("error", () => reject(new BodyAborted()));
    incoming.once("close", () => {
      if (!incoming.complete) reject(new BodyAborted());
    });
  });
}
