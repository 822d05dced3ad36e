import type { ServerResponse } from "node:http";

/**
 * Lets a document of our own be sent in place of the one with which Next.js answers an error: its body is
 * empty until scripts have run. To be called before Next.js gets the response, as it compresses what it
 * writes.
 *
 * @returns replaces the document; to be called before its headers are sent
 */
export function replaceErrorDocument(outgoing: ServerResponse, document: () => Promise<string>): () => void {
  const write = outgoing.write.bind(outgoing) as (...parts: unknown[]) => boolean;
  const end = outgoing.end.bind(outgoing) as (...parts: unknown[]) => ServerResponse;
  let isReplaced = false;
  let isEnded = false;
  outgoing.write = (...parts: unknown[]) => {
    if (!isReplaced) return write(...parts);
    callbackIn(parts)?.();
    return true;
  };
  outgoing.end = (...parts: unknown[]) => {
    if (!isReplaced) return end(...parts);
    if (isEnded) return outgoing;
    isEnded = true;
    const callback = callbackIn(parts);
    document().then(
      (text) => end(text, callback),
      () => end(callback),
    );
    return outgoing;
  };
  return () => {
    if (!isDocument(outgoing)) return;
    isReplaced = true;
    for (const name of BODY_HEADERS) outgoing.removeHeader(name);
  };
}

/** Not what scripts fetch to show a page in place of another. */
export function isDocument(outgoing: Pick<ServerResponse, "getHeader">): boolean {
  return String(outgoing.getHeader("content-type") ?? "").startsWith("text/html");
}

const BODY_HEADERS = ["content-encoding", "content-length", "etag"];

function callbackIn(parts: readonly unknown[]): (() => void) | undefined {
  const last = parts.at(-1);
  return typeof last === "function" ? (last as () => void) : undefined;
}
