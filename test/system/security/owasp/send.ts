import { type HttpResponse, type RequestOptions, sendRequest } from "../../../support/http.ts";
import { openRawConnection } from "../../../support/raw-connection.ts";

export type Answer = HttpResponse;
export type Attack = RequestOptions;

/** @param request method and path, which is sent exactly as written, such as `GET /api//users?x=%00` */
export function send(serverUrl: string, request: string, attack: Attack = {}): Promise<Answer> {
  const space = request.indexOf(" ");
  return sendRequest(serverUrl, request.slice(0, space), request.slice(space + 1), attack);
}

/** The parts of a response to compare: everything but request id and time. */
export function responseText({ status, fields, text }: Answer) {
  const { "x-request-id": _, date: __, ...rest } = fields;
  return { status, headers: rest, text };
}

/** The complete response to these bytes, after which nothing follows. */
export function answerTo(serverUrl: string, bytes: string | Buffer): Promise<string> {
  const { socket, closed } = openRawConnection(serverUrl, bytes);
  // The server closes once it has answered what it got; a connection that stays open fails the test by its
  // timeout.
  socket.once("connect", () => socket.end());
  return closed;
}
