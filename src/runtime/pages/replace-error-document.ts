import type { ServerResponse } from "node:http";
import type { ErrorDocumentCause } from "./error-document.ts";

/**
 * Lets a document of our own be sent in place of the one with which Next.js answers an error: its body is
 * empty until scripts have run. To be called before Next.js gets the response, as it compresses what it
 * writes.
 *
 * @returns replaces the document; to be called before its headers are sent
 */
export function replaceErrorDocument(
  outgoing: ServerResponse,
  document: (cause: ErrorDocumentCause) => Promise<string>,
): (cause: ErrorDocumentCause) => void {
  const write = outgoing.write.bind(outgoing) as (...parts: unknown[]) => boolean;
  const end = outgoing.end.bind(outgoing) as (...parts: unknown[]) => ServerResponse;
  let replacedFor: ErrorDocumentCause | null = null;
  let isEnded = false;
  outgoing.write = (...parts: unknown[]) => {
    if (replacedFor === null) return write(...parts);
    callbackIn(parts)?.();
    return true;
  };
  outgoing.end = (...parts: unknown[]) => {
    if (replacedFor === null) return end(...parts);
    if (isEnded) return outgoing;
    isEnded = true;
    const callback = callbackIn(parts);
    document(replacedFor).then(
      (text) => end(text, callback),
      () => end(callback),
    );
    return outgoing;
  };
  return (cause) => {
    if (!isDocument(outgoing)) return;
    replacedFor = cause;
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
