import { openApiDocument } from "../../src/api/openapi/document.ts";
import { SYSTEM_PATHS } from "../../src/api/openapi/system-paths.ts";
import { ROUTES } from "../../src/api/rest/routes.ts";
import { resumeAnswer } from "../../src/operations/chat/resume-answer.ts";
import { sendMessage } from "../../src/operations/chat/send-message.ts";
import { streamEvents } from "../../src/operations/events/stream-events.ts";
import type { AccessLevel } from "../../src/operations/operation.ts";
import { code, table } from "./table.ts";

const CALLERS: Record<AccessLevel, string> = {
  anyone: "anyone",
  person: "signed in, or an API key",
  session: "signed in",
  admin: "administrator",
  operator: "operator",
  service: "service key",
};

type Gate = Pick<(typeof ROUTES)[number]["operation"], "access" | "permission" | "limit">;

/** Operations that answer with a stream, outside the table of routes. */
const STREAMS: Record<string, Gate> = {
  "/chat": sendMessage,
  "/chat/{id}/stream": resumeAnswer,
  "/events/stream": streamEvents,
};

const OTHER_CALLERS: Record<string, string> = {
  "/cron/{job}": "the operator's `CRON_SECRET`",
  "/webhooks/{slot}": "the provider's signature",
};

export function routeRows(): string {
  const { paths } = openApiDocument({
    routes: ROUTES,
    authRoutes: [],
    version: "v2",
    appUrl: "https://app.example.com",
  }) as unknown as { paths: Record<string, Record<string, { summary: string }>> };
  const ofOperations = ROUTES.map(({ method, path, operation }) => [
    code(`${method} /api${path}`),
    callersOf(operation),
    limitOf(operation),
    operation.summary,
  ]);
  const others = Object.keys(SYSTEM_PATHS).flatMap((path) =>
    Object.entries(paths[path] ?? {}).map(([method, { summary }]) => {
      const stream = STREAMS[path];
      return [
        code(`${method.toUpperCase()} /api${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
        stream ? callersOf(stream) : (OTHER_CALLERS[path] ?? CALLERS.anyone),
        stream ? limitOf(stream) : "",
        summary,
      ];
    }),
  );
  return table(["route", "who", "limit", "does"], [...ofOperations, ...others]);
}

function limitOf({ limit }: Gate): string {
  return limit === null ? "" : code(limit);
}

function callersOf({ access, permission }: Gate): string {
  const person = CALLERS[access];
  if (permission === undefined) return person;
  if (access === "service") return `${person} (${code(permission)})`;
  return `${person}; service key (${code(permission)})`;
}
