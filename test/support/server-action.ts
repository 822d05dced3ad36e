import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type HttpResponse, type RequestOptions, sendRequest } from "./http.ts";

const MANIFEST = join(import.meta.dirname, "../../.next/server/server-reference-manifest.json");

/** An action as the pages were built with it: an endpoint by itself, whether a page shows it or not. */
export type ServerAction = {
  id: string;
  name: string;
  /** Below the project's folder. */
  file: string;
  /** Where it may be posted to, e.g. `/settings`; with the names of parameters, e.g. `/admin/users/[id]`. */
  pages: readonly string[];
};

/** Every action; the pages must be built. */
export function listServerActions(): ServerAction[] {
  const { node } = JSON.parse(readFileSync(MANIFEST, "utf8")) as { node: Record<string, Built> };
  return Object.entries(node).map(([id, { exportedName, filename, workers }]) => ({
    id,
    name: exportedName,
    file: filename,
    pages: Object.keys(workers).map(pathOf),
  }));
}

type Built = { exportedName: string; filename: string; workers: Record<string, unknown> };

/** Of `app/(account)/settings/page`. */
function pathOf(worker: string): string {
  return worker.replace(/^app|\/page$|\/\([^)]+\)/g, "") || "/";
}

/** @throws when there is none by this name */
export function findServerAction(name: string): ServerAction {
  const action = listServerActions().find((candidate) => candidate.name === name);
  if (!action) throw new Error(`there is no action ${name}`);
  return action;
}

/**
 * Sends an action's form as a script of the page does: through the endpoint that returns refusals as
 * outcomes.
 */
export function submitAction(
  serverUrl: string,
  action: Pick<ServerAction, "id" | "pages">,
  fields: Fields,
  as: ActionCall = {},
): Promise<ActionAnswer> {
  const body = new FormData();
  body.append("1", boundTo(action));
  for (const [name, value] of Object.entries(fields)) body.append(`_2_${name}`, value);
  body.append("0", JSON.stringify(["$h1", null, "$K2"]));
  return callAction(serverUrl, { id: findServerAction("submitForm").id, pages: action.pages }, body, as);
}

function boundTo({ id }: Pick<ServerAction, "id">): string {
  return JSON.stringify({ id, bound: null });
}

export type Fields = Record<string, string | Blob>;

/**
 * What a script of the page sends: React's encoding of the arguments, of which forms are parts of their own.
 */
export function encodeArguments(args: readonly (Fields | null)[]): FormData {
  const body = new FormData();
  const root = args.map((fields, n) => {
    if (fields === null) return null;
    for (const [name, value] of Object.entries(fields)) body.append(`_${n + 1}_${name}`, value);
    return `$K${(n + 1).toString(16)}`;
  });
  body.append("0", JSON.stringify(root));
  return body;
}

export type ActionAnswer = Pick<HttpResponse, "status" | "headers" | "text"> & {
  /** The redirect target; `null`: none. */
  redirect: string | null;
  /** The action's result, unless it threw an error or redirected. */
  returned: unknown;
  /** All that is shown of the thrown error. */
  thrown: { digest: string } | null;
};

export type ActionCall = Pick<RequestOptions, "cookie" | "key"> & {
  /** Where it is posted to, unless that is its own page. */
  path?: string;
  headers?: Record<string, string>;
};

/** Calls the action as a script of the page does. @param body of `encodeArguments`, or any other */
export async function callAction(
  serverUrl: string,
  { id, pages }: Pick<ServerAction, "id" | "pages">,
  body: FormData | string,
  { path = pages[0] ?? "/", headers, ...caller }: ActionCall = {},
): Promise<ActionAnswer> {
  const type = typeof body === "string" ? { "content-type": "text/plain;charset=UTF-8" } : {};
  const response = await sendRequest(serverUrl, "POST", path, {
    ...caller,
    body,
    headers: { accept: "text/x-component", "next-action": id, ...type, ...headers },
  });
  return {
    ...response,
    redirect: response.headers.get("x-action-redirect")?.replace(/;\w+$/, "") ?? null,
    ...result(response.text),
  };
}

/** Parses a stream of rows: the first one names the row of the result. */
function result(stream: string): Pick<ActionAnswer, "returned" | "thrown"> {
  const rows = new Map(
    [...stream.matchAll(/^([0-9a-f]+):(E?)(.*)$/gm)].map(([, row, failed, json = ""]) => [
      row,
      { failed: failed === "E", json },
    ]),
  );
  const at = /"a":"\$@([0-9a-f]+)"/.exec(rows.get("0")?.json ?? "")?.[1];
  const row = at === undefined ? undefined : rows.get(at);
  if (!row) return { returned: undefined, thrown: null };
  if (row.failed) return { returned: undefined, thrown: JSON.parse(row.json) };
  return { returned: plain(JSON.parse(row.json)), thrown: null };
}

/** The part of React's encoding that plain results use. */
function plain(value: unknown): unknown {
  if (value === "$undefined") return undefined;
  if (typeof value === "string") return value.replace(/^\$\$/, "$").replace(/^\$D/, "");
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
}

/** Without JavaScript: as a browser sends a rendered form. */
export function postForm(
  serverUrl: string,
  action: Pick<ServerAction, "id" | "pages">,
  fields: Fields,
  { path = action.pages[0] ?? "/", bound, headers, ...caller }: ActionCall & { bound?: string } = {},
): Promise<HttpResponse> {
  return sendRequest(serverUrl, "POST", path, {
    ...caller,
    body: formBody(action, fields, bound),
    headers: { accept: "text/html", ...headers },
  });
}

/** The request of a browser without JavaScript. */
export function formBody(
  action: Pick<ServerAction, "id" | "pages">,
  fields: Fields,
  bound?: string,
): FormData {
  const body = new FormData();
  body.append("$ACTION_REF_1", "");
  body.append("$ACTION_1:0", JSON.stringify({ id: findServerAction("submitForm").id, bound: "$@1" }));
  body.append("$ACTION_1:1", bound ?? '["$h2",null]');
  body.append("$ACTION_1:2", boundTo(action));
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return body;
}
