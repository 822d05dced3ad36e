import { type HttpResponse, type RequestOptions, sendRequest } from "../../../support/http.ts";

export type Answer = HttpResponse;
export type Attack = RequestOptions;

/** @param request method and path, which is sent exactly as written, such as `GET /api//users?x=%00` */
export function send(serverUrl: string, request: string, attack: Attack = {}): Promise<Answer> {
  const space = request.indexOf(" ");
  return sendRequest(serverUrl, request.slice(0, space), request.slice(space + 1), attack);
}

/** What tells two responses apart: everything but request id and time. */
export function responseText({ status, fields, text }: Answer) {
  const { "x-request-id": _, date: __, ...rest } = fields;
  return { status, headers: rest, text };
}
