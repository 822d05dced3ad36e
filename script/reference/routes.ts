import { openApiDocument } from "../../src/api/openapi/document.ts";
import { SYSTEM_PATHS } from "../../src/api/openapi/system-paths.ts";
import { ROUTES } from "../../src/api/rest/routes.ts";
import type { Access } from "../../src/operations/operation.ts";
import { code, table } from "./table.ts";

const CALLERS: Record<Access, string> = {
  anyone: "anyone",
  person: "signed in, or an API key",
  session: "signed in",
  admin: "administrator",
  operator: "operator",
  service: "service key",
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
    operation.limit === null ? "" : code(operation.limit),
    operation.summary,
  ]);
  const others = Object.keys(SYSTEM_PATHS).flatMap((path) =>
    Object.entries(paths[path] ?? {}).map(([method, { summary }]) => [
      code(`${method.toUpperCase()} /api${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
      callersOfSystemPath(path),
      "",
      summary,
    ]),
  );
  return table(["route", "who", "limit", "does"], [...ofOperations, ...others]);
}

function callersOf({ access, permission }: (typeof ROUTES)[number]["operation"]): string {
  const person = CALLERS[access];
  if (permission === undefined) return person;
  if (access === "service") return `${person} (${code(permission)})`;
  return `${person}; service key (${code(permission)})`;
}

function callersOfSystemPath(path: string): string {
  if (path === "/chat") return CALLERS.person;
  if (path === "/events/stream") return `service key (${code("events:read")})`;
  if (path === "/cron/{job}") return "the operator's `CRON_SECRET`";
  return path === "/webhooks/{slot}" ? "the provider's signature" : CALLERS.anyone;
}
