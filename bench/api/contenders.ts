import type { ServerProgram } from "../shared/server-process.ts";
import { NOTIFICATIONS_OVER_GRAPHQL, NOTIFICATIONS_OVER_RPC, overRest, type Read } from "./reads.ts";

/** One REST route, as several would write it. */
export const ROUTE = [
  "tollgate",
  "hono-better-auth",
  "hono-better-auth-cookie-cache",
  "next-route-handler",
  "bare-handler",
] as const;

/** One read over Tollgate's three surfaces, each beside the library that it is made with. */
export const SURFACES = ["rest", "rpc", "bare-trpc", "graphql", "bare-yoga"] as const;

/** The same route, before a page has been asked for and afterwards. */
export const WITH_PAGES = ["with-pages", "without-pages"] as const;

export const CONTENDERS = [...ROUTE, ...SURFACES, ...WITH_PAGES] as const;

export type ContenderName = (typeof CONTENDERS)[number];

/** A server that answers the read, on the database that all of them read. */
export type ApiServer = {
  program: Omit<ServerProgram, "name"> & { name: ContenderName };
  read: Read;
  /**
   * How a request says who is asking: by the signed cookie; by that and Better Auth's copy of the session in
   * a second one; or by a header that is believed, where there is no gate.
   */
  presents: "cookie" | "cookie and copy" | "user id";
  /** Asked for before anything is measured, so that Next.js is loaded. */
  page?: string;
  /** Whether a session that is revoked is refused at the next request. */
  revokes: "at once" | "late";
};

/** Tollgate's own, see `src/runtime/runtime.ts`. */
const POOL_SIZE = "10";

/** The highest that there is: nothing is refused. */
const UNLIMITED = "999999/60";
const LIMITS = { RATE_LIMIT_API: UNLIMITED, RATE_LIMIT_RPC: UNLIMITED, RATE_LIMIT_GRAPHQL: UNLIMITED };

const SUBSCRIPTIONS = overRest("subscriptions");
const NOTIFICATIONS = overRest("notifications");

/** Which of Tollgate's it is compared with; `null` for Tollgate itself. */
export function comparedWith(name: ContenderName): ContenderName | null {
  switch (name) {
    case "tollgate":
    case "rest":
    case "rpc":
    case "graphql":
    case "with-pages":
      return null;
    case "without-pages":
      return "with-pages";
    case "bare-trpc":
      return "rpc";
    case "bare-yoga":
      return "graphql";
    default:
      return "tollgate";
  }
}

export function apiServer(
  name: ContenderName,
  { databaseUrl, profile }: { databaseUrl: string; profile: boolean },
): ApiServer {
  const variables = { DATABASE_URL: databaseUrl, POOL_SIZE, ...LIMITS };
  const nodeOptions = profile
    ? ["--cpu-prof", "--cpu-prof-dir=test-results/profiles", `--cpu-prof-name=${name}.cpuprofile`]
    : [];
  const tollgate = (read: Read): ApiServer => ({
    program: { name, script: "src/server.ts", nodeOptions, variables },
    read,
    presents: "cookie",
    revokes: "at once",
  });
  const bare = (read: Read): ApiServer => ({
    program: { name, script: `bench/api/${name}.ts`, nodeOptions, variables },
    read,
    presents: "user id",
    revokes: "at once",
  });
  const peer = { name, script: "bench/peers/hono-better-auth.js" };
  switch (name) {
    case "tollgate":
      return tollgate(SUBSCRIPTIONS);
    case "hono-better-auth":
      return {
        program: { ...peer, variables },
        read: SUBSCRIPTIONS,
        presents: "cookie",
        revokes: "at once",
      };
    case "hono-better-auth-cookie-cache":
      return {
        program: { ...peer, variables: { ...variables, COOKIE_CACHE: "on" } },
        read: SUBSCRIPTIONS,
        presents: "cookie and copy",
        revokes: "late",
      };
    case "next-route-handler":
      return {
        program: {
          name,
          script: "bench/peers/node_modules/next/dist/bin/next",
          args: ["start", "bench/peers/next-route-handler", "--hostname=127.0.0.1"],
          variables: { ...variables, NEXT_TELEMETRY_DISABLED: "1" },
        },
        read: SUBSCRIPTIONS,
        presents: "cookie",
        revokes: "at once",
      };
    case "bare-handler":
      return bare(SUBSCRIPTIONS);
    case "with-pages":
      return { ...tollgate(SUBSCRIPTIONS), page: "/" };
    case "without-pages":
      return tollgate(SUBSCRIPTIONS);
    case "rest":
      return tollgate(NOTIFICATIONS);
    case "rpc":
      return tollgate(NOTIFICATIONS_OVER_RPC);
    case "bare-trpc":
      return bare(NOTIFICATIONS_OVER_RPC);
    case "graphql":
      return tollgate(NOTIFICATIONS_OVER_GRAPHQL);
    case "bare-yoga":
      return bare(NOTIFICATIONS_OVER_GRAPHQL);
    default:
      return name satisfies never;
  }
}
