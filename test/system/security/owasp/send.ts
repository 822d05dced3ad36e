import type { IncomingHttpHeaders } from "node:http";
import { ask } from "../../../support/ask.ts";

export type Answer = {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Parsed when it says that it is JSON, else `undefined`. */
  // biome-ignore lint/suspicious/noExplicitAny: each attack knows what it asked for
  body: any;
};

export type Attack = {
  cookie?: string;
  /** An API key, as a bearer token. */
  key?: string;
  headers?: Record<string, string | string[]>;
  /** Sent as JSON, unless it is text or bytes already. */
  body?: unknown;
};

/** @param request method and path, which goes out exactly as it is written, such as `GET /api//users?x=%00` */
export async function send(serverUrl: string, request: string, attack: Attack = {}): Promise<Answer> {
  const { cookie, key, headers = {}, body } = attack;
  const space = request.indexOf(" ");
  const bytes =
    body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const answer = await ask(serverUrl, request.slice(space + 1), {
    method: request.slice(0, space),
    headers: {
      // The length is said outright: of a GET, Node would not.
      ...(bytes === undefined
        ? {}
        : { "content-type": "application/json", "content-length": `${Buffer.byteLength(bytes)}` }),
      ...(cookie === undefined ? {} : { cookie }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(bytes === undefined ? {} : { body: bytes }),
  });
  const isJson = answer.headers["content-type"]?.startsWith("application/json") && answer.body !== "";
  return {
    status: answer.status,
    headers: answer.headers,
    text: answer.body,
    body: isJson ? JSON.parse(answer.body) : undefined,
  };
}

/** What of an answer tells requests apart that are to be answered alike: all but its id and the time. */
export function told({ status, headers, text }: Answer) {
  const { "x-request-id": _, date: __, ...rest } = headers;
  return { status, headers: rest, text };
}
