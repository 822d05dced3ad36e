import { type Route, route } from "../../../src/api/rest/route.ts";
import { ROUTES } from "../../../src/api/rest/routes.ts";
import type { RefusalCode } from "../../../src/domain/refusals/reason-definition.ts";
import { sendMessage } from "../../../src/operations/chat/send-message.ts";
import { type HttpResponse, sendRequest } from "../../support/http.ts";
import {
  type CallOutcome,
  type Credentials,
  entranceTo,
  type Input,
  limitsIn,
  type ShownReason,
  type Surface,
} from "./surface.ts";

const CODES: Record<number, RefusalCode> = {
  400: "invalid_input",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "too_large",
  429: "rate_limited",
  503: "unavailable",
};

/** The routes of the table, and the one whose answer is a stream. */
const OFFERED: readonly Route[] = [...ROUTES, route("POST", "/chat", sendMessage)];

const entranceOf = ({ method, path }: Route) => `${method} ${path}`;

/** @param listName under which a list's entries come */
export function restSurface(version: string, listName: (route: Route) => string): Surface {
  const surface: Surface = {
    name: `REST ${version}`,
    scope: null,
    ...(version === "v1" ? { hidesReasons: true } : {}),
    entrances: OFFERED.map(entranceOf),
    leadsTo: Object.fromEntries(OFFERED.map((route) => [entranceOf(route), [route.operation.name]])),
    differs: {},
    refusesInput: () => false,
    call: async (serverUrl, operation, caller, input) => {
      const entrance = entranceTo(surface, operation);
      const route = OFFERED.find((offered) => entranceOf(offered) === entrance) as Route;
      const response = await send(serverUrl, `/api/${version}`, route, caller, input);
      return { ...outcomeOf(response, route, listName(route)), ...limitsIn(response) };
    },
  };
  return surface;
}

function send(
  serverUrl: string,
  base: string,
  { method, path }: Route,
  caller: Credentials,
  input: Input,
): Promise<HttpResponse> {
  const fields = { ...input };
  const filled = `${base}${path}`.replaceAll(/:(\w+)/g, (_, name) => {
    const value = encodeURIComponent(String(fields[name]));
    delete fields[name];
    return value;
  });
  if (method === "POST" || method === "PATCH")
    return sendRequest(serverUrl, method, filled, { ...caller, body: fields });
  const query = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  return sendRequest(serverUrl, method, query.size > 0 ? `${filled}?${query}` : filled, caller);
}

function outcomeOf(
  { status, headers, body, text }: HttpResponse,
  route: Route,
  listName: string,
): Pick<CallOutcome, "verdict" | "message" | "reason" | "output"> {
  if (status === route.status) {
    const streamed = headers.get("content-type")?.startsWith("text/event-stream");
    const output = streamed ? wordsOf(text) : route.plural === null ? body : listOf(body, listName);
    return { verdict: "ok", message: null, reason: null, output };
  }
  const verdict = CODES[status];
  if (verdict === undefined) throw new Error(`${status} ${text}`);
  const { error, ...reason } = body;
  return {
    verdict,
    message: error,
    reason: "reason" in reason ? (reason as ShownReason) : null,
    output: null,
  };
}

function listOf(body: Record<string, unknown>, listName: string) {
  const { [listName]: items, ...rest } = body;
  return { items, ...rest };
}

function wordsOf(stream: string): string {
  const events = [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, json = ""]) => JSON.parse(json));
  return events.map((event) => (event.type === "text-delta" ? event.delta : "")).join("");
}
